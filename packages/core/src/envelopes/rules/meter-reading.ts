/** What an action adds to meters, and what they will say after it. Spec: `SPEC.md` section 6. */
import { leastPoint } from "./boxes.ts"
import type { Combination } from "./compile.ts"
import type { Meter } from "./envelope.ts"

/** A meter at one evaluation. */
export interface MeterReading {
  readonly id: string
  /** Which window: the values of the meter's key as a JSON list. */
  readonly key: string
  readonly value: number
  /** What this action adds; 0 too where it does not concern the meter. */
  readonly amount: number
  /** Whether this action contributes, if it is let through. */
  readonly contributes: boolean
  /** `value` and `amount`: what rules test. */
  readonly after: number
  /** Whether this contribution would leave the meter's bounds. */
  readonly over: boolean
}

/** What a window holds before this action. */
export interface WindowState {
  readonly value: number
  readonly count: number
}

/** Answers the window of a meter and key. */
export type ReadWindow = (meter: Meter, key: string) => WindowState

/** Who acts, as far as keys of meters ask. */
export interface Actor {
  readonly agentId: string
  readonly orgUnit: string
  readonly runId: string | null
}

/** How to read one meter. */
export interface MeterStep {
  readonly meter: Meter
  readonly axis: number
  /** Axis of the amount; -1 when counting. */
  readonly of: number
  readonly ofMin: number
  readonly where: ReadonlyArray<{ readonly axis: number; readonly least: number; readonly admitted: ReadonlyArray<boolean> }>
  readonly key: ReadonlyArray<KeyStep>
}

type KeyStep = { readonly from: "agentId" | "orgUnit" | "runId" } | { readonly from: "axis"; readonly axis: number; readonly values: ReadonlyArray<string> }

const actorKeys: { readonly [name: string]: KeyStep } = { agent_id: { from: "agentId" }, org_unit: { from: "orgUnit" }, run_id: { from: "runId" } }

/** How to read the meters of a combination. */
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
      const points = filter.values.map((value) => (typeof value === "string" ? axis.values!.indexOf(value) : Number(value))).filter((point) => point >= axis.min)
      const least = leastPoint(axis)
      return { axis: place(filter.signal), least, admitted: Array.from({ length: axis.max - least + 1 }, (_, bit) => points.includes(least + bit)) }
    }),
    key: meter.key.map((name) => actorKeys[name] ?? { from: "axis", axis: place(name), values: axes[place(name)]!.values! })
  }))
}

/** Texts that JSON writes as they are. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** Reads one meter at a point and writes its axis; null when its key asks for a run and there is none. */
export const readMeter = (step: MeterStep, point: Float64Array, actor: Actor, readWindow: ReadWindow): MeterReading | null => {
  const { meter } = step
  let values = ""
  for (const part of step.key) {
    const value = part.from === "axis" ? part.values[point[part.axis]!] ?? null : actor[part.from]
    if (value === null && part.from === "runId") return null
    const written = value !== null && plain.test(value) ? `"${value}"` : JSON.stringify(value)
    values += values === "" ? written : `,${written}`
  }
  const key = `[${values}]`
  const { count, value } = readWindow(meter, key)
  const contributes = step.where.every(({ admitted, axis, least }) => admitted[point[axis]! - least]) && (step.of < 0 || point[step.of]! >= step.ofMin)
  const amount = contributes ? (step.of < 0 ? 1 : point[step.of]!) : 0
  const after = value + amount
  const over = contributes && (after > meter.max || count >= meter.maxCount)
  // Past the greatest value (an older version of the meter allowed more, or this one is over) rules see the greatest.
  point[step.axis] = after > meter.max ? meter.max : after
  return { id: meter.id, key, value, amount, contributes, after, over }
}
