/**
 * Every list of the contract: whole unless a page is requested, and page by page the same. Spec: api.md, Conventions,
 * "lists".
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { idPrefixes } from "@flyball/contract"
import { type AnyEndpoint, endpoints } from "@flyball/contract/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { goodRequests } from "./http-requests.ts"
import { openWorld, UNIT, type World } from "./http-world.ts"
import { proposedStanding } from "./testing/standing-approval.ts"
import { seen } from "./testing/given-refused-world.ts"

/**
 * A list: how many of it there are at least, what makes another item of the one at `path`, and what stands in `after`.
 */
interface Row {
  readonly id: string
  readonly fill: (path: string) => Promise<unknown>
  readonly nameOf: (item: never) => string | number
  readonly unknown: string
  readonly badType: string
  /** Where the items are, if they are not the answer itself. */
  readonly member?: string
}

let world: World
let good: Awaited<ReturnType<typeof goodRequests>>
let count = 0
const fresh = (): string => `listed-${count++}`
const admin = (method: string, path: string, json?: unknown) =>
  world.send(method, path, { token: world.admin, ...(json === undefined ? {} : { json }) })
const make = (id: string) =>
  good(endpointOf(id)).then(({ json, path }) => admin(endpointOf(id).method, path, json ?? {}))
const registeredWithOwner = () => world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
const endpointOf = (id: string): AnyEndpoint => endpoints.find((one) => one.id === id)!
const twice = (id: string) => async (): Promise<void> => {
  await make(id)
  await make(id)
}
const id = ({ id }: { readonly id: string }): string => id
const agentOf = ({ agent_id }: { readonly agent_id: string }): string => agent_id
const byId = (of: keyof typeof idPrefixes) => ({
  nameOf: id,
  unknown: `${idPrefixes[of]}_${"0".repeat(26)}`,
  badType: "string_pattern_mismatch"
})

const rows: ReadonlyArray<Row> = [
  { id: "agents.list", ...byId("agent"), fill: twice("agents.create") },
  { id: "agents.orphans", ...byId("agent"), fill: twice("agents.create") },
  {
    id: "agents.provenance",
    ...byId("provenance"),
    fill: async (path) => {
      for (const name of ["a", "b"]) await admin("POST", path, { kind: "prompt", name })
    }
  },
  { id: "models.list", ...byId("model"), fill: twice("models.create") },
  { id: "bound.envelopes", ...byId("envelope"), fill: twice("bound.create_envelope") },
  {
    id: "bound.versions",
    nameOf: ({ version }: { readonly version: number }) => version,
    unknown: "99",
    badType: "int_parsing",
    fill: async (path) => {
      const envelope = path.replace("/versions", "")
      const first = (await admin("GET", `${path}/1`)).json.envelope
      await admin("PATCH", envelope, {
        envelope: {
          ...first,
          rules: first.rules.map((rule: object) => ({ ...rule, when: [{ signal: "amount", lte: 5 }] }))
        }
      })
      assert.strictEqual((await admin("POST", `${envelope}/publish`, {})).status, 200)
    }
  },
  {
    id: "bound.waivers",
    ...byId("waiver"),
    fill: async (path) => {
      const waiver = {
        rule_id: "small",
        unless: [{ signal: "amount", eq: 3 }],
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        reason: "Settled by hand."
      }
      for (let n = 0; n < 2; n++) assert.strictEqual((await admin("POST", path, waiver)).status, 201)
    }
  },
  {
    id: "standing_approvals.list",
    ...byId("standingApproval"),
    fill: async () => {
      for (let n = 0; n < 2; n++) await proposedStanding(world, await registeredWithOwner())
    }
  },
  { id: "breakers.list", ...byId("breaker"), fill: twice("breakers.arm") },
  {
    id: "chain.keys",
    nameOf: ({ key_id }: { readonly key_id: string }) => key_id,
    unknown: "00000000",
    badType: "string_pattern_mismatch",
    member: "keys",
    fill: async () => undefined
  },
  { id: "kill.drills", ...byId("drill"), fill: twice("kill.start_drill") },
  { id: "bound.safety", ...byId("agent"), nameOf: agentOf, member: "agents", fill: twice("agents.create") },
  { id: "evidence.list", ...byId("pack"), fill: twice("evidence.create") },
  { id: "ingest_keys.list", ...byId("ingestKey"), fill: twice("ingest_keys.mint") },
  { id: "platform_keys.list", ...byId("platformKey"), fill: twice("platform_keys.mint") },
  { id: "webhooks.list", ...byId("webhook"), fill: twice("webhooks.create") }
]
/** Lists with a position of their own, newest first or of records; each says it in its own query. */
const positioned = {
  "agents.timeline": "before",
  "bound.evaluations": "before",
  "decisions.list": "before",
  "evals.list": "before",
  "fairness.list": "before",
  "kill.events": "before",
  "reviews.list": "before",
  "chain.records": "from",
  "webhooks.deliveries": "before"
}

/** Set whole, and read whole: a list with a bound of its own. */
const whole = new Set(["bound.response_policy"])

beforeAll(async () => {
  world = await openWorld()
  good = await goodRequests(world)
})
afterAll(() => world.close())

