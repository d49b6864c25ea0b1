/**
 * Random mappings against what api.md says, over HTTP: an act is allowed when one grant allows it alone, and one more
 * rule never takes an act away. Spec: api.md "Who may call".
 */
import type { Role } from "@flyball/contract"
import type { Grant } from "@flyball/contract/http"
import { AccessMapping, systemHost } from "@flyball/core"
import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "./http-world.ts"

const units = ["claims", "treasury", "legal"] as const
type Unit = (typeof units)[number]

const everybody: ReadonlyArray<Role> = ["auditor", "reviewer", "operator", "governor", "admin"]
const [operators, governors, admins]: ReadonlyArray<ReadonlyArray<Role>> = [
  ["operator", "governor", "admin"],
  ["governor", "admin"],
  ["admin"]
]

let world: World
const agents = new Map<Unit, string>()
const envelopes = new Map<Unit, string>()
const decisions = new Map<Unit, string>()
let count = 0
const fresh = (): string => `g${count++}`

const envelope = {
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
  effects: { pay: "read" },
  rules: [{ id: "all", outcome: "allow", when: [{ signal: "tool", eq: "pay" }] }],
  default: { outcome: "deny" }
}

/**
 * An act on an org unit: which roles may, and how it is done. Written from api.md, not from the code. `everyUnit`: it
 * concerns every unit at once.
 */
interface Act {
  readonly name: string
  readonly roles: ReadonlyArray<Role>
  readonly everyUnit?: boolean
  readonly send: (unit: Unit) => { readonly method: string; readonly path: string; readonly json?: unknown }
}

const acts: ReadonlyArray<Act> = [
  { name: "read an agent", roles: everybody, send: (unit) => ({ method: "GET", path: `/agents/${agents.get(unit)}` }) },
  {
    name: "read decisions",
    roles: everybody,
    send: (unit) => ({ method: "GET", path: `/agents/${agents.get(unit)}/decisions` })
  },
  {
    name: "lint an envelope",
    roles: everybody,
    send: (unit) => ({ method: "POST", path: `/bound/envelopes/${envelopes.get(unit)}/lint` })
  },
  {
    name: "ask for a sparse pack",
    roles: everybody,
    send: (unit) => ({ method: "POST", path: "/evidence/packs", json: { kind: "sparse", agent_id: agents.get(unit) } })
  },
  {
    name: "register an agent",
    roles: governors!,
    send: (unit) => ({ method: "POST", path: "/agents", json: { name: fresh(), org_unit: unit } })
  },
  {
    name: "suspend an agent",
    roles: operators!,
    send: (unit) => ({ method: "POST", path: `/agents/${agents.get(unit)}/suspend` })
  },
  {
    name: "change an agent",
    roles: governors!,
    send: (unit) => ({ method: "PATCH", path: `/agents/${agents.get(unit)}`, json: { purpose: fresh() } })
  },
  {
    name: "write an envelope",
    roles: governors!,
    send: (unit) => ({ method: "PATCH", path: `/bound/envelopes/${envelopes.get(unit)}`, json: { envelope } })
  },
  {
    name: "begin an envelope of a unit",
    roles: governors!,
    send: (unit) => ({ method: "POST", path: "/bound/envelopes", json: { name: fresh(), org_unit: unit, envelope } })
  },
  {
    name: "witness a decision",
    roles: admins!,
    send: (unit) => ({
      method: "POST",
      path: `/agents/${agents.get(unit)}/decisions`,
      json: { client_ref: fresh(), action: "pay" }
    })
  },
  {
    name: "settle a decision",
    roles: admins!,
    send: (unit) => ({ method: "POST", path: `/decisions/${decisions.get(unit)}/settle`, json: { status: "ok" } })
  },
  {
    name: "mint a key",
    roles: admins!,
    send: (unit) => ({ method: "POST", path: "/admin/ingest-keys", json: { name: fresh(), org_unit: unit } })
  },
  {
    name: "read records",
    roles: everybody,
    everyUnit: true,
    send: () => ({ method: "GET", path: "/chain/records?limit=1" })
  },
  {
    name: "ask for a full pack",
    roles: everybody,
    everyUnit: true,
    send: () => ({ method: "POST", path: "/evidence/packs", json: { kind: "full" } })
  },
  {
    name: "read the mapping",
    roles: admins!,
    everyUnit: true,
    send: () => ({ method: "GET", path: "/admin/entitlement-rules" })
  },
  { name: "list webhooks", roles: admins!, everyUnit: true, send: () => ({ method: "GET", path: "/webhooks" }) }
]

