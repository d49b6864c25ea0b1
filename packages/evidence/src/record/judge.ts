/** Names what is wrong with a record that the scanner refuses. Slow and exact: only bad records come here. */
import { fromUtf8 } from "../bytes.ts"
import { checkForm, type FormReason, MAX_RECORD_DEPTH } from "../json/form.ts"
import { isHashText, kindForm, MAX_RECORD_BYTES, partNameForm, RECORD_VERSION, type RecordProblem } from "./record.ts"

/**
 * The first thing wrong with these bytes as a record, in the order: size, form, version, members. Spec: format 1
 * sections 1 and 6.
 */
export const judgeRecord = (bytes: Uint8Array): RecordProblem => {
  if (bytes.length > MAX_RECORD_BYTES)
    return {
      code: "E_LIMIT",
      expected: `a record of at most ${MAX_RECORD_BYTES} bytes`,
      found: `${bytes.length} bytes`
    }
  const problem = checkForm(bytes)
  if (problem !== null) {
    return problem.reason === "depth"
      ? {
          code: "E_LIMIT",
          expected: `at most ${MAX_RECORD_DEPTH} open containers`,
          found: `one more at byte ${problem.offset}`
        }
      : noncanonical("RFC 8785 form with integers only", `${formWords[problem.reason]} at byte ${problem.offset}`)
  }
  const value = JSON.parse(fromUtf8(bytes)!) as unknown
  if (!isObject(value)) return noncanonical("a JSON object", "another JSON value")
  const { v } = value
  if (typeof v === "number" && v !== RECORD_VERSION)
    return { code: "E_VERSION", expected: `v ${RECORD_VERSION}`, found: `v ${v}` }
  const names = Object.keys(value).join(",")
  if (names !== MEMBERS) return noncanonical(`exactly the members ${MEMBERS}`, brief(names))
  for (const [name, expected, holds] of members)
    if (!holds(value[name])) return noncanonical(`${name}: ${expected}`, brief(JSON.stringify(value[name])))
  // Cannot happen: the scanner and this list require the same. Such a record is never good.
  return noncanonical("a record of format 1", "bytes that only one of two checks refuses")
}

const MEMBERS = "at,body,kind,parts,prev,seq,v"

const formWords: { readonly [reason in FormReason]: string } = {
  syntax: "not JSON without white space",
  utf8: "ill-formed UTF-8",
  escape: "another escape than RFC 8785 writes",
  number: "a number that is not an integer within ±(2^53 - 1)",
  order: "a name out of order",
  duplicate: "a name twice",
  depth: "too many open containers"
}

const members: ReadonlyArray<readonly [name: string, expected: string, holds: (value: unknown) => boolean]> = [
  ["at", "a text", (value) => typeof value === "string"],
  ["body", "an object", (value) => isObject(value)],
  ["kind", "[a-z][a-z0-9_.]{2,63}", (value) => typeof value === "string" && kindForm.test(value)],
  ["parts", "a list of {c, name}, sorted by name, each name once", (value) => isParts(value)],
  ["prev", "64 lower-case hex digits", (value) => typeof value === "string" && isHashText(value)],
  ["seq", "an integer from 0", (value) => typeof value === "number" && value >= 0],
  ["v", "an integer", (value) => typeof value === "number"]
]

const isParts = (value: unknown): boolean => {
  if (!Array.isArray(value)) return false
  let before = ""
  for (const part of value as ReadonlyArray<unknown>) {
    if (!isObject(part) || Object.keys(part).join(",") !== "c,name") return false
    const { c, name } = part
    if (
      typeof c !== "string" ||
      !isHashText(c) ||
      typeof name !== "string" ||
      !partNameForm.test(name) ||
      name <= before
    )
      return false
    before = name
  }
  return true
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const noncanonical = (expected: string, found: string): RecordProblem => ({ code: "E_NONCANONICAL", expected, found })

/** A text from the pack for a report, bounded and without control characters. */
const brief = (text: string): string => {
  const clean = text.replace(/[^ -~]/g, "?")
  return clean.length > 120 ? `${clean.slice(0, 120)}…` : clean
}
