/**
 * Reports to webhooks that the chain is not in order.
 *
 * The event has no record: a chain that cannot be signed for takes no append. Its envelope holds the stored head. Each
 * finding is reported once, by the first process that commits it. Spec: api.md "Events to webhooks"; decision 0030.
 */
import type { ChainProblem } from "@flyball/contract"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { event } from "../storage/event.ts"
import { GuardBehindStore, GuardDisagrees, GuardRefused, StoreBehindGuard } from "./keys/start-errors.ts"

/** Collection of the findings that were reported. */
export const CHAIN_ALARMS = "chain_alarms"

/** A problem that a check of the chain found. */
export interface Alarm {
  readonly code: ChainProblem
  /** The first record that is not in order; null where it is about the whole. */
  readonly seq: number | null
  readonly foundBy: "signing" | "check"
}

const UNREPORTED = "The chain has an error, and the event for webhooks could not be stored."

/** Queues the event of a finding, unless it was queued before. Never fails: the caller reports the finding itself. */
export const raiseAlarm = (storage: StorageApi, { code, foundBy, seq }: Alarm): Effect.Effect<void> =>
  Effect.gen(function* () {
    const id = `${code}-${seq ?? "chain"}`
    if ((yield* storage.get(CHAIN_ALARMS, id)) !== null) return
    yield* storage.commit({
      puts: [{ collection: CHAIN_ALARMS, id, expectedVersion: 0, body: { code, found_by: foundBy, seq } }],
      events: [event("chain.verify_failed", { code, first_bad_seq: seq, found_by: foundBy })]
    })
  }).pipe(
    // Another process has reported it.
    Effect.catchTag("StorageConflict", () => Effect.void),
    // A store that is open for reading only, or too broken to write.
    Effect.catch((fault) => Effect.logWarning(UNREPORTED, fault))
  )

/** Queues the event for a fault that prevents a signature, if the fault lies in the chain and is not temporary. */
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