/** Open to every role, in whatever unit it is. */
const openPaths = ["head", "verify", "checkpoint", "keys", "records/0/proof", "consistency?from=1&to=2"].map(
  (path) => `/chain/${path}`
)

/** True where the grants alone permit the act. */
const may = (grants: ReadonlyArray<Grant>, { everyUnit = false, roles }: Act, unit: Unit): boolean =>
  grants.some(({ orgUnit, role }) => roles.includes(role) && (orgUnit === "*" || (!everyUnit && orgUnit === unit)))

/** The token of a person whom the mapping gives these grants from now on. */
const personWith = async (grants: ReadonlyArray<Grant>): Promise<string> => {
  const sub = fresh()
  const rules = grants.map(
    ({ orgUnit, role }) => ({ match: { claim: "user_ids", value: sub }, role, org_unit: orgUnit }) as const
  )
  await world.runtime.runPromise(
    AccessMapping.use((mapping) => mapping.set({ rules, trust_canonical: true }, systemHost))
  )
  return world.forged({ sub, roles: [] })
}

const statusOf = async (token: string, { send }: Act, unit: Unit): Promise<number> => {
  const { json, method, path } = send(unit)
  return (await world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })).status
}

beforeAll(async () => {
  world = await openWorld()
  for (const unit of units) {
    const agent = await world.register(fresh(), unit)
    agents.set(unit, agent)
    const made = async (path: string, json: unknown) =>
      (await world.send("POST", `/api/v1${path}`, { token: world.admin, json })).json
    envelopes.set(unit, (await made("/bound/envelopes", { name: fresh(), agent_id: agent, envelope })).id)
    decisions.set(
      unit,
      (await made(`/agents/${agent}/decisions`, { client_ref: fresh(), action: "pay" })).receipts[0].decision_id
    )
  }
})
afterAll(() => world.close())

const grant = fc.record({ role: fc.constantFrom(...everybody), orgUnit: fc.constantFrom("*", ...units, ...units) })

describe("the grants of a person, over HTTP", () => {
  it(
    "allow an act when one of them allows it alone, and only then; every role reads what holds no personal data",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(grant, { minLength: 1, maxLength: 4 }),
          fc.constantFrom(...units),
          async (grants, unit) => {
            const token = await personWith(grants)
            for (const act of acts) {
              const status = await statusOf(token, act, unit)
              // Taken, or refused for something else: an envelope or a settlement that exists already.
              const allowed = status < 300 || status === 409
              assert.strictEqual(allowed, may(grants, act, unit), `${act.name} of ${unit}: ${status}`)
              const reads = grants.some(({ orgUnit }) => orgUnit === "*" || orgUnit === unit)
              if (!allowed) assert.include(reads ? [403] : [403, 404], status, act.name)
            }
            for (const path of openPaths)
              assert.strictEqual((await world.send("GET", `/api/v1${path}`, { token })).status, 200, path)
          }
        ),
        { numRuns: 40, seed: 18 }
      ),
    120_000
  )

  it(
    "lose no act for one more rule",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(grant, { minLength: 1, maxLength: 3 }),
          grant,
          fc.constantFrom(...units),
          fc.constantFrom(...acts),
          async (grants, more, unit, act) => {
            const before = await statusOf(await personWith(grants), act, unit)
            const after = await statusOf(await personWith([...grants, more]), act, unit)
            if (before < 300 || before === 409)
              assert.isTrue(after < 300 || after === 409, `${act.name} of ${unit}: ${before}, then ${after}`)
          }
        ),
        { numRuns: 100, seed: 18 }
      ),
    120_000
  )
})
