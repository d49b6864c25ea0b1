/**
 * Reads an agent card out of the bytes that somebody sent, and the signatures on it. Pure; believes nothing of it yet.
 */
import { canonicalize, fromBase64, type JsonObject, type JsonValue, readJson, utf8 } from "@flyball/evidence"
import { fromBase64url, toBase64url } from "./base64url.ts"
import { isObject, signedForm } from "./signed-form.ts"

/** Signatures that one card may carry: a handful of issuers and the keys they rotate. */
export const MAX_SIGNATURES = 16

/** Accepted algorithms. Ed25519 is the only curve of `EdDSA` here. Spec: decision 0015. */
export type CardAlg = "EdDSA" | "ES256"

/** A card as it was sent. */
export interface SentCard {
  readonly card: Uint8Array
  /** The signature over the card's bytes; null for an A2A card, which carries its own. */
  readonly detached: { readonly signature: Uint8Array; readonly key: KeyChoice } | null
}

/**
 * How a signature names its key. A public key is only a way to find the entry of the trust store that holds the same
 * one.
 */
export type KeyChoice = { readonly keyId: string } | { readonly publicKey: Uint8Array }

/** One signature: its claimed key and algorithm, and the bytes to check. Spec: decision 0015. */
export interface Claim {
  /** Null for an algorithm that is not taken, `none` among them. */
  readonly alg: CardAlg | null
  readonly key: KeyChoice
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** A card that could be read. Nothing in it is proven yet. */
export interface ReadCard {
  readonly name: string
  readonly claims: ReadonlyArray<Claim>
}

/**
 * Reads a card; null when it is malformed: no JSON object with a `name`, a member that stands twice, something without
 * an exact form, and for an A2A card
 * no signatures, one of another shape, or a member outside the signed schema.
 *
 * - Spec: document 1 section 2, `IdentityIn`; A2A 1.0 section 8.4; RFC 7515 section 4. Decision 0015.
 */
export const readCard = ({ card, detached }: SentCard): ReadCard | null => {
  const object = exactObject(card)
  const name = object?.["name"]
  if (object === null || typeof name !== "string" || name === "") return null
  if (detached !== null)
    return { name, claims: [{ alg: "EdDSA", key: detached.key, message: card, signature: detached.signature }] }
  const signed = signedForm(object)
  const signatures = object["signatures"]
  if (signed === null || !Array.isArray(signatures) || signatures.length < 1 || signatures.length > MAX_SIGNATURES)
    return null
  const payload = toBase64url(utf8(canonicalize(signed)))
  const claims = signatures.map((entry: JsonValue) => readSignature(entry, payload))
  return claims.includes(null) ? null : { name, claims: claims as ReadonlyArray<Claim> }
}

/**
 * An entry of `signatures`; null when it has another shape. Only what its protected header says counts: a `jku`, `jwk`
 * or `x5c` there names no key of ours.
 */
const readSignature = (entry: JsonValue, payload: string): Claim | null => {
  if (
    !isObject(entry) ||
    Object.keys(entry).some((name) => name !== "protected" && name !== "signature" && name !== "header")
  )
    return null
  const { header: free, protected: head, signature: text } = entry
  if (typeof head !== "string" || typeof text !== "string") return null
  const bytes = fromBase64url(head)
  const signature = fromBase64url(text)
  const header = bytes === null ? null : exactObject(bytes)
  if (header === null || signature === null || !hasNoOther(header, free)) return null
  const { alg, kid } = header
  // What is critical must be understood, and nothing is.
  if (typeof alg !== "string" || typeof kid !== "string" || Object.hasOwn(header, "crit")) return null
  return { alg: algOf(alg), key: { keyId: kid }, message: utf8(`${head}.${payload}`), signature }
}

/**
 * True when the unprotected header is absent, or an object that repeats no name of the protected one. Spec: RFC 7515
 * section 4.
 */
const hasNoOther = (header: JsonObject, free: JsonValue | undefined): boolean =>
  free === undefined || (isObject(free) && Object.keys(free).every((name) => !Object.hasOwn(header, name)))

/** RFC 9864 gave EdDSA over this curve a name of its own. */
const algOf = (alg: string): CardAlg | null =>
  alg === "EdDSA" || alg === "Ed25519" ? "EdDSA" : alg === "ES256" ? alg : null

/** The object that some bytes write in JSON and that loses nothing when it is read; null for anything else. */
const exactObject = (bytes: Uint8Array): JsonObject | null => {
  const read = readJson(bytes, { keepRaw: () => true })
  return read.ok && isPlain(read.value) ? (read.value as JsonObject) : null
}

/** A value without an exact form is an instance of a class. */
const isPlain = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null) &&
  !Array.isArray(value)

/** Base64 of a member of `signed_card`; the contract has checked its form. */
export const sentBytes = (text: string): Uint8Array => fromBase64(text) ?? new Uint8Array(0)
