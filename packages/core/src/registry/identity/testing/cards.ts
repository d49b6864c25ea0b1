/** Keys and signed cards for tests. Every key here is public. */
import { generateKeyPairSync, sign } from "node:crypto"
import { canonicalBytes, type JsonObject, portableCrypto, toBase64, utf8 } from "@flyball/evidence"
import { toBase64url } from "@flyball/rules"
import type { TrustedKey } from "@flyball/rules"

/** A key pair of a test: what the trust store holds of it, and how it signs. */
export interface TestKey {
  readonly trusted: TrustedKey
  readonly sign: (message: Uint8Array) => Uint8Array
}

const always = { notBeforeMs: null, expiresAtMs: null, revoked: false, agents: null } as const

/** An Ed25519 key made of a number. */
export const ed25519Key = (keyId: string, number = 1, more: Partial<TrustedKey> = {}): TestKey => {
  const seed = new Uint8Array(32).fill(number)
  return {
    trusted: {
      keyId,
      thumbprint: `thumb-${keyId}`,
      alg: "EdDSA",
      publicKey: portableCrypto.ed25519PublicKey(seed),
      ...always,
      ...more
    },
    sign: (message) => portableCrypto.ed25519Sign(seed, message)
  }
}

/** A fresh P-256 key. */
export const es256Key = (keyId: string, more: Partial<TrustedKey> = {}): TestKey => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x, y } = publicKey.export({ format: "jwk" })
  return {
    trusted: {
      keyId,
      thumbprint: `thumb-${keyId}`,
      alg: "ES256",
      publicKey: Uint8Array.from([4, ...Buffer.from(x!, "base64url"), ...Buffer.from(y!, "base64url")]),
      ...always,
      ...more
    },
    sign: (message) => Uint8Array.from(sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" }))
  }
}

/** A small card without members that are left out of what is signed. */
export const cardOf = (name: string): JsonObject => ({
  name,
  description: "Pays invoices",
  version: "1.0.0",
  capabilities: { streaming: false },
  defaultInputModes: ["text/plain"],
  skills: [{ id: "pay", name: "Pay", description: "Pays", tags: [] }]
})

/** How a test bends a signature of an A2A card. */
export interface Bent {
  readonly header?: { readonly [name: string]: unknown }
  /** The header as this text, in place of the JSON of `header`. */
  readonly headerText?: string
  readonly payload?: Uint8Array
}

/** An entry of `signatures` over a card. */
export const signatureOf = (card: JsonObject, { sign: signs, trusted }: TestKey, bent: Bent = {}): JsonObject => {
  const head = toBase64url(
    utf8(bent.headerText ?? JSON.stringify({ alg: trusted.alg, kid: trusted.keyId, typ: "JOSE", ...bent.header }))
  )
  return {
    protected: head,
    signature: toBase64url(signs(utf8(`${head}.${toBase64url(bent.payload ?? canonicalBytes(card))}`)))
  }
}

/** The bytes of an A2A card with a signature of each key. */
export const a2aCard = (card: JsonObject, ...keys: ReadonlyArray<TestKey>): Uint8Array =>
  utf8(JSON.stringify({ ...card, signatures: keys.map((key) => signatureOf(card, key)) }))

/** A card whose bytes are signed, as it is sent. */
export const detachedCard = (card: Uint8Array, { sign: signs, trusted }: TestKey) => ({
  card: toBase64(card),
  signature: toBase64(signs(card)),
  key_id: trusted.keyId
})
