/**
 * Every setting of the server, as one table: name, default, how its text is read, whether it is secret.
 *
 * Spec: issue "record, prove, verify" item 5: one typed settings table, validated at start, `*_FILE` for secrets;
 * docs/settings.md shows it.
 */

import { isMailAddress, type MappingClaim, plans } from "@flyball/contract"
import { signatureHeaderProblem } from "@flyball/rules"
import { egressProblem, mailProblem } from "@flyball/node"
import { guardOptionsProblem } from "@flyball/storage-sql/operations"
import { type Network, readNetworks } from "../host/network.ts"
import { isIssuerUrl } from "@flyball/http/issuer-url"
import { samplers } from "../telemetry/sampler.ts"
import { isCollector, readOtlpHeaders } from "./otel.ts"
import { withoutSecrets } from "./without-secrets.ts"

/** Result of reading one value. */
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
    // sqlite:///srv/x.db is how other programs write /srv/x.db; sqlite://x.db would silently mean a file in the root
    // folder.
    const file = text.slice("sqlite:".length).replace(/^\/\/\//, "/")
    return file.trim() === "" || file.startsWith(":") || file.startsWith("//") || file.includes("\0")
      ? no("sqlite:<path of a file>, without //, or sqlite::memory:")
      : ok({ kind: "sqlite", file })
  }
  if (/^postgres(ql)?:\/\//.test(text)) {
    if (!URL.canParse(text)) return no("postgres://user:password@host:port/database")
    return isPercentEncoded(text)
      ? ok({ kind: "postgres", url: text })
      : no("postgres://user:password@host:port/database, with % in the password written as %25")
  }
  return no("sqlite:<path>, sqlite::memory: or postgres://…")
}

/** A guard that hosts share: another database than the store's, or another schema of it. */
export interface GuardLocation {
  readonly url: string
  readonly schema?: string
}

const GUARD_URL = "postgres://user:password@host:port/database, with ?schema=NAME for another schema than flyball_guard"

const parseGuardUrl = (text: string): Parsed<GuardLocation> => {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text) || !isPercentEncoded(text)) return no(GUARD_URL)
  const url = new URL(text)
  const schema = url.searchParams.get("schema")
  url.searchParams.delete("schema")
  const location = schema === null ? { url: text } : { url: url.href, schema }
  const problem = guardOptionsProblem(location)
  return problem === null ? ok(location) : no(`${GUARD_URL} (${problem})`)
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

const integer =
  (min: number, max: number) =>
  (text: string): Parsed<number> =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? ok(Number(text))
      : no(`a whole number from ${min} to ${max}`)

const literal =
  <const A extends ReadonlyArray<string>>(...values: A) =>
  (text: string): Parsed<A[number]> =>
    values.includes(text) ? ok(text) : no(`one of ${values.join(", ")}`)

const text =
  (pattern: RegExp, expected: string) =>
  (value: string): Parsed<string> =>
    pattern.test(value) ? ok(value) : no(expected)

/** A path that is not blank: nobody means a folder whose name is spaces. */
const PATH = /^(?!\s*$)[^\0]{1,4096}$/

/** A name, a path with dots, or a JSON pointer (RFC 6901) where it begins with `/`. */
const CLAIM_PATH = /^(?!\/.*~(?![01]))[\x21-\x7e]{1,256}$/
const CLAIM_PATHS =
  "the name of a claim, a path with dots such as realm_access.roles, or a JSON pointer such as /a.b/roles"
const SEPARATOR = /^[\x20-\x7e]{1,8}$/

/** A claim and the value that makes its bearer the first administrator. */
const parseBootstrap = (text: string): Parsed<{ readonly claim: MappingClaim; readonly value: string }> => {
  const [, claim, value] = /^(roles|groups|user_ids):(.{1,256})$/.exec(text) ?? []
  return claim === undefined || value === undefined
    ? no("<claim>:<value>, with a claim of roles, groups or user_ids")
    : ok({ claim: claim as MappingClaim, value })
}

const parseNetworks = (text: string): Parsed<ReadonlyArray<Network>> => {
  const networks = readNetworks(text)
  return networks === null
    ? no("addresses and networks with commas between, such as 10.0.0.0/8,192.0.2.7,::1")
    : ok(networks)
}

const parseOtlpHeaders = (text: string): Parsed<{ readonly [name: string]: string }> => {
  const headers = readOtlpHeaders(text)
  return headers === null
    ? no("<name>=<value> with commas between, values in percent encoding, and no header that frames a request")
    : ok(headers)
}

