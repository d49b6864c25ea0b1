/** JSON as values. */

/** A JSON value as our own records and documents hold it: no `undefined`, no class instances. */
export type JsonValue = null | boolean | number | string | ReadonlyArray<JsonValue> | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue }

/**
 * A value of a caller that has no exact RFC 8785 form, kept as the bytes that were received. Spec: format 1 section 3;
 * decision 0009.
 */
export class RawJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
