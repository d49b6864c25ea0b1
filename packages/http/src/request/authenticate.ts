/**
 * Authenticates the caller. Tokens are distinguished by shape: one with a dot is a JWT, `fb_live_…` a platform
 * key, any other an ingest key. Spec:
 * document 1 section 5.
 */
import { Forbidden, Unauthorized } from "@flyball/contract"
import {
  AccessMapping,
  grantsOf,
  IngestKeys,
  type MappingDocument,
  PLATFORM_KEY_PREFIX,
  PlatformKeys,
  type StorageCorrupt,
  type StorageUnavailable
} from "@flyball/core"
import { Clock, Effect } from "effect"
import type { KnownCaller } from "./caller.ts"
import type { HostAuthenticate } from "./host-authentication.ts"
import { IssuerUnavailable } from "./issuer-unavailable.ts"
import type { TokenProblem } from "./token-problem.ts"

/** Claims about a person in a verified token. Spec: document 1 section 5, item 7; decision 0016. */
export interface PersonClaims {
  readonly subject: string
  readonly name: string | null
  /** Only where the issuer says that it is theirs. */
  readonly email?: string | null
  readonly roles: ReadonlyArray<string>
  readonly groups: ReadonlyArray<string>
  /** Values that `user_ids` of a rule is compared with. */
  readonly userIds: ReadonlyArray<string>
  /** The org unit in which role names of ours count; null for every one. */
  readonly orgUnit: string | null
  /** Claims that lack values, each with what it lacks: `groups: overage`. Left out where the verifier cannot tell. */
  readonly incomplete?: ReadonlyArray<string>
}

/**
 * Verifies JWTs: an organisation's issuer, or the development issuer on a loopback address. Spec: document 1 section 5,
 * item 2; decision 0016.
 */
export interface TokenVerifier {
  readonly issuer: string
  /** The service's own role names in its tokens count without the mapping. */
  readonly trustsCanonical: boolean
  /** Its people only read, whatever their roles: for the demo. */
  readonly readOnly?: boolean
  /**
   * The claims of a token that is genuine, meant for us and not over; for any other, the check that it fails. Rejects
   * with `IssuerUnavailable` when that cannot be found out.
   */
  readonly verify: (token: string, nowMs: number) => Promise<PersonClaims | TokenProblem>
  /** Fetches the keys before the first token needs them. Null when they are there; else why not. */
  readonly fetchKeys?: (nowMs: number) => Promise<string | null>
}

/** Options of authentication, besides what is stored. Spec: document 1 section 5; decision 0016. */
export interface Access {
  readonly verifier: TokenVerifier | null
  /** The rule that counts while no mapping is set; null for none. */
  readonly bootstrap: MappingDocument["rules"][number] | null
  /** The caller of requests without a token; null where they are refused. */
  readonly visitor: KnownCaller | null
  /** The host's own authentication, which then counts in the place of `verifier`. */
  readonly host?: HostAuthenticate | null
}

/** Node's bound of a request's head, which answers 431 first; a host may allow more. Unit: characters. */
const MAX_HEADER_CHARACTERS = 16_384

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** The token of an Authorization header; null when there is none of the form `Bearer <token>`. */
export const bearerToken = (header: string | undefined): string | null => {
  const token = header === undefined || header.length > MAX_HEADER_CHARACTERS ? undefined : BEARER.exec(header)?.[1]
  return token ?? null
}

/**
 * The caller behind an Authorization header.
 *
 * - Fails: `Unauthorized` for every token that opens nothing, with the reason for the log; `Forbidden` for a person
 *   without a role here, naming claims that are incomplete; `IssuerUnavailable`.
 */
export const authenticate = (
  header: string | undefined,
  access: Access
): Effect.Effect<
  KnownCaller,
  Unauthorized | Forbidden | IssuerUnavailable | StorageUnavailable | StorageCorrupt,
  AccessMapping | IngestKeys | PlatformKeys
> => {
  if (header === undefined && access.visitor !== null) return Effect.succeed(access.visitor)
  const token = bearerToken(header)
  if (token === null) return Effect.fail(new Unauthorized(headerProblem(header)))
  if (token.includes(".")) return person(token, access)
  if (token.startsWith(PLATFORM_KEY_PREFIX))
    return PlatformKeys.use((keys) =>
      Effect.map(keys.authenticate(token), (holder) => ({ kind: "platform", ...holder }) as const)
    )
  return IngestKeys.use((keys) =>
    Effect.map(
      keys.authenticate(token),
      ({ maxTier, orgUnit, writer }) => ({ kind: "key", writer, orgUnit, maxTier }) as const
    )
  )
}

const headerProblem = (header: string | undefined): { readonly problem?: TokenProblem } =>
  header === undefined ? {} : { problem: header.length > MAX_HEADER_CHARACTERS ? "size" : "form" }

const person = Effect.fnUntraced(function* (token: string, { bootstrap, verifier }: Access) {
  if (verifier === null) return yield* new Unauthorized({ problem: "issuer" })
  const nowMs = yield* Clock.currentTimeMillis
  const claims = yield* Effect.tryPromise({
    try: () => verifier.verify(token, nowMs),
    catch: (cause) => (cause instanceof IssuerUnavailable ? cause : new IssuerUnavailable({ reason: String(cause) }))
  })
  if (typeof claims === "string") return yield* new Unauthorized({ problem: claims })
  const stored = yield* (yield* AccessMapping).current
  const unset = stored.rules.length === 0 && !stored.trustCanonical
  const mapping = {
    rules: unset && bootstrap !== null ? [bootstrap] : stored.rules,
    trustCanonical: stored.trustCanonical || verifier.trustsCanonical
  }
  const grants = grantsOf(mapping, normalised(claims), claims.orgUnit?.normalize("NFC") ?? "*")
  const { incomplete = [] } = claims
  if (grants.length === 0)
    return yield* new Forbidden({ need: "a role, and the access mapping assigns none to this person", incomplete })
  return {
    kind: "user",
    issuer: verifier.issuer,
    subject: claims.subject,
    grants,
    name: claims.name,
    email: claims.email ?? null,
    ...(incomplete.length === 0 ? {} : { incomplete }),
    ...(verifier.readOnly === true ? { readOnly: true } : {})
  } as const
})

/** In NFC, as rules and org units are stored: they are compared by bytes. */
const normalised = ({ groups, roles, userIds }: PersonClaims) => {
  const nfc = (values: ReadonlyArray<string>): ReadonlyArray<string> => values.map((value) => value.normalize("NFC"))
  return { roles: nfc(roles), groups: nfc(groups), userIds: nfc(userIds) }
}
