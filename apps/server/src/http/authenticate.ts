/** Finds out who is calling. Tokens are told apart by shape: one with a dot is a JWT, any other an ingest key. Spec: document 1 section 5. */
import { Forbidden, type Role, roles, type TokenClaims, Unauthorized } from "@flyball/contract"
import { IngestKeys, type StorageCorrupt, type StorageUnavailable } from "@flyball/core"
import { Clock, Effect } from "effect"
import type { KnownCaller } from "./caller.ts"

/** Whoever can tell good JWTs from bad ones: the development issuer now, an organisation's issuer later. */
export interface TokenVerifier {
  readonly issuer: string
  /** The claims of a token that is genuine, meant for us and not over; null for any other. */
  readonly verify: (token: string, nowMs: number) => Promise<TokenClaims | null>
}

/** Longer tokens are refused unread. */
const MAX_TOKEN_CHARACTERS = 8_192

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** The token of an Authorization header; null when there is none of the form `Bearer <token>`. */
export const bearerToken = (header: string | undefined): string | null => {
  const token = header === undefined || header.length > MAX_TOKEN_CHARACTERS ? undefined : BEARER.exec(header)?.[1]
  return token ?? null
}

/**
 * The caller behind an Authorization header. Its org unit is in NFC, as stored ones are: elsewhere they are compared by bytes.
 *
 * - Fails: `Unauthorized` for every token that opens nothing, whatever the reason; `Forbidden` for a person without a role here.
 */
export const authenticate = Effect.fnUntraced(function*(
  header: string | undefined,
  verifier: TokenVerifier | null
): Effect.fn.Return<KnownCaller, Unauthorized | Forbidden | StorageUnavailable | StorageCorrupt, IngestKeys> {
  const token = bearerToken(header)
  if (token === null) return yield* new Unauthorized()
  if (!token.includes(".")) {
    const keys = yield* IngestKeys
    return { kind: "key", ...(yield* keys.authenticate(token)) }
  }
  if (verifier === null) return yield* new Unauthorized()
  const nowMs = yield* Clock.currentTimeMillis
  const claims = yield* Effect.promise(() => verifier.verify(token, nowMs))
  if (claims === null) return yield* new Unauthorized()
  const role = strongest(claims.roles)
  if (role === null) return yield* new Forbidden({ need: "one of the service's roles" })
  return { kind: "user", issuer: verifier.issuer, subject: claims.sub, role, orgUnit: claims.org_unit.normalize("NFC") }
})

const strongest = (names: ReadonlyArray<string>): Role | null => roles.find((role) => names.includes(role)) ?? null
