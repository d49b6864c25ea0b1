/**
 * Every setting of the server, as one table: name, default, how its text is read, whether it is secret.
 *
 * Spec: issue "record, prove, verify" item 5: one typed settings table, validated at start, `*_FILE` for secrets; the README prints it.
 */

import type { MappingClaim } from "@flyball/contract"
import { isIssuerUrl } from "../oidc/issuer-url.ts"

/** What reading one value gives. */
export type Parsed<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly expected: string }

/** One row of the table. */
export interface Setting<A> {
  readonly name: string
  /** The text that stands in when the variable is not set; null when there is none. */
  readonly fallback: string | null
  readonly parse: (text: string) => Parsed<A>
  /** A secret may also come from the file that `<name>_FILE` names. */
  readonly secret: boolean
  /** How `flyball config` shows the value. */
  readonly show: (text: string) => string
  readonly meaning: string
}

const ok = <A>(value: A): Parsed<A> => ({ ok: true, value })
const no = (expected: string): Parsed<never> => ({ ok: false, expected })
const plain = (text: string): string => text

/** Where the store is. */
export type DatabaseLocation =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "memory" }
  | { readonly kind: "postgres"; readonly url: string }

const parseDatabaseUrl = (text: string): Parsed<DatabaseLocation> => {
  if (text === "sqlite::memory:") return ok({ kind: "memory" })
  if (text.startsWith("sqlite:")) {
    // sqlite:///srv/x.db is how other programs write /srv/x.db; sqlite://x.db would silently mean a file in the root folder.
    const file = text.slice("sqlite:".length).replace(/^\/\/\//, "/")
    return file === "" || file.startsWith(":") || file.startsWith("//") || file.includes("\0") ? no("sqlite:<path of a file>, without //, or sqlite::memory:") : ok({ kind: "sqlite", file })
  }
  if (/^postgres(ql)?:\/\//.test(text)) {
    if (!URL.canParse(text)) return no("postgres://user:password@host:port/database")
    return isPercentEncoded(text) ? ok({ kind: "postgres", url: text }) : no("postgres://user:password@host:port/database, with a % of the password written as %25")
  }
  return no("sqlite:<path>, sqlite::memory: or postgres://…")
}

const isPercentEncoded = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text)

