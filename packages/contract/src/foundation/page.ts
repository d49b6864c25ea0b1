/** A piece of a plain list. Spec: api.md, Conventions: lists are complete, with optional `limit` and `after`. */
import { Schema } from "effect"
import { id, integerParam, patterned } from "./fields.ts"
import type { IdKind } from "./ids.ts"
import { MAX_PAGE } from "./limits.ts"

/** At most so many items of a list; without it, all of them. */
const limit = Schema.optionalKey(integerParam(1, MAX_PAGE))

/**
 * Members of the query of a list whose items have ids of this kind. `after` is the id of the last item seen; the next
 * item is the first of the page.
 */
export const pageOf = (kind: IdKind) => ({ limit, after: Schema.optionalKey(id(kind)) }) as const

/** Query of a list that is cut by its items' ids and nothing else. */
export const pageQuery = (kind: IdKind) => Schema.Struct(pageOf(kind))

/** Query of a list of numbered items. */
export const NumberedPageQuery = Schema.Struct({ limit, after: Schema.optionalKey(integerParam(1)) })

/** Query of GET /chain/keys. `after` is a `key_id`. */
export const KeysPageQuery = Schema.Struct({ limit, after: Schema.optionalKey(patterned(/^[0-9a-f]{8}$/, 8)) })

/** The members of a query that select a page. */
export interface Page {
  readonly limit?: number
  readonly after?: string | number
}