const parseEgressAllow = (text: string): Parsed<ReadonlyArray<string>> => {
  const entries = text.split(",").map((entry) => entry.trim())
  // What it says of an entry shows it.
  const problem = egressProblem(entries) === null ? null : egressProblem(entries.map(withoutSecrets))
  return problem === null
    ? ok(entries)
    : no(`addresses, networks and exact names with commas between, such as 10.1.0.0/16,hooks.internal (${problem})`)
}

const parsePorts = (text: string): Parsed<ReadonlyArray<number>> => {
  const ports = text.split(",").map((port) => port.trim())
  return ports.every((port) => /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)
    ? ok(ports.map(Number))
    : no("ports with commas between, each from 1 to 65535, such as 443,8443")
}

const parseSmtpUrl = (url: string): Parsed<string> => {
  const problem = mailProblem({ url, from: "flyball@localhost.example" })
  return problem === null ? ok(url) : no(`smtp://user:password@host:port or smtps://… (${problem})`)
}

const parseMailFrom = (from: string): Parsed<string> =>
  mailProblem({ url: "smtp://localhost", from }) === null
    ? ok(from)
    : no("an address such as flyball@example.com or Flyball <flyball@example.com>")

const parseSignatureHeader = (name: string): Parsed<string> => {
  const problem = signatureHeaderProblem(name)
  return problem === null ? ok(name) : no(`the name of a header that no delivery has (${problem})`)
}

const parseRatio = (text: string): Parsed<number> =>
  /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text) ? ok(Number(text)) : no("a share from 0 to 1, such as 0.1")

const setting = <A>(
  row: Omit<Setting<A>, "secret" | "show"> & Partial<Pick<Setting<A>, "secret" | "show">>
): Setting<A> => ({ secret: false, show: plain, ...row })

