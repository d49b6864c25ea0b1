/** Reads one file of the trust folder: a public key in PEM or as a JWK. Plain functions. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto"
import type { TrustedKey } from "@flyball/core"
import { fromUtf8, isStrictPublicKey, readJson, withoutMark } from "@flyball/evidence"
import { FolderProblem } from "./folder-problem.ts"

/** Form of a key id, which appears in records. */
export const keyIdForm = /^[A-Za-z0-9._:/@+-]{1,200}$/

/**
 * The key in a file called `name`.
 *
 * - `*.pem`: one SPKI public key. Its id is the file's name without the ending.
 * - `*.jwk`: one key as RFC 7517 has it. Its id is its `kid`, or the file's name without the ending. `nbf` and `exp` in
 *   seconds since 1970 and `revoked` as in
 *   OpenID Federation's historical keys; `flyball_agents` names the only agents that it vouches for.
 * - Fails: throws `FolderProblem`, with a sentence that shows nothing of the content.
 */
export const trustedKey = (file: string, name: string, bytes: Uint8Array): TrustedKey => {
  const stem = name.replace(/\.(pem|jwk)$/, "")
  const { jwk, key } = name.endsWith(".pem") ? pemKey(file, bytes) : jwkKey(file, bytes)
  const keyId = jwk["kid"] ?? stem
  if (typeof keyId !== "string" || !keyIdForm.test(keyId)) {
    throw new FolderProblem(
      file,
      "its key id is expected to be 1 to 200 of A-Z a-z 0-9 . _ : / @ + -. Rename the file, or give the JWK such a kid"
    )
  }
  return {
    keyId,
    ...publicKeyOf(file, key, jwk["alg"]),
    notBeforeMs: seconds(file, jwk, "nbf"),
    expiresAtMs: seconds(file, jwk, "exp"),
    revoked: isRevoked(jwk),
    agents: agentsOf(file, jwk)
  }
}

type Members = { readonly [name: string]: unknown }

const pemKey = (file: string, bytes: Uint8Array): { readonly key: KeyObject; readonly jwk: Members } => {
  const text = fromUtf8(bytes)?.trim() ?? ""
  if (/PRIVATE KEY/.test(text)) throw new FolderProblem(file, privateKey)
  // Checked here, since OpenSSL would also take a certificate, or the first of many.
  const isOne = /^-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+\r?\n-----END PUBLIC KEY-----$/.test(text)
  return {
    key: publicKey(
      file,
      isOne ? () => createPublicKey(text) : null,
      "one public key in PEM (BEGIN PUBLIC KEY) is expected"
    ),
    jwk: {}
  }
}

const jwkKey = (file: string, bytes: Uint8Array): { readonly key: KeyObject; readonly jwk: Members } => {
  const read = readJson(withoutMark(bytes))
  const jwk = (
    read.ok && typeof read.value === "object" && read.value !== null && !Array.isArray(read.value) ? read.value : {}
  ) as Members
  if (Object.hasOwn(jwk, "d") || Object.hasOwn(jwk, "k")) throw new FolderProblem(file, privateKey)
  const isForSigning =
    (jwk["use"] ?? "sig") === "sig" &&
    (!Object.hasOwn(jwk, "key_ops") || (Array.isArray(jwk["key_ops"]) && jwk["key_ops"].includes("verify")))
  const { crv, kty, x, y } = jwk as JsonWebKey
  const make =
    isForSigning && kty !== undefined
      ? () =>
          createPublicKey({
            key: {
              kty,
              ...(crv === undefined ? {} : { crv }),
              ...(x === undefined ? {} : { x }),
              ...(y === undefined ? {} : { y })
            },
            format: "jwk"
          })
      : null
  return {
    key: publicKey(
      file,
      make,
      "one JWK of a public key that is used for signatures is expected, as JSON without a member twice"
    ),
    jwk
  }
}

const privateKey =
  "it holds a secret key, and only public keys belong here. Take it away, and consider that key known to " +
  "all readers of this folder"

const publicKey = (file: string, make: (() => KeyObject) | null, expected: string): KeyObject => {
  try {
    if (make !== null) return make()
  } catch {
    // OpenSSL's message may quote the key.
  }
  throw new FolderProblem(file, `${expected}. Write it anew from the key's owner`)
}

/**
 * The bytes of a key of the two kinds that are taken, and its thumbprint. Spec: RFC 7638 section 3.2, RFC 8037 appendix
 * A.3.
 */
const publicKeyOf = (
  file: string,
  key: KeyObject,
  alg: unknown
): Pick<TrustedKey, "alg" | "publicKey" | "thumbprint"> => {
  const { crv, kty, x, y } = key.export({ format: "jwk" })
  const isEd25519 = kty === "OKP" && crv === "Ed25519"
  if (!isEd25519 && !(kty === "EC" && crv === "P-256"))
    throw new FolderProblem(
      file,
      "an Ed25519 or P-256 key is expected, and this is another kind. Sign cards with EdDSA or ES256"
    )
  const fits = alg === undefined || (isEd25519 ? alg === "EdDSA" || alg === "Ed25519" : alg === "ES256")
  if (!fits)
    throw new FolderProblem(
      file,
      `its alg does not fit a key of ${crv}. Write ${isEd25519 ? "EdDSA" : "ES256"}, or leave it out`
    )
  const bytes = (text: string | undefined): Uint8Array => Uint8Array.from(Buffer.from(text ?? "", "base64url"))
  const raw = isEd25519 ? bytes(x) : Uint8Array.from([4, ...bytes(x), ...bytes(y)])
  if (isEd25519 && !isStrictPublicKey(raw))
    throw new FolderProblem(file, "anybody can sign for this key: it is of small order, or not canonical. Take it away")
  const named = isEd25519 ? { crv, kty, x } : { crv, kty, x, y }
  return {
    alg: isEd25519 ? "EdDSA" : "ES256",
    publicKey: raw,
    thumbprint: createHash("sha256").update(JSON.stringify(named)).digest("base64url")
  }
}

const seconds = (file: string, jwk: Members, name: "nbf" | "exp"): number | null => {
  const value = jwk[name]
  if (value === undefined) return null
  if (typeof value !== "number" || !Number.isInteger(value) || !Number.isSafeInteger(value * 1_000) || value < 0)
    throw new FolderProblem(file, `${name} is expected to be a whole number of seconds since 1970`)
  return value * 1_000
}

/** Whatever it says of when: a signature has no time that one could believe. */
const isRevoked = (jwk: Members): boolean =>
  Object.hasOwn(jwk, "revoked") && jwk["revoked"] !== false && jwk["revoked"] !== null

const agentsOf = (file: string, jwk: Members): ReadonlyArray<string> | null => {
  const value = jwk["flyball_agents"]
  if (value === undefined) return null
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string"))
    throw new FolderProblem(file, "flyball_agents is expected to be a list of names of agents")
  return (value as ReadonlyArray<string>).map((name) => name.normalize("NFC"))
}
