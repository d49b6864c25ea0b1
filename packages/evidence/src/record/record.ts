/** Type of a record, and the bounds that its writer and every reader enforce. Spec: format 1 section 1. */
import { hexValue } from "../bytes.ts"
import type { JsonObject } from "../json/value.ts"

/** Bytes of the longest record. It bounds a verifier's line; bigger content is a part. Spec: format 1 section 1.1. */
export const MAX_RECORD_BYTES = 65_536
/** The format version that records state as `v`. Spec: format 1 section 1. */
export const RECORD_VERSION = 1
/** `prev` of record 0. Spec: format 1 section 1. */
export const NO_RECORD = "0".repeat(64)

/** A commitment to a part, as a record carries it. Spec: format 1 sections 1 and 3. */
export interface PartCommitment {
  /** 64 lower-case hex digits. */
  readonly c: string
  readonly name: string
}

/** A record as values, for reading only: hashes are checked over the bytes. Spec: format 1 section 1. */
export interface RecordView {
  readonly at: string
  readonly atMs: number
  readonly body: JsonObject
  readonly kind: string
  readonly parts: ReadonlyArray<PartCommitment>
  readonly prev: string
  readonly seq: number
  readonly v: number
}

/** Codes of errors inside one record. Spec: format 1 section 6. */
export type RecordCode = "E_NONCANONICAL" | "E_LIMIT" | "E_VERSION" | "E_TIME"

/** Problem with a record, in the terms of a finding. */
export interface RecordProblem {
  readonly code: RecordCode
  readonly expected: string
  readonly found: string
}

/** Names of kinds. */
export const kindForm = /^[a-z][a-z0-9_.]{2,63}$/
/** Names of parts. */
export const partNameForm = /^[a-z][a-z0-9_]{0,31}$/
/**
 * True for a hash or a commitment: 64 lower-case hex digits. A loop, since it runs three or four times for every record
 * written.
 */
export const isHashText = (text: string): boolean => {
  if (text.length !== 64) return false
  for (let i = 0; i < 64; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x66 || hexValue[code]! > 15) return false
  }
  return true
}
