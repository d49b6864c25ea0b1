/**
 * The organisation's OpenID provider: finds its keys, and tells its good tokens from all others.
 *
 * Keys are found by discovery, kept, and fetched again when a token names one that is not known, at most once in {@link COOLDOWN_MS}. What cannot be
 * checked is not let in. Spec: document 1 section 5; api.md "Who may call".
 */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose"
import type { PersonClaims, TokenVerifier } from "../http/authenticate.ts"
import { IssuerUnavailable } from "../http/issuer-unavailable.ts"
import { claimList, claimText } from "./claims.ts"
import { discover, REQUEST_MS } from "./discover.ts"

/** Whom to believe, and how its tokens are read. */
export interface OidcOptions {
  /** Exactly as its tokens name it. */
  readonly issuer: string
  /** One of a token's audiences must be this. */
  readonly audience: string
  /** Where the roles are: a claim, or a path into one with dots (`realm_access.roles`). */
  readonly rolesClaim: string
  readonly groupsClaim: string
}

/** Signature algorithms that are taken. No secret is shared with the issuer, so none that begins with HS; `none` is no algorithm. */
export const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
/** How far the clocks of issuer and host may be apart. Unit: seconds. */
export const CLOCK_TOLERANCE_SECONDS = 30
/** Keys are not fetched oftener than this, whatever tokens name. Unit: milliseconds. */
export const COOLDOWN_MS = 10_000
/** Keys are fetched again after this, so that one that was withdrawn ends. Unit: milliseconds. */
export const KEEP_MS = 300_000

/** The verifier of an organisation's issuer. Nothing is asked of it before the first token. */
export const oidcIssuer = (options: OidcOptions): TokenVerifier => {
  const keys = keysOf(options.issuer)
  return {
    issuer: options.issuer,
    trustsCanonical: false,
    verify: async (token, nowMs) => {
      const find = await keys()
      try {
        const { payload } = await jwtVerify(token, find, {
          issuer: options.issuer,
          audience: options.audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["exp", "sub"],
          currentDate: new Date(nowMs)
        })
        return personOf(payload, options)
      } catch (cause) {
        // Whatever is wrong with a token, its bearer learns only that it opens nothing; that its key could not be asked for is another matter.
        if (cause instanceof errors.JOSEError && !isUnreachable(cause)) return null
        throw new IssuerUnavailable({ reason: cause instanceof Error ? cause.message : String(cause) })
      }
    }
  }
}

const isUnreachable = (cause: errors.JOSEError): boolean =>
  cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid || cause.code === errors.JOSEError.code

/** The issuer's keys; found out at the first token, and again after a failure, but not for every token that comes meanwhile. */
const keysOf = (issuer: string) => {
  let found: Promise<ReturnType<typeof createRemoteJWKSet>> | null = null
  return () => {
    found ??= discover(issuer).then((url) => createRemoteJWKSet(url, { timeoutDuration: REQUEST_MS, cooldownDuration: COOLDOWN_MS, cacheMaxAge: KEEP_MS }))
    const mine = found
    mine.catch(() => {
      if (found === mine) found = null
    })
    return mine
  }
}

const personOf = (payload: JWTPayload, { groupsClaim, rolesClaim }: OidcOptions): PersonClaims | null => {
  const subject = claimText(payload.sub)
  if (subject === null) return null
  // An address counts as a name only where the issuer says that it is theirs.
  const address = payload["email_verified"] === true ? claimText(payload["email"]) : null
  return {
    subject,
    name: claimText(payload["name"]) ?? claimText(payload["preferred_username"]),
    email: address,
    roles: claimList(payload, rolesClaim),
    groups: claimList(payload, groupsClaim),
    userIds: address === null ? [subject] : [subject, address],
    orgUnit: null
  }
}
