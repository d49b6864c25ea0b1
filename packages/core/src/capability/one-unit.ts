/** The org unit that a call is for. Spec: document 2 section 8; api.md "Document 2". */
import { detailItem, InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import { covers, type Scope } from "../foundation/scope.ts"
import { type ReadFault, Storage } from "../storage/port.ts"

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

/**
 * Answers the org unit of a document (`orgUnit` in its body) to a caller that may act there and names none; otherwise
 * as {@link oneUnit}: what lies outside is as if it did not exist.
 *
 * - Fails: `InvalidInput` as {@link oneUnit}.
 */
export const unitOfDocument = (
  scope: Scope,
  named: string | undefined,
  { collection, id }: { readonly collection: string; readonly id: string }
): Effect.Effect<string, InvalidInput | ReadFault, Storage> =>
  Effect.gen(function* () {
    if (named !== undefined || (scope.orgUnits !== "*" && scope.orgUnits.length === 1))
      return yield* oneUnit(scope, named)
    const found = yield* Storage.use((storage) => storage.get(collection, id))
    const unit = found?.body["orgUnit"]
    return typeof unit === "string" && covers(scope, unit) ? unit : yield* oneUnit(scope, named)
  })
