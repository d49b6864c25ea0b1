/** The options of a mounted API: plain values, which are checked before anything is opened. */
import { type Plan, plans } from "@flyball/contract"
import { GovernorError } from "@flyball/core"
import type { Access, TokenVerifier } from "./request/authenticate.ts"
import { readPrefix } from "./adapters/prefix.ts"
import type { HostAuthenticate } from "./request/host-authentication.ts"
import type { LogRequest } from "./log.ts"
import { isIssuerUrl } from "./oidc/issuer-url.ts"
import type { SurfaceOptions } from "./surface.ts"
import { version } from "./version.ts"

/** An organisation's OpenID provider. Spec: document 1 section 5, item 7; decision 0016. */
export interface OidcSettings {
  /** Exactly as its tokens name it in `iss`: https, or http on this host. */
  readonly issuer: string
  /** One of a token's audiences must be this. Default: `flyball`. */
  readonly audience?: string | undefined
  /** Where the roles are: a claim, a path into one with dots, or a JSON pointer. Default: `roles`. */
  readonly rolesClaim?: string | undefined
  /** Where the groups are. Default: `groups`. */
  readonly groupsClaim?: string | undefined
  /** The separator of values in a roles claim that is a text. Left out, a text is one value. */
  readonly rolesSeparator?: string | undefined
  readonly groupsSeparator?: string | undefined
}

/** Authentication of people. Ingest keys always come from the store. Spec: document 1 section 5. */
export type Authentication = { readonly oidc: OidcSettings } | { readonly authenticate: HostAuthenticate }

/** Options for mounting the API. */
export interface HttpOptions {
  /**
   * Authenticates people. Without it nobody is authenticated: requests with an ingest key, `GET /status` and `GET
   * /healthz` are answered, and everything else is 401.
   */
  readonly authentication?: Authentication | undefined
  /** Where the host mounts the API, such as `/flyball`. Left out: at the root. */
  readonly prefix?: string | undefined
  /** Adds the pages `/`, `/docs` and `/openapi.json`, which anyone may read. Default: false. */
  readonly pages?: boolean | undefined
  /** With `pages`: adds `/metrics`, for callers with this bearer token. Left out, nobody reads them over HTTP. */
  readonly metricsToken?: string | undefined
  /** Receives each finished request: no path, query, header or body. It must not throw. */
  readonly log?: LogRequest | undefined
  /** The plan of people who call the platform API with a session. Default: `enterprise`. */
  readonly planOfPeople?: Plan | undefined
  /** How long a reader may take nothing of an answer. Unit: milliseconds. Default: 60,000. */
  readonly stallMs?: number | undefined
  /** How long `close` waits for what is under way. Unit: milliseconds. Default: 10,000. */
  readonly closeMs?: number | undefined
}

const isMilliseconds = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 0x7fff_ffff

const checks: {
  readonly [K in keyof HttpOptions]-?: { readonly holds: (value: unknown) => boolean; readonly expected: string }
} = {
  authentication: {
    holds: (value) => typeof value === "object" && value !== null && "oidc" in value !== "authenticate" in value,
    expected: "{ oidc: { issuer } } or { authenticate: (request) => caller }"
  },
  prefix: { holds: (value) => typeof value === "string", expected: "a path, such as /flyball" },
  pages: { holds: (value) => typeof value === "boolean", expected: "true or false" },
  metricsToken: {
    holds: (value) => typeof value === "string" && value.length >= 16,
    expected: "a text of at least 16 characters"
  },
  log: { holds: (value) => typeof value === "function", expected: "a function" },
  planOfPeople: {
    holds: (value) => (plans as ReadonlyArray<unknown>).includes(value),
    expected: `one of ${plans.join(", ")}`
  },
  stallMs: { holds: isMilliseconds, expected: "a number of milliseconds" },
  closeMs: { holds: isMilliseconds, expected: "a number of milliseconds" }
}

const invalid = (message: string): never => {
  throw new GovernorError("invalid_option", message)
}

/**
 * Checks the options.
 *
 * - Fails: throws `GovernorError`, code `invalid_option`, for one that nothing can be done with, or that there is none
 *   of.
 */
export const readOptions = (options: HttpOptions): Omit<SurfaceOptions, "context" | "enter" | "isClosing"> => {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name))
      invalid(`There is no option \`${name.slice(0, 64)}\`. There are ${Object.keys(checks).join(", ")}.`)
    const { expected, holds } = checks[name as keyof HttpOptions]
    if (value !== undefined && value !== null && !holds(value)) invalid(`\`${name}\` is expected to be ${expected}.`)
  }
  return {
    access: accessOf(options.authentication ?? null),
    prefix: readPrefix(options.prefix),
    version,
    pages: options.pages ?? false,
    metricsToken: options.metricsToken ?? null,
    ...(options.log === undefined || options.log === null ? {} : { log: options.log }),
    ...(options.planOfPeople === undefined || options.planOfPeople === null
      ? {}
      : { planOfPeople: options.planOfPeople }),
    stallMs: options.stallMs ?? 60_000,
    closeMs: options.closeMs ?? 10_000
  }
}

const accessOf = (authentication: Authentication | null): Access => {
  const nobody = { verifier: null, bootstrap: null, visitor: null }
  if (authentication === null) return nobody
  if ("authenticate" in authentication) {
    if (typeof authentication.authenticate !== "function") invalid("`authenticate` is expected to be a function.")
    return { ...nobody, host: authentication.authenticate }
  }
  return { ...nobody, verifier: verifierOf(authentication.oidc) }
}

/** The verifier is loaded with the first token: a host without an issuer loads none of it. */
const verifierOf = (oidc: OidcSettings): TokenVerifier => {
  const { audience = "flyball", groupsClaim = "groups", groupsSeparator, issuer, rolesClaim = "roles" } = oidc ?? {}
  const { rolesSeparator } = oidc ?? {}
  if (typeof issuer !== "string" || !isIssuerUrl(issuer))
    invalid("`oidc.issuer` is expected to be an https URL, or http on this host.")
  for (const [name, value] of Object.entries({ audience, groupsClaim, rolesClaim }))
    if (typeof value !== "string" || value === "") invalid(`\`oidc.${name}\` is expected to be a text.`)
  for (const [name, value] of Object.entries({ groupsSeparator, rolesSeparator }))
    if (value !== undefined && value !== null && (typeof value !== "string" || value === ""))
      invalid(`\`oidc.${name}\` is expected to be a text.`)
  let made: Promise<TokenVerifier> | null = null
  const verifier = (): Promise<TokenVerifier> =>
    (made ??= import("./oidc/issuer.ts").then(({ oidcIssuer }) =>
      oidcIssuer({
        issuer,
        audience,
        roles: { path: rolesClaim, separator: rolesSeparator ?? null },
        groups: { path: groupsClaim, separator: groupsSeparator ?? null }
      })
    ))
  return {
    issuer,
    trustsCanonical: false,
    verify: async (token, nowMs) => (await verifier()).verify(token, nowMs)
  }
}
