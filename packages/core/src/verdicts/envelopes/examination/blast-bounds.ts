/**
 * Blast radii as bounds on the signals of an envelope.
 *
 * Spec: envelopes.md 3.6 names the members `effect_classes`, `systems`, `data_classes`, `max_single`, `max_daily`,
 * `reversible`, `max_fan_out`; decision 0025 says what each bounds.
 */
import type { Json, JsonMap } from "@flyball/rules"
import type { BlastBound, EffectClass, Envelope } from "@flyball/envelope"

const DAY_MS = 86_400_000

/** Members whose values are those of a signal with another name. */
const signalOf: { readonly [member: string]: string } = {
  tools: "tool",
  systems: "system",
  data_classes: "data_class",
  max_fan_out: "fan_out"
}

/**
 * The bounds of all radii together: the least of the greatest values, and the values that all of them have. One for
 * each signal.
 */
export const blastBounds = (envelope: Envelope, radii: ReadonlyArray<JsonMap>): ReadonlyArray<BlastBound> => {
  const bounds = new Map<string, BlastBound>()
  for (const radius of radii) {
    for (const [member, value] of Object.entries(radius)) {
      for (const bound of boundsOf(envelope, member, value)) {
        const known = bounds.get(bound.signal)
        bounds.set(bound.signal, known === undefined ? bound : tighter(known, bound))
      }
    }
  }
  return [...bounds.values()]
}

const boundsOf = (envelope: Envelope, member: string, value: Json): ReadonlyArray<BlastBound> => {
  if (member === "max_single") {
    return amountBounds(
      envelope,
      value,
      envelope.signals.flatMap(({ name, source, type, unit }) =>
        (source === "caller" || source === "args") && type === "int" ? [{ name, unit, isMeant: name === "amount" }] : []
      ),
      "amount"
    )
  }
  if (member === "max_daily") return dailyBounds(envelope, value)
  if (member === "effect_classes")
    return Array.isArray(value) ? toolBounds(envelope, (effect) => value.includes(effect)) : []
  if (member === "reversible")
    return value === true ? toolBounds(envelope, (effect) => effect === "read" || effect === "write_reversible") : []
  const signal = signalOf[member] ?? member
  if (typeof value === "number" && Number.isSafeInteger(value)) return [{ signal, max: value }]
  if (Array.isArray(value)) return [{ signal, values: value.filter((one) => typeof one === "string") }]
  return []
}

/** Tools of these classes. A tool without a class is irreversible. */
const toolBounds = (
  { effects, signals }: Envelope,
  isWithin: (effect: EffectClass) => boolean
): ReadonlyArray<BlastBound> => {
  const tools = signals.find(({ name }) => name === "tool")?.values ?? []
  return [{ signal: "tool", values: tools.filter((tool) => isWithin(effects.get(tool) ?? "irreversible")) }]
}

const tighter = (one: BlastBound, other: BlastBound): BlastBound => {
  if ("max" in one) return "max" in other && other.max < one.max ? other : one
  return "values" in other
    ? { signal: one.signal, values: one.values.filter((value) => other.values.includes(value)) }
    : one
}

interface Sized {
  readonly name: string
  readonly unit: string | null
  /** True when an amount without a unit means this one. */
  readonly isMeant: boolean
}

/** Derives bounds for the signals in the amount's unit, for calls of tools that do more than read. */
const amountBounds = (
  { effects, signals }: Envelope,
  value: Json,
  sized: ReadonlyArray<Sized>,
  otherwise: string
): ReadonlyArray<BlastBound> => {
  const { amount, unit } =
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonMap)
      : { amount: value, unit: undefined }
  if (typeof amount !== "number" || !Number.isSafeInteger(amount)) return []
  const ofTools = (signals.find(({ name }) => name === "tool")?.values ?? []).filter(
    (tool) => effects.get(tool) !== "read"
  )
  const found = sized
    .filter((one) => (typeof unit === "string" ? one.unit === unit : one.isMeant))
    .map(({ name }): BlastBound => ({ signal: name, max: amount, ofTools }))
  return found.length > 0
    ? found
    : [{ signal: typeof unit === "string" ? `${otherwise} in ${unit}` : otherwise, max: amount }]
}

/** Meters that sum up one day. */
const dailyBounds = (envelope: Envelope, value: Json): ReadonlyArray<BlastBound> =>
  amountBounds(
    envelope,
    value,
    envelope.meters.flatMap(({ id, of, op, windowMs }) => {
      const unit = envelope.signals.find(({ name }) => name === of)?.unit ?? null
      return op === "sum" && windowMs === DAY_MS ? [{ name: `meter:${id}`, unit, isMeant: true }] : []
    }),
    "a sum of a day"
  )
