/**
 * Cuts a plain list to the page of a query. Spec: api.md, Conventions: lists are complete, with optional `limit` and
 * `after`.
 */
import { detailItem, InvalidInput, type Page } from "@flyball/contract"
import { Effect } from "effect"

/**
 * The items behind `after`, at most `limit`; all of them where the query asks for nothing. For lists that items never
 * leave.
 *
 * - Fails: `InvalidInput` when no item is named `after`: a caller that continued after a missing item would begin
 *   anywhere, and not know it.
 */
export const pageOf = <A>(
  items: ReadonlyArray<A>,
  { after, limit = items.length }: Page,
  nameOf: (item: A) => string | number
): Effect.Effect<ReadonlyArray<A>, InvalidInput> => {
  const from = after === undefined ? 0 : items.findIndex((item) => nameOf(item) === after) + 1
  return after !== undefined && from === 0 ? unknownAfter(after) : Effect.succeed(items.slice(from, from + limit))
}

/** Refuses an `after` that `get` does not find. For lists that items may leave between two pages. */
export const knownAfter = <E extends { readonly _tag: string }, R>(
  after: string | undefined,
  get: (id: string) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, InvalidInput | Exclude<E, NotThere>, R> =>
  after === undefined
    ? Effect.void
    : (Effect.catchIf(Effect.asVoid(get(after)), isNotThere, () => unknownAfter(after)) as Effect.Effect<
        void,
        InvalidInput | Exclude<E, NotThere>,
        R
      >)

interface NotThere {
  readonly _tag: "AgentNotFound" | "DrillNotFound" | "EnvelopeNotFound" | "StandingApprovalNotFound"
}

const isNotThere = ({ _tag }: { readonly _tag: string }): boolean => notThere.includes(_tag)

const notThere: ReadonlyArray<string> = [
  "AgentNotFound",
  "DrillNotFound",
  "EnvelopeNotFound",
  "StandingApprovalNotFound"
] satisfies ReadonlyArray<NotThere["_tag"]>

const unknownAfter = (after: string | number) =>
  new InvalidInput({
    detail: [detailItem(["query", "after"], "value_error", "Nothing in this list has this name", after)]
  })
