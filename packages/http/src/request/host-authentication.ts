/** The host's own authentication in the place of an OpenID issuer: whom its session, cookie or token stands for. */
import { CLAIM_LIMIT, Forbidden, type Role, roles, Unauthorized } from "@flyball/contract"
import { HOST_ISSUER, INGEST_KEY_PREFIX, PLATFORM_KEY_PREFIX } from "@flyball/core"
import { Effect } from "effect"
import { authenticate, bearerToken, type Access } from "./authenticate.ts"
import type { PersonCaller } from "./caller.ts"
import type { Incoming } from "../exchange.ts"
import { IssuerUnavailable } from "./issuer-unavailable.ts"
import { onlyAuthorization } from "./only-authorization.ts"

/** Request as the host's `authenticate` receives it. */
export interface HostRequest {
  readonly method: string
  /** As the API sees it: below the prefix, without the query. */
  readonly path: string
  /** Case does not matter in a header's name. Several headers of one name are joined with a comma. */
  readonly headers: { readonly get: (name: string) => string | null }
  /** The request as the framework has it: Express's or Node's `req`, the web's `Request`, Effect's request. */
  readonly native: unknown
}

/** A person whom the host authenticated. */
export interface HostCaller {
  /** The person's id: the same text for the same person, for ever. 1 to 256 characters. */
  readonly subject: string
  /** Roles that the person has, and the org unit of each: `*` is every one. None: the person is refused with 403. */
  readonly grants: ReadonlyArray<{ readonly role: Role; readonly org_unit: string }>
  readonly name?: string | null | undefined
  /** Only an address that the host knows to be theirs. */
  readonly email?: string | null | undefined
}

/**
 * Says who is calling; null for nobody. A rejection is answered with 503: whether the caller is somebody could not be
 * found out. It is called once for each request, and for a stream of events again every five seconds with the request
 * that began it: null, or no grant, then ends the stream, and a rejection changes nothing.
 */
export type HostAuthenticate = (request: HostRequest) => HostCaller | null | Promise<HostCaller | null>

/** The longest name of an org unit. */
const MAX_UNIT = 100

/**
 * The caller of a request. A key is looked up in the store; anything else is the host's to judge.
 *
 * - Fails: as {@link authenticate} does; `Forbidden` for a write that a page of another site made a browser send. Dies
 *   of an answer that is no caller: that is an error of the host's.
 */
export const authenticateWithHost = (request: Incoming, access: Access, judge: HostAuthenticate) => {
  const header = onlyAuthorization(request)
  const token = bearerToken(header)
  if (token?.startsWith(INGEST_KEY_PREFIX) === true || token?.startsWith(PLATFORM_KEY_PREFIX) === true)
    return authenticate(header, access)
  return Effect.gen(function* () {
    const found = yield* Effect.tryPromise({
      try: async () => judge(hostRequest(request)),
      catch: (cause) => new IssuerUnavailable({ reason: `authenticate of the host failed: ${String(cause)}` })
    })
    if (found === null || found === undefined) return yield* new Unauthorized({})
    const caller = personOf(found)
    if (caller.grants.length === 0)
      return yield* new Forbidden({ need: "a role, and this host assigns none to the person" })
    // A browser sends the host's cookies with whatever a page of another site makes it send.
    if (isForeign(request)) return yield* new Forbidden({ need: "a request from a page of the same origin" })
    return caller
  })
}

const hostRequest = (request: Incoming): HostRequest => ({
  method: request.method ?? "GET",
  path: (request.url ?? "/").replace(/\?[^]*$/, ""),
  headers: {
    get: (name) => {
      const value = request.headers[name.toLowerCase()]
      return value === undefined ? null : typeof value === "string" ? value : value.join(", ")
    }
  },
  native: request.native ?? request
})

const isForeign = ({ headers, method = "GET" }: Incoming): boolean =>
  !["GET", "HEAD", "OPTIONS"].includes(method) &&
  ["cross-site", "same-site"].includes(String(headers["sec-fetch-site"]))

/** Plain JavaScript has no compiler that would check what `authenticate` answers. */
const personOf = ({ email, grants, name, subject }: HostCaller): PersonCaller => {
  const expected = (what: string): never => {
    throw new TypeError(`authenticate of the host is expected to answer null or a caller: ${what}`)
  }
  if (!isShortText(subject, CLAIM_LIMIT)) return expected(`\`subject\` is a text of 1 to ${CLAIM_LIMIT} characters`)
  if (!Array.isArray(grants)) return expected("`grants` is a list of { role, org_unit }")
  return {
    kind: "user",
    issuer: HOST_ISSUER,
    subject,
    grants: (grants as HostCaller["grants"]).map((grant) => {
      if (!roles.includes(grant?.role)) return expected(`\`role\` is one of ${roles.join(", ")}`)
      if (!isShortText(grant.org_unit, MAX_UNIT)) return expected("`org_unit` is the name of an org unit, or *")
      return { role: grant.role, orgUnit: grant.org_unit.normalize("NFC") }
    }),
    name: typeof name === "string" ? name : null,
    email: typeof email === "string" ? email : null
  }
}

const isShortText = (value: unknown, most: number): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= most && value.isWellFormed()
