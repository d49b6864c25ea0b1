/** Checks the kill switch's channel once a period, and raises an alarm when it was not checked for two. */
import { CHANNEL_CHECK_ID, CHANNEL_CHECKS, type ChannelDocument, isChannelOverdue } from "@flyball/rules"
import { Clock, Effect, Layer } from "effect"
import { Storage, type StorageApi } from "../../storage/port.ts"
import type { Kill } from "../kill/service.ts"
import { channelAlarmed, ChannelPeriod, checkChannel } from "./channel-check.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/** How often the job polls at least. Unit: milliseconds. */
const POLL_MS = 60_000
/** A process that died is replaced after this. Unit: milliseconds. Longer than a check that shows nothing. */
const LEASE_MS = 120_000
const LEASE = "channel_clock"
/** Working state: which check an alarm was raised about, so that it is raised once. */
const CHANNEL_ALARMS = "channel_alarms"

/** The last check; null before the first. */
export const lastChannelCheck = (storage: StorageApi) =>
  Effect.map(storage.get(CHANNEL_CHECKS, CHANNEL_CHECK_ID), (document) =>
    document === null ? null : (document.body as ChannelDocument)
  )

/**
 * Raises the alarm where the last check is older than twice the period, once for each check.
 *
 * - `startedMs`: since when somebody could have checked. Unit: milliseconds since 1970 UTC.
 */
export const alarmIfOverdue = Effect.fnUntraced(function* (storage: StorageApi, startedMs: number, periodMs: number) {
  const last = yield* lastChannelCheck(storage)
  const { ms } = yield* storage.asOf
  if (!isChannelOverdue(Math.max(last?.checkedAtMs ?? 0, startedMs), periodMs, ms)) return false
  const raised = yield* storage.get(CHANNEL_ALARMS, CHANNEL_CHECK_ID)
  const about = last?.checkedAtMs ?? 0
  if (raised !== null && raised.body["checkedAtMs"] === about) return false
  yield* storage.commit({
    puts: [
      {
        collection: CHANNEL_ALARMS,
        id: CHANNEL_CHECK_ID,
        expectedVersion: raised?.version ?? 0,
        body: { checkedAtMs: about }
      }
    ],
    events: [channelAlarmed("overdue", last?.checkedAtMs ?? null)]
  })
  return true
})

/**
 * Runs in every process, works in the one that holds the lease. The first check comes one period after the start of the
 * first process, or after the last check.
 */
export const channelClock: Layer.Layer<never, never, Kill | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const periodMs = yield* ChannelPeriod
    if (periodMs === 0) return
    const storage = yield* Storage
    const startedMs = yield* Clock.currentTimeMillis
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The channel of the kill switch could not be checked; the job tries again.",
        pause: Effect.sleep(Math.min(POLL_MS, periodMs))
      },
      whereHeld(
        Effect.gen(function* () {
          // Before the check: one that fails must not keep the alarm from being raised.
          yield* alarmIfOverdue(storage, startedMs, periodMs)
          const last = yield* lastChannelCheck(storage)
          const { ms } = yield* storage.asOf
          if (ms - (last?.checkedAtMs ?? startedMs) >= periodMs) yield* checkChannel
        })
      )
    )
  })
)
