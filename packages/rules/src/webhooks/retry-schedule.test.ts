import { portableCrypto } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import {
  delaysMs,
  exactSchedule,
  type FailedAttempt,
  MAX_ATTEMPTS,
  nextAttemptAtMs,
  type ScheduleSettings
} from "./retry-schedule.ts"

const { sha256 } = portableCrypto
const failed = (attempt: number, more: Partial<FailedAttempt> = {}): FailedAttempt => ({
  deliveryId: "dlv_1",
  attempt,
  firstStartedAtMs: 0,
  endedAtMs: 0,
  statusCode: 500,
  retryAfterMs: null,
  ...more
})

/** When each attempt begins, if every attempt takes so long. */
const starts = (settings: ScheduleSettings, attemptMs: number): ReadonlyArray<number> => {
  const all = [0]
  for (let attempt = 1; ; attempt++) {
    const next = nextAttemptAtMs(failed(attempt, { endedAtMs: all.at(-1)! + attemptMs }), settings, sha256)
    if (next === null) return all
    all.push(next)
  }
}

describe("the schedule of a delivery", () => {
  it("has the specification's seven instants, counted from the end of the previous attempt", () => {
    assert.deepStrictEqual(
      starts(exactSchedule, 0).map((ms) => ms / 1000),
      [0, 60, 360, 2_160, 9_360, 38_160, 124_560]
    )
    assert.deepStrictEqual(
      starts(exactSchedule, 5_000).map((ms) => ms / 1000),
      [0, 65, 370, 2_175, 9_380, 38_185, 124_590]
    )
    assert.strictEqual(MAX_ATTEMPTS, 7)
  })

  it("makes a late attempt due at once when it is counted from the first attempt", () => {
    const settings: ScheduleSettings = { base: "first_attempt", jitter: 0 }
    assert.deepStrictEqual(
      starts(settings, 5_000).map((ms) => ms / 1000),
      [0, 60, 300, 1_800, 7_200, 28_800, 86_400]
    )
    assert.strictEqual(nextAttemptAtMs(failed(1, { endedAtMs: 70_000 }), settings, sha256), 70_000)
  })

  it("adds jitter below the configured share, the same for the same delivery and attempt", () => {
    const settings: ScheduleSettings = { base: "previous_attempt", jitter: 0.1 }
    const added = new Set<number>()
    for (let n = 0; n < 200; n++) {
      const attempt = 1 + (n % 6)
      const of = failed(attempt, { deliveryId: `dlv_${n}` })
      const ms = nextAttemptAtMs(of, settings, sha256)!
      assert.isAtLeast(ms, delaysMs[attempt]!)
      assert.isBelow(ms, delaysMs[attempt]! * 1.1)
      assert.strictEqual(nextAttemptAtMs(of, settings, sha256), ms)
      assert.isTrue(Number.isInteger(ms))
      added.add(ms - delaysMs[attempt]!)
    }
    assert.isAbove(added.size, 150)
    assert.strictEqual(
      nextAttemptAtMs(failed(1), { base: "previous_attempt", jitter: 5 }, sha256),
      nextAttemptAtMs(failed(1), settings, sha256)
    )
    assert.strictEqual(nextAttemptAtMs(failed(1), { base: "previous_attempt", jitter: -1 }, sha256), 60_000)
  })

  it.each([
    [429, 90_000, 90_000],
    [503, 90_000, 90_000],
    [429, 10_000, 60_000],
    [429, 0, 60_000],
    [429, 3_600_000, 120_000],
    [500, 90_000, 60_000],
    [404, 90_000, 60_000],
    [429, null, 60_000],
    [null, 90_000, 60_000]
  ])(
    "follows Retry-After only when enabled, for 429 and 503, up to twice the delay: %s and %s ms wait %s ms",
    (statusCode, retryAfterMs, waitedMs) => {
      const attempt = failed(1, { endedAtMs: 1_000, statusCode, retryAfterMs })
      assert.strictEqual(
        nextAttemptAtMs(attempt, { ...exactSchedule, followRetryAfter: true }, sha256),
        1_000 + waitedMs
      )
      for (const settings of [exactSchedule, { ...exactSchedule, followRetryAfter: false }]) {
        assert.strictEqual(nextAttemptAtMs(attempt, settings, sha256), 1_000 + 60_000)
      }
    }
  )

  it("ends with the seventh attempt", () => {
    assert.isNull(
      nextAttemptAtMs(failed(7, { statusCode: 429, retryAfterMs: 1 }), { base: "first_attempt", jitter: 0.1 }, sha256)
    )
    assert.isNull(nextAttemptAtMs(failed(8), exactSchedule, sha256))
  })
})
