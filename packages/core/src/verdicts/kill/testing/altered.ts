/** Chains that who holds the key and the store altered before sealing, and what recomputation says of them. */
import type { JsonMap, RecomputeVerdict, ReplayRecord } from "@flyball/rules"
import { Effect } from "effect"
import type { GovernorServices } from "../../../governor/governor-layer.ts"
import type { Storage } from "../../../storage/port.ts"
import { governorWorld } from "../../../testing/governor-world.ts"
import { findingsWith } from "../../evaluations/testing/refunds.ts"

/** Another body in place of one. `lived` is the answer of the life. */
export type Change<A> = (body: JsonMap, lived: A) => JsonMap

/** The n-th record of a kind with another body, with another kind, or with this part not shown. */
export type Altered<A> = readonly [
  kind: string,
  place: number,
  change: Change<A> | string | { readonly hides: string } | { readonly part: string; readonly json: unknown }
]

/** A kind that recomputation does not read: the record is left out. */
export const LEFT_OUT = "evidence.exported"

/** Lives in a new governor, alters records, and answers the verdicts that are not `ok`. */
export const alteredLife =
  <A>(life: Effect.Effect<A, unknown, GovernorServices | Storage>) =>
  (...changes: ReadonlyArray<Altered<A>>): Effect.Effect<ReadonlyArray<RecomputeVerdict>, unknown> =>
    Effect.gen(function* () {
      const lived = yield* life
      const seen = new Map<string, number>()
      const found = yield* findingsWith((record: ReplayRecord) => {
        const place = seen.get(record.kind) ?? 0
        seen.set(record.kind, place + 1)
        return changes
          .filter(([kind, at]) => kind === record.kind && at === place)
          .reduce((now, [, , change]) => alter(now, change, lived), record)
      })
      return found.map(({ verdict }) => verdict)
    }).pipe(Effect.provide(governorWorld()))

const alter = <A>(record: ReplayRecord, change: Altered<A>[2], lived: A): ReplayRecord => {
  if (typeof change === "string") return { ...record, kind: change }
  if (typeof change === "function") return { ...record, body: change(record.body, lived) }
  return {
    ...record,
    parts:
      "hides" in change
        ? new Map([...record.parts, [change.hides, { state: "withheld" }]])
        : new Map([
            ...record.parts,
            [change.part, { state: "present", bytes: new TextEncoder().encode(JSON.stringify(change.json)) }]
          ])
  }
}

/** The body with these members. */
export const says =
  (members: JsonMap): Change<unknown> =>
  (body) => ({ ...body, ...members })

/** The body without the members of these names, and with others. */
export const without =
  (names: ReadonlyArray<string>, members: JsonMap = {}): Change<unknown> =>
  (body) => ({ ...Object.fromEntries(Object.entries(body).filter(([one]) => !names.includes(one))), ...members })