const maskPassword = (text: string): string => {
  if (!/^postgres(ql)?:\/\//.test(text)) return text
  if (!URL.canParse(text)) return "(masked)"
  const url = new URL(text)
  if (url.password !== "") url.password = "****"
  for (const name of url.searchParams.keys()) if (/pass|key|secret/i.test(name)) url.searchParams.set(name, "****")
  return url.toString()
}

const integer = (min: number, max: number) => (text: string): Parsed<number> =>
  /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? ok(Number(text)) : no(`a whole number from ${min} to ${max}`)

const literal = <const A extends ReadonlyArray<string>>(...values: A) => (text: string): Parsed<A[number]> =>
  values.includes(text) ? ok(text) : no(`one of ${values.join(", ")}`)

const text = (pattern: RegExp, expected: string) => (value: string): Parsed<string> => pattern.test(value) ? ok(value) : no(expected)

const CLAIM_PATH = /^[\x21-\x7e]{1,256}$/

/** A claim and the value that makes its bearer the first administrator. */
const parseBootstrap = (text: string): Parsed<{ readonly claim: MappingClaim; readonly value: string }> => {
  const [, claim, value] = /^(roles|groups|user_ids):(.{1,256})$/.exec(text) ?? []
  return claim === undefined || value === undefined ? no("<claim>:<value>, with a claim of roles, groups or user_ids") : ok({ claim: claim as MappingClaim, value })
}

const setting = <A>(row: Omit<Setting<A>, "secret" | "show"> & Partial<Pick<Setting<A>, "secret" | "show">>): Setting<A> => ({ secret: false, show: plain, ...row })

/** The table. Adding a setting is adding a row. */
export const settingsTable = {
  host: setting({
    name: "FLYBALL_HOST", fallback: "127.0.0.1", parse: text(/^[0-9A-Za-z.:_-]{1,255}$/, "a host name or address"),
    meaning: "Address to listen on. Without an OIDC issuer only a loopback address is accepted."
  }),
  port: setting({ name: "FLYBALL_PORT", fallback: "8787", parse: integer(0, 65_535), meaning: "Port to listen on; 0 takes a free one." }),
  database: setting({
    name: "FLYBALL_DATABASE_URL", fallback: null, parse: parseDatabaseUrl, secret: true, show: maskPassword,
    meaning: "The store: `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. Default: `sqlite:<data folder>/flyball.db`."
  }),
  origin: setting({
    name: "FLYBALL_ORIGIN", fallback: null, parse: text(/^[\x21-\x2a\x2c-\x7e]{1,255}$/, "1 to 255 printable ASCII characters without space or +"),
    meaning: "Name of the chain, a URL without scheme such as `flyball.example/acme/prod`. Fixed at the first start; made up then when not set."
  }),
  dataDir: setting({
    name: "FLYBALL_DATA_DIR", fallback: "./.flyball", parse: text(/^[^\0]{1,4096}$/, "a path"),
    meaning: "Folder of the signing key, the signing guard and the development issuer's key. Back it up with the database."
  }),
  oidcIssuer: setting({
    name: "FLYBALL_OIDC_ISSUER", fallback: null, parse: (value) => isIssuerUrl(value) ? ok(value) : no("an https address without user, password or #, exactly as the issuer's tokens name it (http on this host)"),
    meaning: "The organisation's OpenID provider. Without it the server vouches for people itself, on a loopback address only."
  }),
  oidcAudience: setting({
    name: "FLYBALL_OIDC_AUDIENCE", fallback: "flyball", parse: text(/^[\x21-\x7e]{1,256}$/, "1 to 256 printable ASCII characters without space"), meaning: "The audience that tokens must be for."
  }),
  oidcRolesClaim: setting({
    name: "FLYBALL_OIDC_ROLES_CLAIM", fallback: "roles", parse: text(CLAIM_PATH, "the name of a claim, or a path with dots such as realm_access.roles"), meaning: "The claim that rules match as `roles`; a path with dots goes into it."
  }),
  oidcGroupsClaim: setting({
    name: "FLYBALL_OIDC_GROUPS_CLAIM", fallback: "groups", parse: text(CLAIM_PATH, "the name of a claim, or a path with dots"), meaning: "The claim that rules match as `groups`."
  }),
  bootstrapAdmin: setting({
    name: "FLYBALL_BOOTSTRAP_ADMIN", fallback: null, parse: parseBootstrap,
    meaning: "The first administrator, `<claim>:<value>` with a claim of roles, groups or user_ids. Counts while no access mapping is set."
  }),
  tenantId: setting({
    name: "FLYBALL_TENANT_ID", fallback: null, parse: text(/^[A-Za-z0-9._-]{1,64}$/, "1 to 64 letters, digits, dots, dashes, underscores"),
    meaning: "`tenant_id` of every agent. Fixed at the first start; `default` then when not set."
  }),
  trustStore: setting({
    name: "FLYBALL_TRUST_STORE", fallback: null, parse: text(/^[^\0]{1,4096}$/, "a path"),
    meaning: "Folder of the public keys that may sign agent cards: `*.pem` and `*.jwk`. Read anew for each card. Without it no signed card is verified."
  }),
  metricsToken: setting({
    name: "FLYBALL_METRICS_TOKEN", fallback: null, parse: text(/^[A-Za-z0-9._~+/-]{16,256}=*$/, "16 to 256 letters, digits and . _ ~ + / -"), secret: true, show: () => "****",
    meaning: "Bearer token that opens `/metrics` to callers from elsewhere. Without it only this host reads them."
  }),
  logLevel: setting({ name: "FLYBALL_LOG_LEVEL", fallback: "info", parse: literal("info", "warn", "error", "silent"), meaning: "What goes to the log on standard error: `info`, `warn`, `error` or `silent`." })
} as const satisfies { readonly [field: string]: Setting<unknown> }
