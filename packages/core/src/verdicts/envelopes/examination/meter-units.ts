/**
 * Units of the sums of meters. A contribution belongs to a meter's id across the versions of its envelope, so one id
 * adds up one unit in all of them.
 *
 * Spec: `envelope/1` section 6.
 */
import type { Json, JsonMap } from "@flyball/rules"
import type { Finding } from "@flyball/envelope"

/** A meter that adds up, and the unit of what it does; a text of our own where that is computed or has none. */
export interface MeterUnit {
  readonly meter: string
  readonly unit: string
}

/** The units of an envelope's meters, in the order of its text. It was read and found in order. */
export const meterUnits = (envelope: JsonMap): ReadonlyArray<MeterUnit> =>
  Object.entries(mapOf(envelope["meters"])).flatMap(([meter, definition]) => {
    const of = mapOf(definition)["of"]
    return typeof of === "string" ? [{ meter, unit: unitOf(envelope, of) }] : []
  })

/** E105 for each meter that added up another unit in a version before. */
export const changedUnits = (envelope: JsonMap, before: ReadonlyArray<MeterUnit>): ReadonlyArray<Finding> =>
  meterUnits(envelope).flatMap(({ meter, unit }) => {
    const other = before.find((one) => one.meter === meter && one.unit !== unit)
    if (other === undefined) return []
    return [
      {
        code: "E105" as const,
        path: `/meters/${meter}`,
        message:
          `The meter ${meter} adds up ${unit} here and ${other.unit} in a version before: its windows would mix ` +
          `both. Give it another id, under which it starts empty.`
      }
    ]
  })

/**
 * Of a share of two things with one unit basis points; of a sum, a difference and an extreme that of its arguments,
 * which is one; else all of them.
 */
const unitOf = (envelope: JsonMap, name: string): string => {
  const signal = mapOf(envelope["signals"])[name]
  if (signal !== undefined) return typeof mapOf(signal)["unit"] === "string" ? String(mapOf(signal)["unit"]) : "no unit"
  const { args, fn } = mapOf(mapOf(envelope["derived"])[name])
  const units = (args as ReadonlyArray<string>).map((arg) => unitOf(envelope, arg))
  const isOne = new Set(units).size === 1
  if (fn === "ratio_bp@1") return isOne ? "bp" : units.join(" in ")
  return fn === "product@1" || !isOne ? units.join(" times ") : units[0]!
}

const mapOf = (value: Json | undefined): JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonMap) : {}
