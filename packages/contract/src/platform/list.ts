/** The query and the answer of a list of the platform API. Spec: document 2 sections 2 and 4. */
import { Schema } from "effect"
import { instant, integerParam, leftOut, oneOf, orgUnit, patterned } from "../foundation/fields.ts"

/** Most rows of a page, and how many it has where the query does not say. Spec: document 2 section 4. */
export const MAX_LIST = 100
/** See {@link MAX_LIST}. */
export const DEFAULT_LIST = 20

/** The order of a list where the query does not say. */
export const DEFAULT_SORT = "-created_at"

/** The org unit that a person of several means. A caller of one unit leaves it out. */
export const unitQuery = { org_unit: Schema.optionalKey(orgUnit) } as const

/**
 * The query of a list: a page, an order, bounds of the creation, and filters of its own. `sorts` are the fields by
 * which it can be ordered.
 *
 * - Refuses: a `limit` outside 1 to 100, another field, a time without offset.
 * - Spec: document 2 section 4, conventions 2 and 3.
 */
export const listQuery = <const F extends Schema.Struct.Fields>(
  filters: F,
  sorts: ReadonlyArray<string> = ["created_at", "-created_at"]
) =>
  Schema.Struct({
    limit: leftOut(integerParam(1, MAX_LIST), DEFAULT_LIST),
    /** `next_cursor` of the page before, with the same query. */
    cursor: Schema.optionalKey(patterned(/^[A-Za-z0-9_-]+$/, 1_024)),
    /** A field, or `-` and the field for the largest first. */
    sort: leftOut(oneOf(sorts), DEFAULT_SORT),
    /** Only rows created after this time. */
    created_after: Schema.optionalKey(instant),
    /** Only rows created before this time. */
    created_before: Schema.optionalKey(instant),
    ...unitQuery,
    ...filters
  })

/** The query of every list, beside its filters. */
export type ListQuery = {
  readonly limit?: number
  readonly cursor?: string
  readonly sort?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** A page of rows. `next_cursor` is null on the last one. Spec: document 2 section 2, "Pagination envelope". */
export const listOf = <S extends Schema.Top>(row: S) =>
  Schema.Struct({ data: Schema.Array(row), has_more: Schema.Boolean, next_cursor: Schema.NullOr(Schema.String) })