describe("the lists", () => {
  it("are these", () => {
    const lists = endpoints
      .filter(({ method, success }) => method === "GET" && success.schema?.ast._tag === "Arrays")
      .map((one) => one.id)
      .filter((id) => !whole.has(id))
    assert.deepStrictEqual(
      [...lists, "bound.safety", "chain.keys"].sort(),
      [...rows.map((row) => row.id), ...Object.keys(positioned)].sort()
    )
  })

  it("are described with numbers as numbers", async () => {
    const {
      json: { paths }
    } = await world.send("GET", "/openapi.json")
    for (const list of [...rows.map((row) => row.id), ...Object.keys(positioned)]) {
      const parameters: ReadonlyArray<{
        readonly name: string
        readonly in: string
        readonly required: boolean
        readonly schema: unknown
      }> = paths[endpointOf(list).path].get.parameters
      const schema = { type: "integer", minimum: 1, maximum: 1_000, ...(list in positioned ? { default: 100 } : {}) }
      assert.deepStrictEqual(
        parameters.find(({ name }) => name === "limit"),
        { name: "limit", in: "query", required: false, schema },
        list
      )
      const position = positioned[list as keyof typeof positioned] ?? "after"
      const at = parameters.find(({ name }) => name === position)
      assert.deepInclude(
        at?.schema,
        position === "after" && list !== "bound.versions" ? { type: "string" } : { type: "integer" },
        list
      )
    }
  })
})

for (const { badType, fill, id: list, member, nameOf, unknown } of rows) {
  describe(list, () => {
    const items = async (path: string): Promise<ReadonlyArray<never>> => {
      const { json, status, text } = await admin("GET", path)
      assert.strictEqual(status, 200, `${path}: ${text}`)
      return member === undefined ? json : json[member]
    }

    it("is whole without a query, and piece by piece the same", async () => {
      const { path } = await good(endpointOf(list))
      await fill(path)
      const all = await items(path)
      const least = member === undefined ? 2 : 1
      assert.isAtLeast(all.length, least)
      const names: Array<string | number> = []
      for (let after = ""; ;) {
        const page = await items(`${path}?limit=1${after}`)
        if (page.length === 0) break
        assert.lengthOf(page, 1)
        names.push(nameOf(page[0]!))
        after = `&after=${names.at(-1)}`
        assert.isAtMost(names.length, all.length)
      }
      assert.deepStrictEqual(
        names,
        all.map((item) => nameOf(item))
      )
      assert.deepStrictEqual(await items(`${path}?after=${nameOf(all[0]!)}`), all.slice(1))
      assert.deepStrictEqual(await items(`${path}?limit=1000`), all)
    })

    it("refuses invalid page parameters", async () => {
      const { path } = await good(endpointOf(list))
      const cases: ReadonlyArray<readonly [string, string, string]> = [
        ["limit=0", "greater_than_equal", "limit"],
        ["limit=1001", "less_than_equal", "limit"],
        ["limit=nope", "int_parsing", "limit"],
        ["limit=", "int_parsing", "limit"],
        ["limit=1.5", "int_parsing", "limit"],
        ["limit=1&limit=2", "value_error", "limit"],
        ["after=nope", badType, "after"],
        [`after=${unknown}`, "value_error", "after"]
      ]
      for (const [query, type, name] of cases)
        assert.deepStrictEqual(seen(await admin("GET", `${path}?${query}`)), [422, type, `query.${name}`], query)
    })
  })
}

describe("a page", () => {
  it("without a limit is of the size that the description says", async () => {
    const agent = await world.register(fresh())
    const decisions = Array.from({ length: 101 }, (_, at) => ({ client_ref: `r${at}`, action: "act" }))
    assert.strictEqual((await admin("POST", `/api/v1/agents/${agent}/decisions`, { decisions })).status, 201)
    for (const path of [`/api/v1/agents/${agent}/decisions`, `/api/v1/chain/records?agent_id=${agent}`]) {
      assert.lengthOf((await admin("GET", path)).json, 100, path)
      assert.isAtLeast(
        (await admin("GET", `${path}${path.includes("?") ? "&" : "?"}limit=1000`)).json.length,
        101,
        path
      )
    }
  })

  it("continues behind an agent that left the list since, and from none that the caller may not see", async () => {
    const [first, second] = [await world.register(fresh()), await world.register(fresh())]
    const orphans = async (after: string) => (await admin("GET", `/api/v1/agents/orphans?after=${after}`)).json.map(id)
    assert.include(await orphans(first), second)
    await admin("POST", `/api/v1/agents/${first}/transfer-ownership`, {
      owner_name: "Ada",
      owner_email: "ada@example.org"
    })
    assert.include(await orphans(first), second)
    const elsewhere = await world.register(fresh(), "treasury")
    assert.deepStrictEqual(seen(await world.send("GET", `/api/v1/agents?after=${elsewhere}`, { token: world.key })), [
      422,
      "value_error",
      "query.after"
    ])
    assert.strictEqual((await admin("GET", `/api/v1/agents?after=${elsewhere}`)).status, 200)
  })

  it("of one agent's envelopes ends", async () => {
    const { json: made } = await make("bound.create_envelope")
    const at = `/api/v1/bound/envelopes?agent_id=${made.agent_id}`
    assert.deepStrictEqual((await admin("GET", at)).json.map(id), [made.id])
    assert.deepStrictEqual((await admin("GET", `${at}&after=${made.id}`)).json, [])
  })
})
