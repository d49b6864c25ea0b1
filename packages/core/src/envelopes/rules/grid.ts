/**
 * The axes of some layers together. The innermost layer that declares a signal says what its values are; outer layers may know fewer or more of them.
 *
 * Spec: `SPEC.md` section 9.
 */
import { derivedFunctions } from "./derived.ts"
import type { Axis } from "./compiled.ts"
import type { Derived, Envelope, Meter, Signal } from "./envelope.ts"
import type { Finding, ReadingCode } from "./findings.ts"
import { MAX_INT } from "./limits.ts"

/** Everything that some layers name, each once, by name; and the axes: signals, then derived signals, then meters. */
export interface LayerGrid {
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly meters: ReadonlyArray<Meter>
  readonly axes: ReadonlyArray<Axis>
  readonly findings: ReadonlyArray<Finding>
}

/** The grid of some layers, outermost first. With findings it is not to be used. */
export const gridOf = (layers: ReadonlyArray<Envelope>): LayerGrid => {
  const findings: Array<Finding> = []
  const say = (code: ReadingCode, path: string, message: string): void => {
    findings.push({ code, path, message })
  }
  const signals = byName(layers.flatMap((layer) => layer.signals), (signal) => signal.name, (outer, inner) => {
    const difference = differs(outer, inner)
    if (difference !== null) say("E105", `/signals/${inner.name}`, `An outer layer declares ${inner.name} with another ${difference}. Declare it alike.`)
  })
  const derived = byName(layers.flatMap((layer) => layer.derived), (one) => one.name, (outer, inner) => {
    if (outer.fn !== inner.fn || outer.args.join() !== inner.args.join()) say("E103", `/derived/${inner.name}`, `An outer layer computes another ${inner.name}. Rename one of them.`)
  }).map((one) => {
    const domain = derivedFunctions[one.fn].domain(one.args.map((arg) => signals.find((signal) => signal.name === arg)!))
    if (domain === null) say("E105", `/derived/${one.name}`, `With the domains of all layers ${one.fn} could leave the integers. Narrow min and max of its arguments.`)
    return { ...one, ...domain }
  })
  for (const one of derived) if (signals.some((signal) => signal.name === one.name)) say("E103", `/derived/${one.name}`, `Another layer has a signal ${one.name}. Rename one of them.`)
  const meters = byName(layers.flatMap((layer) => layer.meters), (meter) => meter.id, (outer, inner) => {
    if (JSON.stringify({ ...outer, max: 0 }) !== JSON.stringify({ ...inner, max: 0 })) say("E103", `/meters/${inner.id}`, `An outer layer has another meter ${inner.id}. Rename one of them.`)
  }).map((meter) => {
    const amount = meter.of === null ? 1 : (signals.find((signal) => signal.name === meter.of) ?? derived.find((one) => one.name === meter.of))!.max
    if (amount > 0 && meter.maxCount > Math.floor(MAX_INT / amount)) say("E105", `/meters/${meter.id}`, `${meter.maxCount} contributions of up to ${amount} could leave the integers (2^53). Lower one of them.`)
    return { ...meter, max: meter.maxCount * amount }
  })
  return { signals, derived, meters, axes: [...signals.map(signalAxis), ...derived.map((one) => derivedAxis(one, signals)), ...meters.map(meterAxis)], findings }
}

/** One of each name, the last, in the order of names. */
const byName = <A>(all: ReadonlyArray<A>, nameOf: (one: A) => string, again: (outer: A, inner: A) => void): ReadonlyArray<A> => {
  const found = new Map<string, A>()
  for (const one of all) {
    const outer = found.get(nameOf(one))
    if (outer !== undefined) again(outer, one)
    found.set(nameOf(one), one)
  }
  return [...found.keys()].sort().map((name) => found.get(name)!)
}

/** A declaration may differ in values, bounds and absence, for these the innermost decides; in nothing else. */
const differs = (a: Signal, b: Signal): string | null => {
  if (a.type !== b.type) return "type"
  if (a.source !== b.source) return "source"
  if (a.unit !== b.unit) return "unit"
  if (a.setBy !== b.setBy) return "set_by"
  if (a.ordered !== b.ordered) return "order"
  return a.ordered && a.values!.join("\0") !== b.values!.join("\0") ? "order of values" : null
}

const signalAxis = (signal: Signal): Axis => ({ name: signal.name, kind: signal.type, origin: signal.source, min: signal.min, max: signal.max, values: signal.values, mayBeAbsent: signal.optional })

const derivedAxis = (derived: Derived, signals: ReadonlyArray<Signal>): Axis => ({
  name: derived.name, kind: "int", origin: "derived", min: derived.min, max: derived.max, values: null,
  mayBeAbsent: derived.args.some((arg) => signals.some((signal) => signal.name === arg && signal.optional))
})

const meterAxis = (meter: Meter): Axis => ({ name: `meter:${meter.id}`, kind: "int", origin: "meter", min: 0, max: meter.max, values: null, mayBeAbsent: false })
