/**
 * The records that replay rules read, and the documents that they build. Plain data: these files import nothing but
 * evidence and each other.
 */

/** A JSON value as documents and bodies hold it. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonMap
/** A JSON object. */
export type JsonMap = { readonly [name: string]: Json }

/**
 * Content of one part of a record, as far as it is known. `withheld`: it exists, but not here. `missing`: it should be
 * here and nothing says why it is not.
 */
export type PartContent =
  | { readonly state: "present"; readonly bytes: Uint8Array }
  | { readonly state: "erased" }
  | { readonly state: "withheld" }
  | { readonly state: "missing" }

/** A record as the fold reads it. */
export interface ReplayRecord {
  readonly seq: number
  readonly kind: string
  readonly body: JsonMap
  /** Every part that the record names. */
  readonly parts: ReadonlyMap<string, PartContent>
}

/** The document that the records say there is. */
export interface ExpectedDocument {
  readonly collection: string
  readonly id: string
  readonly body: JsonMap
  /** The value of each unique look-up key. */
  readonly unique: { readonly [key: string]: string }
  /** Members of a part that is withheld or missing here: they are not compared. */
  readonly unknown: ReadonlyArray<string>
  /** Members whose part was erased: the document must hold the scrubbed value. */
  readonly erased: ReadonlyArray<string>
  /** Members that come from a part: what a person wrote or is called. Their values are never shown. */
  readonly personal: ReadonlyArray<string>
}

/** A disagreement between documents and records. `expected` and `found` never show content of a part. */
export interface Difference {
  readonly collection: string
  readonly id: string
  /** A JSON pointer into the document; empty for the document as a whole. */
  readonly path: string
  readonly expected: string
  readonly found: string
}
