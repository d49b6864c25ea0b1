/** The laws of limits, over what was admitted. Times are of one clock that never steps. */
import type { LimitPolicy, LimitRow } from "@flyball/core"
import fc from "fast-check"

/** Units admitted between two instants. Unit: milliseconds. */
export interface Admission {
  readonly fromMs: number
  readonly toMs: number
  readonly cost: number
}

/**
 * Describes the first window of the policy that surely held more than its limit; null if there is none. No window that
 * shares a time with one of `forward` counts: in that span the store's clock stepped forward, so for the store that
 * window was longer.
 */
export const overAdmission = (
  { limit, name, window }: LimitPolicy & { readonly window: number },
  admissions: ReadonlyArray<Admission>,
  forward: ReadonlyArray<readonly [fromMs: number, toMs: number]> = []
): string | null => {
  const begun = [...admissions].sort((a, b) => a.fromMs - b.fromMs)
  const ended = [...admissions].sort((a, b) => a.toMs - b.toMs)
  let first = 0
  for (const { fromMs } of begun) {
    while (ended[first]!.toMs < fromMs) first++
    let sum = 0
    // A window is half open: what is admitted when it ends belongs to the next one.
    for (let at = first; at < ended.length && ended[at]!.toMs < fromMs + window * 1000; at++) {
      const one = ended[at]!
      if (forward.some(([stepMs, byMs]) => byMs >= fromMs && stepMs <= one.toMs)) break
      if (one.fromMs >= fromMs) sum += one.cost
      if (sum > limit) return `${sum} of ${name} ${limit} from ${fromMs} to ${one.toMs}`
    }
  }
  return null
}

/** The limits of document 2 part 8, as the rows that a request takes from. */
export const partEight: ReadonlyArray<ReadonlyArray<LimitRow>> = [
  ...[
    [20, 500],
    [60, 5_000],
    [600, 50_000],
    [3_000, 500_000]
  ].map(([minute, day]) => [
    {
      subject: "key",
      policies: [
        { name: "minute", limit: minute!, window: 60 },
        { name: "day", limit: day!, window: "day" as const }
      ]
    }
  ]),
  ...[20, 50, 100, 500, 1_000].map((limit) => [
    { subject: "key", policies: [{ name: "minute", limit: 60, window: 60 }] },
    { subject: "key model", policies: [{ name: "operation", limit, window: 3_600 }] }
  ]),
  ...[100, 600, 10_000].map((limit) => [{ subject: "key", policies: [{ name: "operation", limit, window: 60 }] }]),
  [{ subject: "key", policies: [{ name: "operation", limit: 100, window: "day" as const }] }]
]

/** The time that passes between two requests. */
export interface Pass {
  /** How long it takes. Unit: milliseconds. */
  readonly passMs: number
  /** How far the store's clock steps besides. Unit: milliseconds. */
  readonly stepMs: number
}

const steps = fc.oneof(
  { weight: 20, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: -3_600_000, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: -5_000, max: 5_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3_600_000 }) }
)
const passes = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 61_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 999, 1_000, 59_000, 60_000, 3_600_000, 86_400_000) }
)

/** Any pass of time. */
export const pass: fc.Arbitrary<Pass> = fc.record({ passMs: passes, stepMs: steps })
