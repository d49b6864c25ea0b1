/** The store's clock leaps ahead, so that days between two attempts pass in no time. */
import type { StorageApi } from "@flyball/core/storage"
import type { Pick } from "@flyball/testkit"
import { Effect } from "effect"
import { owedDeliveries } from "./owed.ts"

/** How far it leaps: the times between attempts. */
const leapsMs: ReadonlyArray<number> = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000, 86_400_000]
/**
 * How far the clock leaps at the end, so that everything that waits is due: a day between the last two attempts, and
 * twice that where a receiver requested it.
 */
const CALM_LEAP_MS = 49 * 3_600_000
/** Time to send what is due. */
export const SEND_MS = 2_500
/** Far more leaps than seven attempts need. */
const MOST_LEAPS = 30

/** Leaps now and then until the calm; never when `everyMs` is 0. */
export const leaping = ({
  everyMs,
  isCalm,
  leap,
  pick
}: {
  readonly pick: Pick
  readonly everyMs: number
  readonly isCalm: () => boolean
  readonly leap: (ms: number) => void
}): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (everyMs === 0) return
    while (!isCalm()) {
      yield* Effect.sleep(1 + pick(2 * everyMs))
      leap(leapsMs[pick(leapsMs.length)]!)
    }
  })

/** Leaps until nothing is owed any more: in the calm everything comes to its end, however many attempts that takes. */
export const sendingAll = (storage: StorageApi, leap: (ms: number) => void): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let tries = 0; tries < MOST_LEAPS; tries++) {
      if ((yield* Effect.orDie(owedDeliveries(storage))).length === 0) return
      leap(CALM_LEAP_MS)
      yield* Effect.sleep(SEND_MS)
    }
  })
