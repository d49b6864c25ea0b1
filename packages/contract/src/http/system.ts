/** Liveness, and who is calling. Spec: document 1 section 4; api.md "agents and registry", GET /me. */
import { MetaOut } from "../meta.ts"
import { PrincipalNotFound } from "../refusals.ts"
import { MeOut, type PersonInfo, PrincipalOut } from "../session.ts"
import { HealthOut, StatusOut } from "../system.ts"
import { access } from "./access.ts"
import { Result } from "effect"
import { patterned } from "../foundation/fields.ts"
import { named } from "../foundation/plain.ts"
import { endpoint, idParam, json, type Param } from "./endpoint.ts"

/** GET /healthz: 503 while the store does not answer or takes no writes, or the server drains. */
export const healthz = endpoint({
  id: "system.healthz",
  method: "GET",
  path: "/healthz",
  summary: "Reports whether the store is reachable and takes writes.",
  access: access.public,
  success: json(200, HealthOut),
  refusals: ["Draining", "NotWriting"]
})

/** GET /status: never touches the database. */
export const status = endpoint({
  id: "system.status",
  method: "GET",
  path: "/status",
  summary: "Returns liveness and version. Does not access the store.",
  access: access.public,
  success: json(200, StatusOut)
})

/** GET /me: the caller as the service sees it. */
export const me = endpoint({
  id: "system.me",
  method: "GET",
  path: "/api/v1/me",
  summary: "Returns the caller's identity, role and org unit.",
  access: access.readOwn,
  success: json(200, MeOut)
})

/** GET /register/_meta. */
export const meta = endpoint({
  id: "system.meta",
  method: "GET",
  path: "/api/v1/register/_meta",
  summary: "Returns enums, limits, tiers, roles and kinds, for consoles and SDKs.",
  access: access.readOwn,
  success: json(200, MetaOut)
})

const PRINCIPAL = /^(?:usr|key)_[0-9a-hjkmnp-tv-z]{26}$/
const user = idParam("user", () => new PrincipalNotFound({}))
/** A person or an ingest key. */
const principalId: Param<string> = {
  ...user,
  schema: patterned(PRINCIPAL, 64),
  decode: (text) => (PRINCIPAL.test(text) ? Result.succeed(text) : Result.fail(new PrincipalNotFound({})))
}

/** Endpoints about the service itself. */
export const system = { healthz, status, me, meta } as const

/** Endpoint of people behind pseudonyms. Spec: api.md, GET /principals/{principal_id}. */
export const people = {
  get: endpoint({
    id: "system.principal",
    method: "GET",
    path: "/api/v1/principals/{principal_id}",
    summary: "Returns the person behind a pseudonym of the records, or the ingest key, until that is erased.",
    access: access.govern,
    params: { principal_id: principalId },
    success: json(200, named<PersonInfo>()(PrincipalOut)),
    refusals: ["PrincipalNotFound"]
  })
} as const
