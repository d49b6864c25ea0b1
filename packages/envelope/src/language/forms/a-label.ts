/** Labels of domains beyond ASCII, as Punycode. Spec: RFC 3492; `envelope/1` section 16. */
import { isLetter } from "./letters.ts"

const BASE = 36
const FIRST = 128
const MAX_UNIT = 0xffff

/**
 * True when a label that begins with `xn--` is the one spelling of small letters that forms read. Parsers differ on all
 * others. A label has at most 63 characters.
 */
export const isALabel = (label: string): boolean => {
  const units = decoded(label.slice("xn--".length))
  if (units === null || !units.some((unit) => unit >= FIRST)) return false
  const text = String.fromCharCode(...units)
  return (
    !text.startsWith("xn--") &&
    units.every((unit) => (unit < FIRST ? /[a-z0-9-]/.test(String.fromCharCode(unit)) : isSmall(unit))) &&
    `xn--${encoded(units)}` === label
  )
}

/** The case of these letters never changes: Unicode's stability policy. */
const isSmall = (unit: number): boolean => {
  const letter = String.fromCharCode(unit)
  return isLetter(unit) && letter === letter.toLowerCase()
}

/** Code units of a label; null where it is no Punycode, or beyond the basic plane. */
const decoded = (text: string): ReadonlyArray<number> | null => {
  const dash = text.lastIndexOf("-")
  const units = Array.from({ length: Math.max(dash, 0) }, (_, i) => text.charCodeAt(i))
  let unit = FIRST
  let at = 0
  let bias = 72
  for (let i = dash > 0 ? dash + 1 : 0; i < text.length;) {
    const before = at
    for (let k = BASE, weight = 1; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(i++))
      if (digit === -1) return null
      at += digit * weight
      const limit = limitOf(k, bias)
      if (digit < limit) break
      weight *= BASE - limit
      if (weight > 2 ** 40) return null
    }
    bias = adapted(at - before, units.length + 1, before === 0)
    unit += Math.floor(at / (units.length + 1))
    if (unit > MAX_UNIT) return null
    at %= units.length + 1
    units.splice(at++, 0, unit)
  }
  return units
}

const encoded = (units: ReadonlyArray<number>): string => {
  let text = String.fromCharCode(...units.filter((unit) => unit < FIRST))
  const basic = text.length
  if (basic > 0) text += "-"
  let done = basic
  let delta = 0
  let bias = 72
  for (let next = FIRST; done < units.length;) {
    const least = Math.min(...units.filter((unit) => unit >= next))
    delta += (least - next) * (done + 1)
    for (const unit of units) {
      if (unit < least) delta++
      if (unit !== least) continue
      let rest = delta
      for (let k = BASE; ; k += BASE) {
        const limit = limitOf(k, bias)
        if (rest < limit) break
        text += signOf(limit + ((rest - limit) % (BASE - limit)))
        rest = Math.floor((rest - limit) / (BASE - limit))
      }
      text += signOf(rest)
      bias = adapted(delta, done + 1, done === basic)
      delta = 0
      done++
    }
    delta++
    next = least + 1
  }
  return text
}

const limitOf = (k: number, bias: number): number => Math.min(26, Math.max(1, k - bias))

const adapted = (delta: number, count: number, isFirst: boolean): number => {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += BASE) rest = Math.floor(rest / 35)
  return k + Math.floor((BASE * rest) / (rest + 38))
}

const digitOf = (code: number): number =>
  code >= 97 && code <= 122 ? code - 97 : code >= 48 && code <= 57 ? code - 22 : -1

const signOf = (digit: number): string => String.fromCharCode(digit < 26 ? digit + 97 : digit + 22)
