import type { Scalar } from "../../language/envelope.ts"
import { quote } from "../../language/reading.ts"

/**
 * A value as people write it: money with its decimals, basis points as a percentage, milliseconds as days to seconds,
 * everything else as it is.
 *
 * - Unit: `CUR/100` (or `/10`, `/1000`: as many decimals as zeros), `bp`, `ms`; any other unit is written behind the
 *   number. Null: a bare number. `TEXT`: a text in quotes.
 * - Exact: decimals come from the digits of the integer, never from a division.
 */
export const renderValue = (value: Scalar, unit: string | null): string => {
  if (typeof value === "string" && unit === TEXT) return quote(value)
  if (typeof value !== "number") return String(value)
  if (unit === null || unit === TEXT) return grouped(value)
  const money = /^(?<currency>.+)\/1(?<zeros>0+)$/.exec(unit)?.groups
  if (money !== undefined) return `${decimal(value, money["zeros"]!.length)} ${money["currency"]!}`
  if (unit === "bp") return `${decimal(value, 2)} %`
  if (unit === "ms") return duration(value)
  return `${grouped(value)} ${unit}`
}

/** Stands for a unit where values are texts of any kind. */
export const TEXT = "text"

/** An integer with a comma between thousands. */
const grouped = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",")

const decimal = (value: number, places: number): string => {
  const digits = String(Math.abs(value)).padStart(places + 1, "0")
  return `${value < 0 ? "-" : ""}${grouped(Number(digits.slice(0, -places)))}.${digits.slice(-places)}`
}

const spans = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000]
] as const

/** A time in ms: "24 hours" rather than "1 day", for windows slide and have no midnight; days from two on. */
const duration = (value: number): string => {
  const parts: Array<string> = []
  let left = Math.abs(value)
  for (const [name, ms] of spans) {
    if (name === "day" && left < 2 * ms) continue
    const count = Math.floor(left / ms)
    left -= count * ms
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`)
  }
  if (left > 0 || parts.length === 0) parts.push(`${left} ms`)
  return `${value < 0 ? "minus " : ""}${parts.join(" ")}`
}
