/**
 * Which keys of an issuer's key set can verify a token. The others are ignored, so that one bad key costs no other its
 * tokens.
 */
import { importJWK, type JSONWebKeySet, type JWK } from "jose"

/** The least size of an RSA modulus. Unit: bits. Spec: RFC 7518 sections 3.3 and 3.5. */
export const MIN_RSA_BITS = 2_048

/** A key that is ignored, and why. */
export interface IgnoredKey {
  readonly kid: string | null
  readonly reason: string
  readonly jwk: JWK
}

/** Separates the keys of a set that can be used from those that are too weak or cannot be read. */
export const usableKeys = async ({
  keys
}: JSONWebKeySet): Promise<{
  readonly usable: JSONWebKeySet
  readonly ignored: ReadonlyArray<IgnoredKey>
}> => {
  const usable: Array<JWK> = []
  const ignored: Array<IgnoredKey> = []
  for (const jwk of keys) {
    const reason = await problemOf(jwk)
    if (reason === null) usable.push(jwk)
    else ignored.push({ kid: typeof jwk.kid === "string" ? jwk.kid : null, reason, jwk })
  }
  return { usable: { keys: usable }, ignored }
}

const problemOf = async (jwk: JWK): Promise<string | null> => {
  const alg = algorithmOf(jwk)
  // No token can name it: it is for encryption, or for an algorithm that is not taken.
  if (alg === null) return null
  const key = await importJWK(jwk, alg).catch(() => null)
  if (key === null) return "it cannot be read"
  if (key instanceof Uint8Array || key.type !== "public") return "it is not a public key"
  return jwk.kty === "RSA" ? rsaProblem(key.algorithm as typeof key.algorithm & RsaParameters) : null
}

const rsaProblem = ({ modulusLength, publicExponent }: RsaParameters): string | null => {
  if (modulusLength < MIN_RSA_BITS)
    return `it is too weak: RSA with ${modulusLength} bits, at least ${MIN_RSA_BITS} are expected`
  const exponent = Buffer.from(publicExponent).toString("hex").replace(/^0+/, "")
  // With 1 a signature is the padded message itself, which anybody can write.
  return exponent === "1" || !/[13579bdf]$/.test(exponent)
    ? "it is too weak: RSA with an exponent that is 1 or even"
    : null
}

interface RsaParameters {
  readonly modulusLength: number
  readonly publicExponent: Uint8Array
}

/** The algorithm to read a key with; null where it verifies no token that is taken. */
const algorithmOf = ({ alg, crv, key_ops: operations, kty, use }: JWK): string | null => {
  if (use !== undefined && use !== "sig") return null
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return null
  const fitting =
    kty === "RSA"
      ? ["RS256", "PS256"]
      : kty === "EC" && crv === "P-256"
        ? ["ES256"]
        : kty === "OKP" && crv === "Ed25519"
          ? ["EdDSA"]
          : []
  return (alg === undefined ? fitting[0] : fitting.find((one) => one === alg)) ?? null
}
