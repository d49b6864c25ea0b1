/** The org unit that a call is for. Spec: document 2 section 8; api.md "Document 2". */
import { detailItem, InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import type { Scope } from "../foundation/scope.ts"

/**
 * Answers the one org unit of a caller; one that has several names it in the query `org_unit`.
 *
 * - Fails: `InvalidInput` where none is named, and where the caller is not of it.
 */
export const oneUnit = (scope: Scope, named: string | undefined): Effect.Effect<string, InvalidInput> => {
  const { orgUnits } = scope
  const [only, ...more] = orgUnits === "*" ? [] : orgUnits
  if (named === undefined && only !== undefined && more.length === 0) return Effect.succeed(only)
  if (named !== undefined && (orgUnits === "*" || orgUnits.includes(named))) return Effect.succeed(named)
  const msg = named === undefined ? "The caller has several org units: name one" : "The caller is not of this org unit"
  return Effect.fail(new InvalidInput({ detail: [detailItem(["query", "org_unit"], "value_error", msg, named)] }))
}
