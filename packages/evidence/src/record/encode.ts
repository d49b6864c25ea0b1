/** Writes records. Spec: format 1 section 1. */
import { utf8 } from "../bytes.ts"
import { canonicalizeIntegers, NotCanonical } from "../json/canonical.ts"
import { MAX_RECORD_DEPTH } from "../json/form.ts"
import type { JsonObject, JsonValue } from "../json/value.ts"
import { parseInstant } from "./instant.ts"
import {
  isHashText,
  kindForm,
  MAX_RECORD_BYTES,
  NO_RECORD,
  type PartCommitment,
  partNameForm,
  RECORD_VERSION
} from "./record.ts"

/** Fields of a record to write. */
export interface RecordFields {
  /** 24 characters, as `formatInstant` makes them. */
  readonly at: string
  readonly body: JsonObject
  readonly kind: string
  /** Sorted by name. */
  readonly parts: ReadonlyArray<PartCommitment>
  readonly prev: string
  readonly seq: number
}

/** Fields of a record to write, with the body as text, as {@link recordBodyText} writes it. */
export interface RecordTextFields extends Omit<RecordFields, "body"> {
  readonly bodyText: string
}

/** The fields make no record of format 1: a bug of the planner. Spec: format 1 section 1. */
export class RecordUnwritable extends Error {
  override readonly name = "RecordUnwritable"
  readonly reason: string

  constructor(reason: string) {
    super(`This record cannot be written: ${reason}.`)
    this.reason = reason
  }
}

/**
 * The bytes of a record: what is hashed, stored and exported.
 *
 * - Fails: throws `RecordUnwritable` for anything that a verifier would refuse.
 * - Spec: format 1 section 1.
 */
export const encodeRecord = ({ body, ...rest }: RecordFields): Uint8Array =>
  encode(rest, () => {
    if (!isObject(body)) throw new RecordUnwritable("body is not an object")
    return bodyText(body)
  })

/**
 * The bytes of a record whose body is text already.
 *
 * - Fails: throws `RecordUnwritable` for anything that a verifier would refuse, except in the body: its text is
 *   trusted.
 * - Spec: format 1 section 1.
 */
export const encodeRecordText = (fields: RecordTextFields): Uint8Array => encode(fields, () => fields.bodyText)

const encode = ({ at, kind, parts, prev, seq }: Omit<RecordFields, "body">, writeBody: () => string): Uint8Array => {
  if (parseInstant(at) === null) throw new RecordUnwritable("at is not an instant of the form YYYY-MM-DDTHH:MM:SS.mmmZ")
  if (!kindForm.test(kind)) throw new RecordUnwritable("kind is not [a-z][a-z0-9_.]{2,63}")
  if (!isHashText(prev)) throw new RecordUnwritable("prev is not 64 lower-case hex digits")
  if (!Number.isSafeInteger(seq) || seq < 0) throw new RecordUnwritable("seq is not an integer from 0 to 2^53 - 1")
  if ((seq === 0) !== (prev === NO_RECORD)) throw new RecordUnwritable("prev is 64 zeros in record 0, and only there")
  const text =
    `{"at":"${at}","body":${writeBody()},"kind":"${kind}","parts":[${partsText(parts)}],` +
    `"prev":"${prev}","seq":${seq},"v":${RECORD_VERSION}}`
  const bytes = utf8(text)
  if (bytes.length > MAX_RECORD_BYTES) throw tooLong(bytes.length)
  return bytes
}

/** A record around no body, with an empty kind, no parts and the shortest seq. */
const LEAST_FRAME =
  `{"at":"1970-01-01T00:00:00.000Z","body":,"kind":"","parts":[],"prev":"${NO_RECORD}","seq":0,"v":${RECORD_VERSION}}`
    .length

/**
 * The text of a body as in its record, for writers that add the other members later.
 *
 * - Fails: throws `RecordUnwritable` for whatever `encodeRecord` would refuse in a record of this kind and body, whose
 *   other members are right and as short as can be.
 * - Spec: format 1 section 1.
 */
export const recordBodyText = (kind: string, body: JsonObject): string => {
  if (!kindForm.test(kind)) throw new RecordUnwritable("kind is not [a-z][a-z0-9_.]{2,63}")
  if (!isObject(body)) throw new RecordUnwritable("body is not an object")
  const text = bodyText(body)
  const room = MAX_RECORD_BYTES - LEAST_FRAME - kind.length
  // A unit of a text has up to three bytes: only a long text need be counted.
  if (text.length * 3 > room) {
    const { length } = utf8(text)
    if (length > room) throw tooLong(length + LEAST_FRAME + kind.length)
  }
  return text
}

const tooLong = (bytes: number): RecordUnwritable =>
  new RecordUnwritable(`it has ${bytes} bytes; ${MAX_RECORD_BYTES} fit. Put long content into a part`)

const partsText = (parts: ReadonlyArray<PartCommitment>): string => {
  let text = ""
  let before = ""
  for (const { c, name } of parts) {
    if (!partNameForm.test(name)) throw new RecordUnwritable("the name of a part is not [a-z][a-z0-9_]{0,31}")
    if (!isHashText(c)) throw new RecordUnwritable(`the commitment to part ${name} is not 64 lower-case hex digits`)
    if (name <= before) throw new RecordUnwritable("parts are not sorted by name, each once")
    text += `${before === "" ? "" : ","}{"c":"${c}","name":"${name}"}`
    before = name
  }
  return text
}

const isObject = (value: JsonValue): value is JsonObject => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Canonical text of a body: numbers are integers. */
const bodyText = (body: JsonObject): string => {
  try {
    return canonicalizeIntegers(body, MAX_RECORD_DEPTH - 1)
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error
    throw new RecordUnwritable(unwritable[error.reason])
  }
}

const unwritable: { readonly [R in NotCanonical["reason"]]: string } = {
  number: "a number in the body is not an integer within ±(2^53 - 1). Write fractions as text",
  surrogate: "a text in the body holds a lone surrogate",
  type: "the body holds a value that is not JSON; leave absent members out",
  depth: `more than ${MAX_RECORD_DEPTH} containers are open at once`,
  size: "the body is too long"
}
