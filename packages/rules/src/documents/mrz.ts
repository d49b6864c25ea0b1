/** Machine-readable zones of passports and identity cards: ICAO 9303, with their check digits. */
import type { Guess } from "./guess.ts"
import type { Line, Segment } from "./layout.ts"

/** Check digit: weights 7, 3, 1; letters from 10, the filler 0. */
export const checkDigit = (text: string): string => {
  let sum = 0
  for (let at = 0; at < text.length; at++) {
    const value = text[at] === "<" ? 0 : Number.parseInt(text[at]!, 36)
    sum += value * [7, 3, 1][at % 3]!
  }
  return String(sum % 10)
}

interface Zone {
  readonly names: string
  readonly number: string
  readonly nationality: string
  readonly birth: string
  readonly expiry: string
  /** Numbers with their check digits. */
  readonly checks: { readonly [field: string]: boolean }
}

const fieldOf = (line: string, from: number, length: number): { readonly text: string; readonly right: boolean } => {
  const text = line.slice(from, from + length)
  return { text, right: checkDigit(text) === line[from + length] }
}

const zoneOf = (rows: ReadonlyArray<string>): Zone | null => {
  const cards = rows.length === 3
  const [first, second, third] = rows as [string, string, string]
  const id = cards ? fieldOf(first, 5, 9) : fieldOf(second, 0, 9)
  const birth = fieldOf(second, cards ? 0 : 13, 6)
  const expiry = fieldOf(second, cards ? 8 : 21, 6)
  if (!/^\d{6}$/.test(birth.text) || !/^\d{6}$/.test(expiry.text)) return null
  return {
    names: cards ? third : first.slice(5),
    number: id.text.replace(/<+$/, ""),
    nationality: (cards ? second.slice(15, 18) : second.slice(10, 13)).replaceAll("<", ""),
    birth: birth.text,
    expiry: expiry.text,
    checks: { id_number: id.right, date_of_birth: birth.right, expiry_date: expiry.right }
  }
}

/** Fields of the first zone in the lines; none where there is no zone. */
export const mrzGuesses = (lines: ReadonlyArray<Line>): { readonly [field: string]: Guess } => {
  const rows = lines.map((line) =>
    line
      .map(({ text }) => text)
      .join("")
      .replaceAll(" ", "")
      .replaceAll("«", "<<")
  )
  for (let at = 0; at < rows.length; at++) {
    const length = rows[at]!.length
    const count = length === 30 ? 3 : length === 36 || length === 44 ? 2 : 0
    const part = rows.slice(at, at + count)
    if (count === 0 || part.length < count) continue
    if (!part.every((row) => row.length === length && /^[A-Z\d<]+$/.test(row)) || !/^[ACIPV]/.test(part[0]!)) continue
    const zone = zoneOf(part)
    if (zone !== null) return guessesOf(zone, lines[at]![0]!)
  }
  return {}
}

const guessesOf = (zone: Zone, segment: Segment): { readonly [field: string]: Guess } => {
  const [surname, given] = zone.names.split("<<").map((name) => name.replaceAll("<", " ").trim())
  // No clock here: a birth is before the expiry, and nobody's document is valid for a hundred years.
  const expiry = `20${zone.expiry}`
  const birth = Number(zone.birth.slice(0, 2)) < Number(zone.expiry.slice(0, 2)) ? `20${zone.birth}` : `19${zone.birth}`
  const dashed = (date: string): string => `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  const values = {
    id_number: zone.number,
    surname: surname ?? "",
    given_names: given ?? "",
    nationality: zone.nationality,
    date_of_birth: dashed(birth),
    expiry_date: dashed(expiry)
  }
  const whole = Object.values(zone.checks).every(Boolean)
  const guesses = Object.entries(values).map(([name, value]) => {
    const checksum = zone.checks[name] ?? null
    const score = (checksum ?? whole) ? 99 : 30
    const place = { segment, from: 0, to: segment.text.length }
    return [name, { ...place, value, rule: "mrz", label: null, score, margin: 50, checksum }] as const
  })
  return Object.fromEntries(guesses.filter(([, { value }]) => value !== ""))
}
