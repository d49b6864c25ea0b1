/** Checks one signature by one key. */
import { type Crypto, verifyEd25519 } from "@flyball/evidence"
import { Effect } from "effect"
import type { Claim, TrustedKey } from "@flyball/rules"

/**
 * Reports whether a signature holds by this key.
 *
 * EdDSA goes through the strict rules of the evidence format: no small-order key, no second spelling of a signature.
 * ES256 is 64 bytes, both numbers in full;
 * of a signature and its mirror image both hold, as RFC 7518 has it and half of all signers write it.
 *
 * - Fails: never; what is malformed does not hold.
 */
export const holds = (crypto: Crypto, { message, signature }: Claim, key: TrustedKey): Effect.Effect<boolean> =>
  key.alg === "EdDSA"
    ? Effect.sync(() => verifyEd25519(crypto, key.publicKey, message, signature))
    : Effect.promise(() => verifyEs256(key.publicKey, message, signature).catch(() => false))

/** The platform's ECDSA: Node's is OpenSSL. It refuses points off the curve and numbers out of range. */
const verifyEs256 = async (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> => {
  if (signature.length !== ES256_BYTES || publicKey.length !== POINT_BYTES || publicKey[0] !== UNCOMPRESSED)
    return false
  const { subtle } = globalThis.crypto
  const key = await subtle.importKey("raw", Uint8Array.from(publicKey), { name: "ECDSA", namedCurve: "P-256" }, false, [
    "verify"
  ])
  return subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, Uint8Array.from(signature), Uint8Array.from(message))
}

const ES256_BYTES = 64
const POINT_BYTES = 65
const UNCOMPRESSED = 4
