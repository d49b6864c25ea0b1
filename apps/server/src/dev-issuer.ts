/**
 * The development issuer: vouches for people on a loopback address, where no organisation's issuer is configured.
 *
 * An Ed25519 key in the data folder signs tokens of 15 minutes, and checks them. It never leaves the host; anyone who
 * can read the file is admin.
 *
 * Spec: api.md, "Who may call".
 */
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type Role, TokenClaims } from "@flyball/contract"
import type { TokenVerifier } from "@flyball/http/server"
import { Result, Schema } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from "jose"

/** The issuer of the tokens. Fixed, so that a person keeps a pseudonym when the key is replaced. */
export const DEV_ISSUER = "flyball.local/development-issuer"
/** Whom the tokens are for. */
export const DEV_AUDIENCE = "flyball"

/**
 * How long a token lives.
 *
 * - Unit: seconds, a quarter of an hour: longer than a script, shorter than a memory.
 */
export const TOKEN_SECONDS = 900

/** Claims of a requested token. */
export interface TokenRequest {
  readonly role: Role
  readonly subject: string
  /** `*` is every org unit. */
  readonly orgUnit: string
  /** How long it lives; {@link TOKEN_SECONDS} where nothing is said. */
  readonly seconds?: number
}

/** Signs tokens and checks them. */
export interface DevIssuer extends TokenVerifier {
  readonly sign: (request: TokenRequest, nowMs: number) => Promise<string>
}

const FILE = "dev-issuer.jwk"
const decodeClaims = Schema.decodeUnknownResult(TokenClaims)

/**
 * Opens the development issuer of a data folder, and makes its key first when there is none. Several processes end with
 * one key.
 */
export const openDevIssuer = async (dir: string): Promise<DevIssuer> => {
  const file = join(dir, FILE)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  return devIssuer((await readKey(file)) ?? (await makeKey(file)))
}

/** The development issuer of a private key; a new one, that lives as long as the process, without. */
export const devIssuer = async (key?: JWK): Promise<DevIssuer> => {
  const jwk = key ?? (await newKey())
  const { d: _secret, ...publicJwk } = jwk
  const privateKey = await importJWK(jwk, "EdDSA")
  const publicKey = await importJWK(publicJwk, "EdDSA")
  const kid = await calculateJwkThumbprint(publicJwk)
  return {
    issuer: DEV_ISSUER,
    trustsCanonical: true,
    sign: ({ orgUnit, role, seconds = TOKEN_SECONDS, subject }, nowMs) => {
      const now = Math.floor(nowMs / 1_000)
      return new SignJWT({ roles: [role], org_unit: orgUnit })
        .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid })
        .setIssuer(DEV_ISSUER)
        .setAudience(DEV_AUDIENCE)
        .setSubject(subject)
        .setIssuedAt(now)
        .setExpirationTime(now + seconds)
        .sign(privateKey)
    },
    verify: async (token, nowMs) => {
      try {
        const { payload } = await jwtVerify(token, publicKey, {
          issuer: DEV_ISSUER,
          audience: DEV_AUDIENCE,
          algorithms: ["EdDSA"],
          requiredClaims: ["exp", "sub", "roles", "org_unit"],
          currentDate: new Date(nowMs)
        })
        const claims = decodeClaims(payload)
        if (Result.isFailure(claims)) return "form"
        if (claims.success.sub === "" || claims.success.org_unit === "") return "subject"
        const { org_unit: orgUnit, roles, sub: subject } = claims.success
        return { subject, name: null, roles, groups: [], userIds: [subject], orgUnit }
      } catch (cause) {
        const { tokenProblemOf } = await import("@flyball/http/oidc")
        return tokenProblemOf(cause) ?? "form"
      }
    }
  }
}

const newKey = async (): Promise<JWK> =>
  exportJWK((await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })).privateKey)

const readKey = async (file: string): Promise<JWK | null> => {
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
  const key = parsed(text)
  if (key === null)
    throw new Error(
      `${file}: expected an Ed25519 private key as JWK. Delete the file to get a new key; its tokens expire within ` +
        `${TOKEN_SECONDS / 60} minutes.`
    )
  return key
}

const parsed = (text: string): JWK | null => {
  try {
    const key = JSON.parse(text) as JWK
    return key.kty === "OKP" && key.crv === "Ed25519" && typeof key.d === "string" && typeof key.x === "string"
      ? key
      : null
  } catch {
    return null
  }
}

/**
 * The first of two processes wins, and nobody reads half of it. Written as everything in the data folder is: another
 * process that opens it tidies half-made files away.
 */
const makeKey = async (file: string): Promise<JWK> => {
  const key = await newKey()
  // Only here: `flyball token` with a key that is there loads none of it.
  const { createFile } = await import("@flyball/node")
  if (await createFile(file, Buffer.from(`${JSON.stringify(key)}\n`), 0o600)) return key
  return (await readKey(file)) ?? makeKey(file)
}
