/**
 * The organisation's OpenID provider: finds its keys, and tells its good tokens from all others.
 *
 * Keys are found by discovery and kept for {@link KEEP_MS}. Address and keys are fetched again after that, and before
 * it where a token names a key that is not
 * known, at most once in {@link COOLDOWN_MS}: a provider may move its keys. What cannot be checked is not let in. Spec:
 * document 1 section 5; api.md "Who may call".
 */
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from "jose"
import type { PersonClaims, TokenVerifier } from "../request/authenticate.ts"
import { IssuerUnavailable } from "../request/issuer-unavailable.ts"
import type { TokenProblem } from "../request/token-problem.ts"
import { type ClaimPlace, claimText, readClaim } from "./claims.ts"
import { fetchKeys } from "./discover.ts"
import { tokenProblemOf } from "./token-problem.ts"
import { type IgnoredKey, usableKeys } from "./usable-keys.ts"

/** The trusted issuer, and the claims to read from its tokens. */
export interface OidcOptions {
  /** Exactly as its tokens name it. */
  readonly issuer: string
  /** One of a token's audiences must be this. */
  readonly audience: string
  readonly roles: ClaimPlace
  readonly groups: ClaimPlace
  /** Receives each key that is too weak or cannot be read, once for as long as the issuer publishes it. */
  readonly onIgnoredKey?: (key: IgnoredKey) => void
}

/**
 * Signature algorithms that are taken. No secret is shared with the issuer, so none that begins with HS; `none` is no
 * algorithm.
 */
export const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
/** How far the clocks of issuer and host may be apart. Unit: seconds. */
export const CLOCK_TOLERANCE_SECONDS = 30
/** Minimum time between two requests to the issuer, whatever tokens name. Unit: milliseconds. Spec: decision 0016. */
export const COOLDOWN_MS = 10_000
/**
 * The keys and their address are fetched again after this, so that a withdrawn key ends. Unit: milliseconds. Spec:
 * decision 0016.
 */
export const KEEP_MS = 300_000

/**
 * The verifier of an organisation's issuer. `fetchKeys`, or else the first token, causes the first request to it. Spec:
 * document 1 section 5, item 7; decision 0016.
 */
export const oidcIssuer = (options: OidcOptions): TokenVerifier => {
  const keys = keysOf(options)
  return {
    issuer: options.issuer,
    trustsCanonical: false,
    fetchKeys: (nowMs) =>
      keys.at(nowMs).then(
        () => null,
        (cause: unknown) =>
          cause instanceof IssuerUnavailable ? cause.reason : cause instanceof Error ? cause.message : String(cause)
      ),
    verify: async (token, nowMs) => {
      const read = async ({ find }: FoundKeys): Promise<PersonClaims | TokenProblem> => {
        const { payload } = await jwtVerify(token, find, {
          issuer: options.issuer,
          audience: options.audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["exp", "sub"],
          currentDate: new Date(nowMs)
        })
        return personOf(payload, options)
      }
      try {
        const found = await keys.at(nowMs)
        return await read(found).catch(async (cause: unknown) => {
          const newer = cause instanceof errors.JWKSNoMatchingKey ? await keys.newerThan(found, nowMs) : found
          if (newer === found) throw cause
          return read(newer)
        })
      } catch (cause) {
        // A key that could not be fetched is another fault than an invalid token.
        const problem = cause instanceof errors.JOSEError && isUnreachable(cause) ? null : tokenProblemOf(cause)
        if (problem !== null) return problem
        throw cause instanceof IssuerUnavailable
          ? cause
          : new IssuerUnavailable({ reason: cause instanceof Error ? cause.message : String(cause) })
      }
    }
  }
}

/** True when the issuer's keys cannot be read. */
const isUnreachable = (cause: errors.JOSEError): boolean =>
  cause instanceof errors.JWKSInvalid || cause.code === errors.JOSEError.code

/** The issuer's keys as they were at a time. */
interface FoundKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>
  readonly atMs: number
}

/**
 * The issuer's keys: fetched at the first token, and again after a failure, but not for every token that comes
 * meanwhile.
 */
const keysOf = ({ issuer, onIgnoredKey }: OidcOptions) => {
  let current: FoundKeys | null = null
  let asking: Promise<FoundKeys> | null = null
  let requestedAtMs = 0
  /** Ignored keys of the issuer's current key set, which were reported already. */
  let reported: ReadonlySet<string> = new Set()

  /**
   * Keys that are good yet stay until there are newer ones: a caller that invents key ids while the issuer is away
   * must not lock everybody out.
   */
  const ask = (nowMs: number): Promise<FoundKeys> => {
    if (asking !== null) return asking
    requestedAtMs = nowMs
    return (asking = found(nowMs)
      .then((keys) => (current = keys))
      .finally(() => (asking = null)))
  }
  const found = async (nowMs: number): Promise<FoundKeys> => {
    const jwks = await fetchKeys(issuer)
    // Refuses what is not a key set.
    createLocalJWKSet(jwks)
    const { ignored, usable } = await usableKeys(jwks)
    const known = reported
    reported = new Set(ignored.map(({ jwk }) => JSON.stringify(jwk)))
    for (const key of ignored) if (!known.has(JSON.stringify(key.jwk))) onIgnoredKey?.(key)
    return { find: createLocalJWKSet(usable), atMs: nowMs }
  }
  const isYounger = (atMs: number, nowMs: number, thanMs: number): boolean => nowMs >= atMs && nowMs - atMs < thanMs

  return {
    at: (nowMs: number): Promise<FoundKeys> =>
      current !== null && isYounger(current.atMs, nowMs, KEEP_MS) ? Promise.resolve(current) : ask(nowMs),
    /**
     * Returns the keys that another call has fetched since, or fetches them now; `old` itself where the last request is
     * recent.
     */
    newerThan: (old: FoundKeys, nowMs: number): Promise<FoundKeys> => {
      if (current !== null && current !== old) return Promise.resolve(current)
      return asking === null && isYounger(requestedAtMs, nowMs, COOLDOWN_MS) ? Promise.resolve(old) : ask(nowMs)
    }
  }
}

const personOf = (payload: JWTPayload, options: OidcOptions): PersonClaims | TokenProblem => {
  const subject = claimText(payload.sub)
  if (subject === null) return "subject"
  const roles = readClaim(payload, options.roles)
  const groups = readClaim(payload, options.groups)
  // An address counts as a name only where the issuer says that it is theirs.
  const address = payload["email_verified"] === true ? claimText(payload["email"]) : null
  return {
    subject,
    name: claimText(payload["name"]) ?? claimText(payload["preferred_username"]),
    email: address,
    roles: roles.values,
    groups: groups.values,
    userIds: address === null ? [subject] : [subject, address],
    orgUnit: null,
    incomplete: Object.entries({ roles, groups }).flatMap(([claim, { problem }]) =>
      problem === null ? [] : [`${claim}: ${problem}`]
    )
  }
}
