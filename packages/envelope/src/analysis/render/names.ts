import type { Envelope } from "../../language/envelope.ts"
import { renderValue, TEXT } from "./value.ts"

/** Labels and units of signals, derived signals and meters, by the name of their axis. */
export interface Names {
  readonly label: (name: string) => string
  readonly unit: (name: string) => string | null
}

/**
 * Names of an envelope. A label drops the unit at the end of a name, for the value carries it; a meter says what it
 * measures.
 */
export const namesOf = (envelope: Envelope): Names => {
  const units = unitsOf(envelope)
  return {
    unit: (name) => units.get(name) ?? null,
    label: (name) => {
      const meter = envelope.meters.find(({ id }) => name === `meter:${id}`)
      if (meter === undefined) return plain(name)
      const what = meter.of === null ? "the number of actions" : `the sum of ${plain(meter.of)}`
      return `${meter.id} (${what} over ${renderValue(meter.windowMs, "ms")}, this one included)`
    }
  }
}

/**
 * Units by the name of the axis: of a derived ratio basis points, of other derived signals that of their first
 * argument, of a sum that of what is summed.
 */
export const unitsOf = ({ derived, meters, signals }: Envelope): ReadonlyMap<string, string> => {
  const units = new Map<string, string>()
  for (const { name, type, unit } of signals)
    units.set(name, type === "text" ? TEXT : (unit ?? (name.endsWith("_bp") ? "bp" : name.endsWith("_ms") ? "ms" : "")))
  for (const { args, fn, name } of derived)
    units.set(name, fn === "ratio_bp@1" ? "bp" : fn === "product@1" ? "" : (units.get(args[0]!) ?? ""))
  for (const { id, of } of meters) if (of !== null) units.set(`meter:${id}`, units.get(of) ?? "")
  return new Map([...units].filter(([, unit]) => unit !== ""))
}

const plain = (name: string): string => name.replace(/_(?:bp|ms)$/, "").replaceAll("_", " ")
