/** Metrics of the chain, read from the store when the metrics are read. */
import {
  latestCheckpoint,
  type MetricFamily,
  Storage,
  type StorageApi,
  type StorageCorrupt,
  type StorageUnavailable
} from "@flyball/core"
import { Clock, Effect } from "effect"
import { gauge } from "./exposition.ts"

/** A store that takes longer counts as down: scrapers have a time-out too, usually of 10 s. */
const READ_TIMEOUT = "2 seconds"

interface ChainState {
  readonly records: number
  readonly signed: number
  /** Of the newest record; null while there is none. */
  readonly headAtMs: number | null
  /** Of the newest record under the last checkpoint; null before the first. */
  readonly signedAtMs: number | null
  /** Of the oldest record that no checkpoint covers; null when there is none. */
  readonly unsignedSinceMs: number | null
}

const read = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<ChainState, StorageUnavailable | StorageCorrupt> {
  const signed = (yield* latestCheckpoint(storage))?.size ?? 0
  const head = yield* storage.head
  const records = (head?.seq ?? -1) + 1
  const signedAtMs = signed === 0 ? null : ((yield* storage.record(signed - 1))?.atMs ?? null)
  const unsignedSinceMs = records <= signed ? null : ((yield* storage.record(signed))?.atMs ?? null)
  return { records, signed, headAtMs: head?.atMs ?? null, signedAtMs, unsignedSinceMs }
})

/** Metrics of the chain; only `flyball_store_up` where the store does not answer. */
export const chainFamilies: Effect.Effect<ReadonlyArray<MetricFamily>, never, Storage> = Effect.gen(function* () {
  const state = yield* read(yield* Storage).pipe(
    Effect.timeoutOption(READ_TIMEOUT),
    Effect.map((read) => (read._tag === "Some" ? read.value : null)),
    Effect.catch(() => Effect.succeed(null))
  )
  return families(state, yield* Clock.currentTimeMillis)
})

const families = (state: ChainState | null, nowMs: number): ReadonlyArray<MetricFamily> => {
  const since = (atMs: number | null): number | null => (atMs === null ? null : Math.max(0, nowMs - atMs) / 1_000)
  return [
    gauge("flyball_store_up", "1 when the store answered within two seconds, else 0.", state === null ? 0 : 1),
    gauge("flyball_chain_size_records", "Records in the chain.", state === null ? null : state.records),
    gauge(
      "flyball_chain_unsigned_records",
      "Records that no checkpoint covers yet.",
      state === null ? null : Math.max(0, state.records - state.signed)
    ),
    gauge(
      "flyball_chain_unsigned_age_seconds",
      "Age of the oldest record that no checkpoint covers, 0 when there is none. Over a minute: nothing is being " +
        "signed.",
      state === null ? null : (since(state.unsignedSinceMs) ?? 0)
    ),
    gauge(
      "flyball_chain_checkpoint_age_seconds",
      "Age of the newest record that the last checkpoint covers. It grows while nothing is recorded.",
      state === null ? null : since(state.signedAtMs)
    ),
    gauge(
      "flyball_chain_ahead_seconds",
      "How far the newest record's time is ahead of this host's clock, else 0. Over a minute: a clock is wrong, and " +
        "meters and webhooks wait.",
      state === null ? null : Math.max(0, (state.headAtMs ?? 0) - nowMs) / 1_000
    )
  ]
}
