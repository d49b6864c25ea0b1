/** Reads meters for an action: its contributions, and the values after it. Spec: `SPEC.md` section 6. */
import { leastPoint } from "../language/boxes.ts"
import type { Combination } from "../compile/compile.ts"
import type { Meter } from "../language/envelope.ts"
import { MAX_SUM } from "./window-sum.ts"

/** A meter's value at one evaluation. Spec: `envelope/1` section 6. */
export interface MeterReading {
  readonly id: string
  /** Which window: the values of the meter's key as a JSON list. */
  readonly key: string
  readonly value: number
  /** Contribution of this action; 0 where the meter does not count it. */
  readonly amount: number
  /** True when this action contributes, if it is let through. */
  readonly contributes: boolean
  /** `value` and `amount`, at most 2^53 - 1: what rules test. */
  readonly after: number
  /** True when this contribution would leave the meter's bounds. */
  readonly over: boolean
}

/** Sum of a window before this action. `value` is at most 2^53 - 1. Spec: `envelope/1` section 6. */
export interface WindowState {
  readonly value: number
  readonly count: number
}

/** Answers the window of a meter and key. */
export type ReadWindow = (meter: Meter, key: string) => WindowState

/** The agent's facts that keys of meters use. */
export interface Actor {
  readonly agentId: string
  readonly orgUnit: string
  readonly runId: string | null
}

/** Prepared reading of one meter. */
export interface MeterStep {
  readonly meter: Meter
  readonly axis: number
  /** Axis of the amount; -1 when counting. */
  readonly of: number
  readonly ofMin: number
  readonly where: ReadonlyArray<{
    readonly axis: number
    readonly least: number
    readonly admitted: ReadonlyArray<boolean>
  }>
  readonly key: ReadonlyArray<KeyStep>
  /** Keys of one part that were written lately, by what they are of: an actor comes again and again. */
  readonly written: Map<string, string>
}

type KeyStep =
  | { readonly from: "agentId" | "orgUnit" | "runId" }
  | { readonly from: "axis"; readonly axis: number; readonly values: ReadonlyArray<string> }

const actorKeys: { readonly [name: string]: KeyStep } = {
  agent_id: { from: "agentId" },
  org_unit: { from: "orgUnit" },
  run_id: { from: "runId" }
}

/** Prepares the readings of a combination's meters. */
export const meterSteps = ({ compiled: { axes }, meters }: Combination): ReadonlyArray<MeterStep> => {
  const place = (name: string): number => axes.findIndex((axis) => axis.name === name)
  return meters.map((meter) => ({
    meter,
    axis: place(`meter:${meter.id}`),
    of: meter.of === null ? -1 : place(meter.of),
    ofMin: meter.of === null ? 0 : axes[place(meter.of)]!.min,
    where: meter.where.map((filter) => {
      const axis = axes[place(filter.signal)]!
      // A value that the innermost layer does not have is no point: -1 would be that of an absent one.
      const points = filter.values
        .map((value) => (typeof value === "string" ? axis.values!.indexOf(value) : Number(value)))
        .filter((point) => point >= axis.min)
      const least = leastPoint(axis)
      return {
        axis: place(filter.signal),
        least,
        admitted: Array.from({ length: axis.max - least + 1 }, (_, bit) => points.includes(least + bit))
      }
    }),
    key: meter.key.map(
      (name) => actorKeys[name] ?? { from: "axis", axis: place(name), values: axes[place(name)]!.values! }
    ),
    written: new Map()
  }))
}

/** Texts that JSON writes as they are. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** Keys that a meter remembers. */
const MAX_WRITTEN = 1_000

/** Reads one meter at a point and writes its axis; null when its key needs a run and there is none. */
export const readMeter = (
  step: MeterStep,
  point: Float64Array,
  actor: Actor,
  readWindow: ReadWindow
): MeterReading | null => {
  const { meter } = step
  const key = keyAt(step, point, actor)
  if (key === null) return null
  const { count, value } = readWindow(meter, key)
  const contributes = isConcerned(step, point) && (step.of < 0 || point[step.of]! >= step.ofMin)
  const amount = contributes ? (step.of < 0 ? 1 : point[step.of]!) : 0
  // What is rounded lies above the cap.
  const after = Math.min(value + amount, MAX_SUM)
  const over = contributes && (after > meter.max || count >= meter.maxCount)
  // Past the greatest value (an older version of the meter allowed more, or this one is over) rules see the greatest.
  point[step.axis] = after > meter.max ? meter.max : after
  return { id: meter.id, key, value, amount, contributes, after, over }
}

/** True when each filter of the meter admits the point. */
const isConcerned = ({ where }: MeterStep, point: Float64Array): boolean => {
  for (let i = 0; i < where.length; i++) {
    const { admitted, axis, least } = where[i]!
    if (!admitted[point[axis]! - least]) return false
  }
  return true
}

/** The key of the window; null where it needs a run and there is none. */
const keyAt = (step: MeterStep, point: Float64Array, actor: Actor): string | null => {
  const [first] = step.key
  if (step.key.length !== 1 || first === undefined) return writtenKey(step.key, point, actor)
  const value = valueOf(first, point, actor)
  if (value === null) return writtenKey(step.key, point, actor)
  const known = step.written.get(value)
  if (known !== undefined) return known
  const made = writtenKey(step.key, point, actor)!
  if (step.written.size >= MAX_WRITTEN) step.written.clear()
  step.written.set(value, made)
  return made
}

const valueOf = (part: KeyStep, point: Float64Array, actor: Actor): string | null =>
  part.from === "axis" ? (part.values[point[part.axis]!] ?? null) : actor[part.from]

const writtenKey = (key: ReadonlyArray<KeyStep>, point: Float64Array, actor: Actor): string | null => {
  let values = ""
  for (const part of key) {
    const value = valueOf(part, point, actor)
    if (value === null && part.from === "runId") return null
    const written = value !== null && plain.test(value) ? `"${value}"` : JSON.stringify(value)
    values += values === "" ? written : `,${written}`
  }
  return `[${values}]`
}
