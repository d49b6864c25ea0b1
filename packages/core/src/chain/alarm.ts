/**
 * Tells webhooks that the chain is not in order.
 *
 * The event comes without a record: nothing is appended for it to a chain that cannot be signed for, and what it tells
 * is not changed by who learns of it. Its envelope
 * holds the head as it is stored. Each finding is told once, whoever finds it how often. Spec: api.md "Events to
 * webhooks"; decision 0030.
 */
import type { ChainProblem } from "@flyball/contract"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { event } from "../storage/event.ts"
import { GuardBehindStore, GuardDisagrees, GuardRefused, StoreBehindGuard } from "./keys/start-errors.ts"

/** Collection of the findings that were told. */
const ALARMS = "chain_alarms"

/** What was found. */
export interface Alarm {
  readonly code: ChainProblem
  /** The first record that is not in order; null where it is about the whole. */
  readonly seq: number | null
  readonly foundBy: "signing" | "check"
}

const UNTOLD = "The chain is not in order, and webhooks could not be told of it."

/** Tells of a finding, unless it was told before. Never fails: whoever found it says so himself. */
export const raiseAlarm = (storage: StorageApi, { code, foundBy, seq }: Alarm): Effect.Effect<void> =>
  Effect.gen(function* () {
    const id = `${code}-${seq ?? "chain"}`
    if ((yield* storage.get(ALARMS, id)) !== null) return
    yield* storage.commit({
      puts: [{ collection: ALARMS, id, expectedVersion: 0, body: { code, found_by: foundBy, seq } }],
      events: [event("chain.verify_failed", { code, first_bad_seq: seq, found_by: foundBy })]
    })
  }).pipe(
    // Another process told of it.
    Effect.catchTag("StorageConflict", () => Effect.void),
    // A store that is open for reading only, or too broken to write.
    Effect.catch((fault) => Effect.logWarning(UNTOLD, fault))
  )

/** Tells of what keeps a signature from being made, where that is a fault of the chain and not of the moment. */
export const alarmOfSigning = (storage: StorageApi, fault: ReadFault): Effect.Effect<void> =>
  fault._tag === "StorageCorrupt" ? raiseAlarm(storage, { ...foundIn(fault.cause), foundBy: "signing" }) : Effect.void

const contradictions = [GuardBehindStore, GuardDisagrees, GuardRefused, StoreBehindGuard]

/** `cause` is the finding of a record, or the refusal of the guard, where there is one. */
const foundIn = (cause: unknown): Pick<Alarm, "code" | "seq"> => {
  if (contradictions.some((refusal) => cause instanceof refusal)) return { code: "E_GUARD", seq: null }
  return isFinding(cause) ? cause : { code: "E_STORE", seq: null }
}

const isFinding = (cause: unknown): cause is Pick<Alarm, "code" | "seq"> =>
  typeof cause === "object" && cause !== null && "code" in cause && "seq" in cause
