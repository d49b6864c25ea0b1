/**
 * Checks the kill switch between drills: a shadow drill on a reserved target takes the path of a real halt, and its
 * result is recorded. It sends no webhook, and counts nowhere else. Spec: envelopes.md 3.10, canary target; decision
 * 0048.
 */
import { formatInstant } from "@flyball/evidence"
import {
  CHANNEL_CHECK_ID,
  CHANNEL_CHECKS,
  CHANNEL_TARGET,
  type ChannelDocument,
  KILL_ACTIVATIONS
} from "@flyball/rules"
import { Clock, Context, Effect } from "effect"
import { newId } from "../../foundation/ids.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { event } from "../../storage/event.ts"
import type { StorageConflict } from "../../storage/faults.ts"
import { type JsonObject, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { storedActivation } from "../kill/kill-reader.ts"
import { Kill, type KillApi } from "../kill/service.ts"

/** How often the channel is checked. Unit: milliseconds; 0 is never. Spec: decision 0048. */
export const ChannelPeriod = Context.Reference<number>("flyball/core/ChannelPeriod", {
  defaultValue: () => 3_600_000
})

/** How long a change may take to show in the status. Unit: milliseconds. A client goes by a status no longer. */
export const CHANNEL_WAIT_MS = 15_000
/** How often the status is read meanwhile. Unit: milliseconds. */
const STEP_MS = 25

/** The writer of the check's records. */
export const CHANNEL_WRITER = "system:channel"

const REASON = "Check of the kill switch's channel."
const target = { type: "agent", id: CHANNEL_TARGET } as const

/**
 * Checks the kill switch's channel: activates, waits until the status shows it, releases, waits until it is gone, and
 * records the result. Spec: format 1 section 8, `channel.checked`; decision 0048.
 */
export const checkChannel: Effect.Effect<ChannelDocument, ReadFault | StorageConflict, Kill | Storage> = Effect.gen(
  function* () {
    const kill = yield* Kill
    const storage = yield* Storage
    // Of a check that was cut short: it would show in this one's status.
    for (const { body, id } of (yield* storage.find(KILL_ACTIVATIONS, "state", "live")).map(storedActivation))
      if (body.targetId === CHANNEL_TARGET) yield* release(kill, id)
    const beganMs = yield* Clock.currentTimeMillis
    const { activation_event } = yield* kill.activateTarget({
      target,
      response: "halt",
      reason: REASON,
      drill: { drillId: yield* newId("drl"), mode: "shadow" },
      breakerId: null,
      actor: CHANNEL_WRITER,
      requestedBy: null
    })
    const activationId = String(activation_event)
    const isShown = yield* untilShown(kill, (shown) => shown === activationId)
    const latencyMs = isShown ? Math.max(0, (yield* Clock.currentTimeMillis) - beganMs) : null
    yield* release(kill, activationId)
    const isGone = yield* untilShown(kill, (shown) => shown !== activationId)
    const { ms } = yield* storage.asOf
    const check: ChannelDocument = { activationId, armed: isShown && isGone, latencyMs, checkedAtMs: ms }
    yield* record(storage, check)
    return check
  }
)

const record = (storage: StorageApi, check: ChannelDocument) =>
  storage.commit({
    puts: [{ collection: CHANNEL_CHECKS, id: CHANNEL_CHECK_ID, expectedVersion: null, body: check }],
    records: [
      {
        kind: "channel.checked",
        agentId: null,
        body: omitNullish({
          activation_id: check.activationId,
          armed: check.armed,
          checked_at: formatInstant(check.checkedAtMs),
          latency_ms: check.latencyMs,
          writer: CHANNEL_WRITER
        }) as JsonObject,
        parts: []
      }
    ],
    events: check.armed ? [] : [channelAlarmed("not_armed", check.checkedAtMs)]
  })

/** The event that the channel needs somebody. `checkedAtMs`: of the last check; null where there was none. */
export const channelAlarmed = (cause: "not_armed" | "overdue", checkedAtMs: number | null) =>
  event("channel.alarmed", { cause, checked_at: checkedAtMs === null ? null : formatInstant(checkedAtMs) })

const release = (kill: KillApi, id: string): Effect.Effect<void, ReadFault> =>
  kill.release({ activation_event: id, reason: REASON }, { id: CHANNEL_WRITER }).pipe(
    Effect.asVoid,
    // Somebody was faster; or it is not to be released, which the status then shows.
    Effect.catchTag(
      ["ActivationNotFound", "ActivationReleased", "OrgUnitNotAllowed", "ReleaseNotAllowed"],
      () => Effect.void
    )
  )

/** Waits until the activation that the status names is as expected, within the time for it. */
const untilShown = Effect.fnUntraced(function* (
  kill: KillApi,
  isExpected: (activation: string | null) => boolean
): Effect.fn.Return<boolean, ReadFault> {
  const untilMs = (yield* Clock.currentTimeMillis) + CHANNEL_WAIT_MS
  for (;;) {
    const shown = yield* kill.status(target).pipe(
      Effect.map(({ activation_event }) => activation_event),
      Effect.catchTag(["AgentNotFound", "InvalidInput", "ModelNotFound"], Effect.die)
    )
    if (isExpected(shown)) return true
    if ((yield* Clock.currentTimeMillis) >= untilMs) return false
    yield* Effect.sleep(STEP_MS)
  }
})