/** The table. Adding a setting is adding a row. */
export const settingsTable = {
  host: setting({
    name: "FLYBALL_HOST",
    fallback: "127.0.0.1",
    parse: text(/^[0-9A-Za-z.:_-]{1,255}$/, "a host name or address"),
    meaning: "Address to listen on. Without an OIDC issuer only a loopback address is accepted."
  }),
  port: setting({
    name: "FLYBALL_PORT",
    fallback: "8787",
    parse: integer(0, 65_535),
    meaning: "Port to listen on; 0 takes a free one."
  }),
  database: setting({
    name: "FLYBALL_DATABASE_URL",
    fallback: null,
    parse: parseDatabaseUrl,
    secret: true,
    show: maskPassword,
    meaning:
      "The store: `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. Default: `sqlite:<data folder>/flyball.db`."
  }),
  origin: setting({
    name: "FLYBALL_ORIGIN",
    fallback: null,
    parse: text(
      /^(?!.*:\/\/)[\x21-\x2a\x2c-\x7e]{1,255}$/,
      "1 to 255 printable ASCII characters without space, + or a scheme, such as flyball.example/acme/prod"
    ),
    meaning:
      "Name of the chain, a URL without scheme such as `flyball.example/acme/prod`. Fixed at the first start; " +
      "generated then if not set."
  }),
  dataDir: setting({
    name: "FLYBALL_DATA_DIR",
    fallback: "./.flyball",
    parse: text(PATH, "a path"),
    meaning:
      "Folder of the signing key, the signing guard, the key of webhooks' secrets and the development issuer's " +
      "key. Back it up with the database."
  }),
  guard: setting({
    name: "FLYBALL_GUARD_URL",
    fallback: null,
    parse: parseGuardUrl,
    secret: true,
    show: maskPassword,
    meaning:
      "The signing guard that servers on several hosts share: `postgres://…`, another database than the store's " +
      "(`?schema=` names another schema than `flyball_guard`). Without it the guard is in the data folder, for " +
      "one host."
  }),
  oidcIssuer: setting({
    name: "FLYBALL_OIDC_ISSUER",
    fallback: null,
    parse: (value) =>
      isIssuerUrl(value)
        ? ok(value)
        : no(
            "an https address without user, password or #, exactly as the issuer's tokens name it (http on this host)"
          ),
    meaning:
      "The organisation's OpenID provider. Without it the server issues tokens itself, on a loopback address only."
  }),
  oidcAudience: setting({
    name: "FLYBALL_OIDC_AUDIENCE",
    fallback: "flyball",
    parse: text(/^[\x21-\x7e]{1,256}$/, "1 to 256 printable ASCII characters without space"),
    meaning: "The audience that tokens must be for."
  }),
  oidcRolesClaim: setting({
    name: "FLYBALL_OIDC_ROLES_CLAIM",
    fallback: "roles",
    parse: text(CLAIM_PATH, CLAIM_PATHS),
    meaning:
      "The claim that rules match as `roles`. A path with dots selects a nested claim; what begins with `/` is a " +
      "JSON pointer, for names that have dots."
  }),
  oidcRolesSeparator: setting({
    name: "FLYBALL_OIDC_ROLES_SEPARATOR",
    fallback: null,
    parse: text(SEPARATOR, "1 to 8 printable ASCII characters"),
    show: (value) => JSON.stringify(value),
    meaning: "What separates the values of a roles claim that is a text. Without it a text is one value."
  }),
  oidcGroupsClaim: setting({
    name: "FLYBALL_OIDC_GROUPS_CLAIM",
    fallback: "groups",
    parse: text(CLAIM_PATH, CLAIM_PATHS),
    meaning: "The claim that rules match as `groups`, named in the same ways."
  }),
  oidcGroupsSeparator: setting({
    name: "FLYBALL_OIDC_GROUPS_SEPARATOR",
    fallback: null,
    parse: text(SEPARATOR, "1 to 8 printable ASCII characters"),
    show: (value) => JSON.stringify(value),
    meaning: "What separates the values of a groups claim that is a text. Without it a text is one value."
  }),
  bootstrapAdmin: setting({
    name: "FLYBALL_BOOTSTRAP_ADMIN",
    fallback: null,
    parse: parseBootstrap,
    meaning:
      "The first administrator, `<claim>:<value>` with a claim of roles, groups or user_ids. Counts while no " +
      "access mapping is set."
  }),
  tenantId: setting({
    name: "FLYBALL_TENANT_ID",
    fallback: null,
    parse: text(/^[A-Za-z0-9._-]{1,64}$/, "1 to 64 letters, digits, dots, dashes, underscores"),
    meaning: "`tenant_id` of every agent. Fixed at the first start, as `default` if not set."
  }),
  platformPlan: setting({
    name: "FLYBALL_PLATFORM_PLAN",
    fallback: "enterprise",
    parse: literal(...plans),
    meaning: "The plan of people who call the platform API (`/v1`) with a session. Keys have plans of their own."
  }),
  usdInr: setting({
    name: "FLYBALL_USD_INR",
    fallback: null,
    parse: text(/^\d{1,4}(?:\.\d{1,6})?$/, "a number such as 83.2"),
    meaning:
      "Rupees for a dollar. Stored with each execution of a workflow and each call of a model; without it costs in " +
      "rupees are null."
  }),
  gatewayUpstreams: setting({
    name: "FLYBALL_GATEWAY_UPSTREAMS",
    fallback: null,
    parse: text(PATH, "a path"),
    meaning:
      "File of the models that `/v1/gateway` serves: see [gateway.md](gateway.md). Read at the start. Without it the " +
      "gateway answers 501."
  }),
  trustStore: setting({
    name: "FLYBALL_TRUST_STORE",
    fallback: null,
    parse: text(PATH, "a path"),
    meaning:
      "Folder of the public keys that may sign agent cards: `*.pem` and `*.jwk`. Read again for each card. " +
      "Without it no signed card is verified."
  }),
  metricsToken: setting({
    name: "FLYBALL_METRICS_TOKEN",
    fallback: null,
    parse: text(/^[A-Za-z0-9._~+/-]{16,256}=*$/, "16 to 256 letters, digits and . _ ~ + / -"),
    secret: true,
    show: () => "****",
    meaning: "Bearer token with which other hosts read `/metrics`. Without it only this host can."
  }),
  trustedProxies: setting({
    name: "FLYBALL_TRUSTED_PROXIES",
    fallback: null,
    parse: parseNetworks,
    meaning:
      "Addresses and networks of proxies, with commas between, whose `X-Forwarded-For` or `Forwarded` gives the " +
      "client's address for the log. Without it none is trusted."
  }),
  drainMs: setting({
    name: "FLYBALL_DRAIN_MS",
    fallback: "5000",
    parse: integer(0, 120_000),
    meaning:
      "After SIGTERM, how long requests are still accepted while `/healthz` answers 503, so that a load balancer " +
      "notices. Milliseconds. After SIGINT there is no wait."
  }),
  channelCheckS: setting({
    name: "FLYBALL_CHANNEL_CHECK_S",
    fallback: "3600",
    parse: integer(0, 86_400),
    meaning:
      "How often a shadow drill on a reserved target checks that halts reach the kill status. Seconds; 0 switches " +
      "the check off. `GET /bound/safety` and `/metrics` show the last one."
  }),
  otlpEndpoint: setting({
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    fallback: null,
    parse: (value) =>
      isCollector(value)
        ? ok(value)
        : no("an http or https address without user, password, ? or #, such as http://127.0.0.1:4318"),
    meaning:
      "An OpenTelemetry collector that accepts OTLP/HTTP with JSON; spans go to its `/v1/traces`. Without it " +
      "there are no spans."
  }),
  otlpHeaders: setting({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    fallback: null,
    parse: parseOtlpHeaders,
    secret: true,
    show: () => "****",
    meaning: "Headers for the collector, `<name>=<value>` with commas between."
  }),
  otelServiceName: setting({
    name: "OTEL_SERVICE_NAME",
    fallback: "flyball",
    parse: text(/^\P{Cc}{1,255}$/u, "1 to 255 characters, no control characters"),
    meaning: "`service.name` of the spans."
  }),
  tracesSampler: setting({
    name: "OTEL_TRACES_SAMPLER",
    fallback: "parentbased_always_on",
    parse: literal(...samplers),
    meaning: `Which traces are kept: ${samplers.map((name) => `\`${name}\``).join(", ")}.`
  }),
  tracesSamplerArg: setting({
    name: "OTEL_TRACES_SAMPLER_ARG",
    fallback: "1",
    parse: parseRatio,
    meaning: "The share of traces that the samplers with `traceidratio` keep, 0 to 1."
  }),
  egressAllow: setting({
    name: "FLYBALL_EGRESS_ALLOW",
    fallback: null,
    parse: parseEgressAllow,
    meaning:
      "Addresses, networks and exact names inside your network that webhooks may reach, with commas between. " +
      "Without it none: webhooks go to public addresses only."
  }),
  egressHttp: setting({
    name: "FLYBALL_EGRESS_HTTP",
    fallback: "0",
    parse: literal("0", "1"),
    meaning: "`1` allows plain http addresses for webhooks."
  }),
  egressPorts: setting({
    name: "FLYBALL_EGRESS_PORTS",
    fallback: null,
    parse: parsePorts,
    meaning:
      "The only ports that webhooks may use, with commas between. Without it 443 (80 for plain http), and ports " +
      "above 1023 except those that browsers block."
  }),
  secretsKeyFile: setting({
    name: "FLYBALL_SECRETS_KEY_FILE",
    fallback: null,
    parse: text(PATH, "a path"),
    meaning:
      "File of the key that encrypts webhooks' secrets in the store, the same for all processes of one store. " +
      "Default: `<data folder>/secrets.key`, made at the first start."
  }),
  secretsLost: setting({
    name: "FLYBALL_SECRETS_LOST",
    fallback: "0",
    parse: literal("0", "1"),
    meaning:
      "`1` starts although the key of webhooks' secrets is lost: each webhook then needs a new secret " +
      "(`rotate-secret`), and nothing is sent to it before."
  }),
  alertEmail: setting({
    name: "FLYBALL_ALERT_EMAIL",
    fallback: null,
    parse: (value) => (isMailAddress(value) ? ok(value) : no("an e-mail address in ASCII, such as night@example.com")),
    meaning: "Recipient of e-mail about a failed webhook that names no contact, or none that can be reached."
  }),
  smtpUrl: setting({
    name: "FLYBALL_SMTP_URL",
    fallback: null,
    parse: parseSmtpUrl,
    secret: true,
    show: () => "****",
    meaning:
      "The mail server: `smtp://user:password@host:587` (STARTTLS), `smtps://…`. Without it e-mail goes to the log."
  }),
  mailFrom: setting({
    name: "FLYBALL_MAIL_FROM",
    fallback: "flyball@localhost",
    parse: parseMailFrom,
    meaning: "Sender of e-mail."
  }),
  signatureHeader: setting({
    name: "FLYBALL_WEBHOOK_SIGNATURE_HEADER",
    fallback: "X-Platform-Signature",
    parse: parseSignatureHeader,
    meaning: "Name of an additional header of deliveries with `sha256=<hex>`; none that a delivery already has."
  }),
  webhookRetryAfter: setting({
    name: "FLYBALL_WEBHOOK_RETRY_AFTER",
    fallback: "0",
    parse: literal("0", "1"),
    meaning:
      "`1` lets `Retry-After` of a receiver's 429 or 503 delay the next attempt, to twice its delay at most. " +
      "Without it every attempt follows the fixed schedule."
  }),
  webhookKeepDays: setting({
    name: "FLYBALL_WEBHOOK_KEEP_DAYS",
    fallback: "30",
    parse: integer(15, 3_650),
    meaning:
      "Days after which finished deliveries of webhooks and their events are deleted, 15 to 3650. Records are " +
      "always kept."
  }),
  logLevel: setting({
    name: "FLYBALL_LOG_LEVEL",
    fallback: "info",
    parse: literal("info", "warn", "error", "silent"),
    meaning: "What goes to the log on standard error: `info`, `warn`, `error` or `silent`."
  })
} as const satisfies { readonly [field: string]: Setting<unknown> }
