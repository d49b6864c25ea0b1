/** Fields of a pack's text lines. A field that cannot be read ends the reading: `Unreadable`. */
import { fromBase64 } from "../../bytes.ts"
import { parseDecimal } from "../../checkpoint/checkpoint.ts"
import { HASH_BYTES, MAX_PART_BYTES, MAX_PROOF_HASHES } from "../../pack/format.ts"
import { Unreadable } from "../../pack/unreadable.ts"

/**
 * The fields of a payload, split at single spaces. An empty payload has none; more than any line can have are refused.
 */
export const fieldsOf = (bytes: Uint8Array, start: number, end: number): ReadonlyArray<string> => {
  if (start >= end) return []
  const text = oneByteText.decode(bytes.subarray(start, end))
  // Checked before the split: a line of spaces would make millions of fields.
  if (text.includes("  ")) throw new Unreadable("E_FORMAT", "fields separated by exactly one space", "two spaces")
  // One field more than allowed is enough. The rest of the line is never split.
  const fields = text.split(" ", MAX_FIELDS + 1)
  if (fields.length > MAX_FIELDS) throw tooManyHashes()
  return fields
}

/** A field that must be there. */
export const field = (fields: ReadonlyArray<string>, index: number, what: string): string => {
  const text = fields[index]
  if (text === undefined || text === "") throw new Unreadable("E_FORMAT", what, "a line without it")
  return text
}

/** A line has exactly this many fields. */
export const requireFields = (fields: ReadonlyArray<string>, count: number, form: string): void => {
  if (fields.length !== count) throw new Unreadable("E_FORMAT", `a line of the form ${form}`, `${fields.length} fields`)
}

/** A decimal field. */
export const numberField = (fields: ReadonlyArray<string>, index: number, what: string): number => {
  const value = parseDecimal(field(fields, index, what))
  if (value === null) {
    throw new Unreadable("E_FORMAT", `${what} as a decimal up to 2^53 - 1 without leading zeros`, "something else")
  }
  return value
}

/** The name of a part. */
export const nameField = (fields: ReadonlyArray<string>, index: number): string => {
  const name = field(fields, index, "the name of a part")
  if (!PART_NAME.test(name)) {
    throw new Unreadable("E_FORMAT", "the name of a part: a letter, then letters, digits and _", "something else")
  }
  return name
}

/** A base64 field. */
export const base64Field = (fields: ReadonlyArray<string>, index: number, what: string): Uint8Array => {
  const bytes = fromBase64(fields[index] ?? "?")
  if (bytes === null) throw new Unreadable("E_FORMAT", `${what} as padded base64`, "something else")
  return bytes
}

/** The fields from one on as hashes. */
export const hashFields = (fields: ReadonlyArray<string>, from: number): ReadonlyArray<Uint8Array> => {
  if (fields.length - from > MAX_PROOF_HASHES) throw tooManyHashes()
  return fields.slice(from).map((text) => {
    const hash = text.length === HASH_DIGITS ? fromBase64(text) : null
    if (hash === null || hash.length !== HASH_BYTES) {
      throw new Unreadable("E_FORMAT", `hashes of ${HASH_BYTES} bytes in base64`, "something else")
    }
    return hash
  })
}

const tooManyHashes = (): Unreadable =>
  new Unreadable("E_LIMIT", `at most ${MAX_PROOF_HASHES} hashes on a line`, "more")

/** S has two numbers before its hashes; no line has more fields. */
const MAX_FIELDS = MAX_PROOF_HASHES + 2
/** 32 bytes in padded base64. */
const HASH_DIGITS = 44

/** The content of a part. */
export const partField = (fields: ReadonlyArray<string>, index: number): Uint8Array => {
  const part = base64Field(fields, index, "the bytes of a part")
  if (part.length > MAX_PART_BYTES) {
    throw new Unreadable("E_LIMIT", `a part of at most ${MAX_PART_BYTES} bytes`, `${part.length} bytes`)
  }
  return part
}

/** The form of part names. */
export const PART_NAME = /^[a-z][a-z0-9_]{0,31}$/

/** Every byte becomes one character; those outside ASCII fit no field. */
const oneByteText = new TextDecoder("latin1")
