/** Derives from a record what the windows contained that its evaluation read. */
import type { Meter } from "../../language/envelope.ts"
import type { ReadWindow, WindowState } from "../../meters/meter-reading.ts"
import type { RecordedEvaluation } from "./recorded-evaluation.ts"

/** Thrown where a meter of the draft is none of the record's; the message is its id. */
export class NotRecorded extends Error {}

/** Which count is taken where several are possible. */
export type TakeCount = (least: number, most: number) => number

/** Takes the lowest possible count. */
export const countAsLeast: TakeCount = (least) => least

/** Takes the highest possible count. */
export const countAsMost: TakeCount = (_, most) => most

/**
 * The windows. A meter counts as recorded only where the envelope in force defined it alike. Into `open` go meters
 * whose bound lies among the counts there may have been.
 */
export const recordedWindows =
  ({ declared, meters }: RecordedEvaluation, take: TakeCount, open: Array<string> = []): ReadWindow =>
  (meter, key): WindowState => {
    const reading = meters.find((one) => one.id === meter.id && one.key === key)
    const then = declared?.meters.find((one) => isSameSum(one, meter))
    if (reading === undefined || then === undefined) throw new NotRecorded(meter.id)
    const { least, most } = countsOf(then, reading)
    if (least < meter.maxCount && most >= meter.maxCount) open.push(meter.id)
    return { value: reading.value, count: take(least, most) }
  }

/**
 * How many contributions there may have been. One that counts adds 1 at most each time, which a settlement can lower.
 */
const countsOf = (
  { maxCount, op }: Meter,
  { count, value }: RecordedEvaluation["meters"][number]
): { readonly least: number; readonly most: number } => ({
  least: Math.max(op === "count" ? value : Math.min(value, 1), count === "full" ? maxCount : 0),
  most: count === "below" ? maxCount - 1 : Number.POSITIVE_INFINITY
})

/** True when one window serves both meters. Their bounds may differ: a sum is the same sum under another cap. */
const isSameSum = (one: Meter, other: Meter): boolean =>
  one.id === other.id &&
  one.op === other.op &&
  one.of === other.of &&
  one.windowMs === other.windowMs &&
  JSON.stringify([one.where, one.key]) === JSON.stringify([other.where, other.key])
