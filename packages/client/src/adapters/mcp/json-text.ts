/**
 * Reads JSON texts as they were received: a number that no double has, and a name that is there twice, are lost in the
 * value that a parser makes of them. Pure. The texts are valid JSON: they were parsed before.
 */

import { type InexactReason, ReceivedJson } from "../../capture/received-json.ts"

/** Digits that any decimal keeps as a double. */
const SAFE_DIGITS = 15

/** The value of a text as it is recorded: where it says less than the text, the text itself. */
export const receivedValue = (text: string): unknown => {
  const reason = inexactness(text)
  return reason === null ? JSON.parse(text) : new ReceivedJson(text, reason)
}

/**
 * Reads why the value of a text says less than the text; null: it says the same. `named`: names that are there twice
 * count.
 */
export const inexactness = (text: string, named = true): InexactReason | null => {
  /** Names of the objects that are open; null: a list. */
  const open: Array<Set<string> | null> = []
  let isName = false
  for (let at = 0; at < text.length;) {
    const sign = text[at]!
    let end = at + 1
    if (sign === '"') {
      end = endOfText(text, at)
      const names = open.at(-1)
      if (isName && names != null) {
        const name = JSON.parse(text.slice(at, end)) as string
        if (named && names.has(name)) return "duplicate_name"
        names.add(name)
      }
      isName = false
    } else if (sign === "{" || sign === "[") {
      open.push(sign === "{" ? new Set() : null)
      isName = sign === "{"
    } else if (sign === "}" || sign === "]") open.pop()
    else if (sign === ",") isName = open.at(-1) !== null
    else if (isNumberSign(sign)) {
      while (end < text.length && isNumberSign(text[end]!)) end++
      if (!isExactNumber(text.slice(at, end))) return "inexact_number"
    } else if (sign >= "a" && sign <= "z") while (end < text.length && text[end]! >= "a" && text[end]! <= "z") end++
    at = end
  }
  return null
}

/** The text of a member of an object, as a parser finds it: the last of its name. Null where it is not there. */
export const memberText = (text: string | null, ...path: ReadonlyArray<string>): string | null => {
  const [wanted, ...inner] = path
  if (wanted === undefined || text === null) return text
  let depth = 0
  let name: string | null = null
  let from = -1
  let found: string | null = null
  for (let at = 0; at < text.length;) {
    const sign = text[at]!
    let end = at + 1
    if (sign === '"') {
      end = endOfText(text, at)
      if (depth === 1 && from < 0) name = JSON.parse(text.slice(at, end)) as string
    } else if (sign === "{" || sign === "[") depth++
    else if (sign === ":" && depth === 1 && from < 0) from = end
    else if (sign === "," || sign === "}" || sign === "]") {
      if (depth === 1 && from >= 0) {
        if (name === wanted) found = text.slice(from, at).trim()
        from = -1
      }
      if (sign !== ",") depth--
    }
    at = end
  }
  return memberText(found, ...inner)
}

const endOfText = (text: string, begin: number): number => {
  let at = begin + 1
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

const isNumberSign = (sign: string): boolean =>
  (sign >= "0" && sign <= "9") || sign === "-" || sign === "+" || sign === "." || sign === "e" || sign === "E"

/** True when the double of a number, written in the shortest way, is the same number. */
const isExactNumber = (token: string): boolean => {
  if (token.length <= SAFE_DIGITS && !/[eE]/.test(token)) return true
  const value = Number(token)
  return Number.isFinite(value) && decimalOf(token) === decimalOf(String(value))
}

/** One form for each decimal: digits without zeros at either end, and a power of ten. */
const decimalOf = (token: string): string => {
  const [, sign, whole, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)!
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  const short = digits.replace(/0+$/, "")
  return short === "" ? "0" : `${sign}${short}e${Number(power) - fraction.length + digits.length - short.length}`
}
