/**
 * Halts that were released before all that they ended was on record. A release does not wait for that: its commit
 * notes whom it reached, and the job of reviews records the ends behind it. A crash between leaves the note.
 */
import { type ActivationDocument, halts } from "@flyball/rules"
import { Effect } from "effect"
import type { DocumentPut, ReadFault, StorageApi } from "../../storage/port.ts"
import { EPOCH_SCOPE } from "./epoch-key.ts"

/** Collection of the notes, each under the id of its activation. Working state. */
export const LIFTED = "kill_lifted"

/** A released halt. */
export interface LiftedHalt {
  readonly activationId: string
  /** Version of its note. */
  readonly version: number
  /** The agents that it reached when it was released. */
  readonly agents: ReadonlySet<string>
  /** Unit: milliseconds since 1970 UTC. */
  readonly releasedAtMs: number
  /** The record of the release; null where it lies in a chain before this one. */
  readonly seq: number | null
}

/** Makes the note of a release; null where it ended nothing. `after`: the activation as it is released. */
export const liftedNote = (
  activationId: string,
  after: ActivationDocument,
  agents: ReadonlyArray<{ readonly id: string }>
): DocumentPut | null =>
  halts(after.response) && after.drill?.mode !== "shadow" && agents.length > 0
    ? {
        collection: LIFTED,
        id: activationId,
        expectedVersion: 0,
        body: {
          agents: agents.map(({ id }) => id),
          epoch: after.releaseEpoch,
          releasedAtMs: after.releasedAtMs
        }
      }
    : null

/** Reads the notes. There are none but for a moment after a release. */
export const readLifted = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<ReadonlyArray<LiftedHalt>, ReadFault> {
  return yield* Effect.forEach(yield* storage.list(LIFTED), ({ body, id, version }) =>
    Effect.map(storage.once(EPOCH_SCOPE, [String(body["epoch"])]), ([began]) => ({
      activationId: id,
      version,
      agents: new Set(body["agents"] as ReadonlyArray<string>),
      releasedAtMs: Number(body["releasedAtMs"]),
      seq: began?.seq ?? null
    }))
  )
})
