/** A client whose server is cut off: what it decides by the envelopes that it keeps, and what replay finds of it. */
import { ActionDenied, type AgentClient, type Client, openClient } from "@flyball/client"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { replayed } from "../replay-verdicts/replayed.ts"
import { type BreakableLine, breakableLine } from "./breakable-line.ts"

let world: World
let line: BreakableLine
let client: Client
beforeAll(async () => {
  world = await openWorld()
  line = await breakableLine(world.url)
})
afterAll(async () => {
  await line.close()
  await world.close()
})
afterEach(async () => {
  line.become("open")
  await client.close()
})

const call = async (method: "GET" | "POST", path: string, json?: unknown, token = world.admin) => {
  const got = await world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
  assert.isBelow(got.status, 300, `${path}: ${got.text}`)
  return got.json
}

/** Looks up freely, exports nothing, writes reversibly. */
const lookups = (more: object = {}) => ({
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["lookup", "export", "change"], source: "caller" } },
  effects: { lookup: "read", export: "read", change: "write_reversible" },
  rules: [
    { id: "lookup", outcome: "allow", when: [{ signal: "tool", in: ["lookup"] }] },
    { id: "export", outcome: "deny", when: [{ signal: "tool", in: ["export"] }] },
    { id: "change", outcome: "allow", when: [{ signal: "tool", in: ["change"] }] }
  ],
  default: { outcome: "deny" },
  on_unavailable: "allow_cached",
  ...more
})

const publish = async (agentId: string, envelope: object): Promise<string> => {
  const { id } = await call("POST", "/bound/envelopes", { name: `rules of ${agentId}`, agent_id: agentId, envelope })
  await call("POST", `/bound/envelopes/${id}/publish`, {}, await world.token("governor", "*"))
  return id
}

/** An active agent under this envelope. */
const governed = async (name: string, envelope: object): Promise<{ agent: AgentClient; envelopeId: string }> => {
  client = openClient({ url: line.url, key: world.key, timeoutMs: 500 })
  const agent = await client.register({ name, owner_name: "Ada", owner_email: "ada@example.org" })
  const envelopeId = await publish(agent.id, envelope)
  await call("POST", `/agents/${agent.id}/activate`, {})
  return { agent, envelopeId }
}

const attempt = (agent: AgentClient, name: string, effect: "read" | "side_effect" = "read"): Promise<string> =>
  agent
    .guard({ name, effect }, {}, () => "ran")
    .catch((cause: unknown) =>
      cause instanceof ActionDenied ? `${cause.outcome} ${cause.rule}` : Promise.reject(cause)
    )

/** How a read ends once the client holds the envelopes and the line is cut. */
const readsWhileCut = async (agent: AgentClient): Promise<string> => {
  assert.strictEqual(await attempt(agent, "lookup"), "ran")
  assert.isTrue(await agent.envelopes.refresh())
  line.become("cut")
  return attempt(agent, "lookup")
}

const verified = async () => {
  const requested = { kind: "full", disclose: "all" }
  const { id } = await call("POST", "/evidence/packs", requested)
  const { bytes } = await world.send("GET", `/api/v1/evidence/packs/${id}`, { token: world.admin })
  const { keys } = await call("GET", "/chain/keys")
  return replayed(bytes, keys[0].vkey)
}

describe("a client that is cut off from its server", () => {
  it("allows only the reads that the envelope permits offline, and replay confirms each", async () => {
    const { agent } = await governed("reader", lookups())
    assert.strictEqual(await readsWhileCut(agent), "ran")
    assert.strictEqual(await attempt(agent, "export"), "deny export")
    assert.strictEqual(await attempt(agent, "change", "side_effect"), "deny @fail_closed:unreachable")
    // Called a read by the agent, and none by the envelope.
    assert.strictEqual(await attempt(agent, "change", "read"), "deny @fail_closed:unreachable")
    assert.isAbove(client.pending(), 0)
    line.become("open")
    assert.strictEqual((await client.flush()).pending, 0)
    const decisions = await call("GET", `/agents/${agent.id}/decisions`)
    assert.deepStrictEqual(
      decisions.map((one: Record<string, string>) => [one["action"], one["status"], one["decided_by"]]),
      [
        ["change", "denied", "fail_closed"],
        ["change", "denied", "fail_closed"],
        ["export", "denied", "sdk_cache"],
        ["lookup", "ok", "sdk_cache"],
        ["lookup", "ok", "server"]
      ]
    )
    assert.deepInclude(decisions[3].local_verdict, { outcome: "allow", matched_rule: "lookup" })
    assert.includeMembers(decisions[3].parts, ["args", "signals"])
    const { replay, status, text } = await verified()
    assert.deepStrictEqual([status, replay!.local_verdicts, replay!.mismatches, replay!.withheld], [0, 2, [], []])
    assert.match(text, /2 of them by the agent's SDK alone/)
  })

  it("decides by the version that it read, which replay accepts although another is in force by then", async () => {
    const { agent, envelopeId } = await governed("behind", lookups())
    assert.strictEqual(await readsWhileCut(agent), "ran")
    const rules = [{ id: "nothing", outcome: "deny", when: [] }]
    const path = `/api/v1/bound/envelopes/${envelopeId}`
    await world.send("PATCH", path, { token: world.admin, json: { envelope: lookups({ rules }) } })
    await call("POST", `/bound/envelopes/${envelopeId}/publish`, {}, await world.token("governor", "*"))
    assert.strictEqual(await attempt(agent, "lookup"), "ran")
    line.become("open")
    await client.flush()
    assert.strictEqual(await attempt(agent, "lookup"), "deny nothing")
    await client.flush()
    assert.deepStrictEqual((await verified()).status, 0)
  })

  for (const [what, more] of [
    ["does not offer it", { on_unavailable: "deny" }],
    [
      "has meters",
      { meters: { reads: { op: "count", where: { tool: ["lookup"] }, key: ["agent_id"], window_ms: 60_000 } } }
    ],
    ["asks a person", { rules: [{ id: "ask", outcome: "require_review", when: [] }] }]
  ] as const)
    it(`denies reads under an envelope that ${what}`, async () => {
      const { agent } = await governed(`denied, ${what}`.replaceAll(/\W+/g, "-"), lookups(more))
      await attempt(agent, "lookup")
      assert.strictEqual(await agent.envelopes.refresh(), what === "asks a person")
      line.become("cut")
      assert.strictEqual(await attempt(agent, "lookup"), "deny @fail_closed:unreachable")
    })

  it("reads the arguments that it witnesses; replay vouches for none that were redacted afterwards", async () => {
    const hidden = { type: "redact_fields", fields: ["table"] }
    const { agent } = await governed(
      "reads arguments",
      lookups({
        signals: {
          tool: { type: "enum", values: ["lookup", "export", "change"], source: "caller" },
          table: { type: "enum", values: ["orders", "people"], source: "args", from: "/query/table", optional: true },
          rows: { type: "int", min: 0, max: 100, source: "args", from: "/query/rows" }
        },
        rules: [
          { id: "few", outcome: "allow", when: [{ signal: "rows", lte: 50 }] },
          { id: "orders", outcome: "allow", when: [{ signal: "table", eq: "orders" }], obligations: [hidden] },
          { id: "people", outcome: "deny", when: [{ signal: "table", eq: "people" }] }
        ]
      })
    )
    const reads = (query: { [name: string]: number | string }, more: { text?: string } = {}): Promise<string> =>
      agent
        .guard({ name: "lookup", effect: "read" }, { query, ...more }, () => "ran")
        .catch((cause: ActionDenied) => `${cause.rule} ${cause.reason}`)
    const all = async () => [
      await reads({ rows: 5 }),
      await reads({ rows: 60 }),
      await reads({ rows: 5, table: "people" }),
      await reads({ rows: "5" }),
      await reads({ rows: 5 }, { text: "x".repeat(100_000) })
    ]
    const served = await all()
    assert.deepStrictEqual(served, [
      "ran",
      "@default ",
      "people ",
      "@invalid_signal `rows` should be an integer from 0 to 100; the arguments have a string at `/query/rows`.",
      "ran"
    ])
    assert.isTrue(await agent.envelopes.refresh())
    line.become("cut")
    assert.deepStrictEqual(await all(), served)
    const open = async () => {
      line.become("open")
      await client.flush()
      return verified()
    }
    const { replay, status } = await open()
    assert.deepStrictEqual([status, replay!.mismatches, replay!.withheld], [0, [], []])
    await agent.envelopes.refresh()
    line.become("cut")
    assert.strictEqual(await reads({ rows: 5, table: "orders" }), "ran")
    const later = await open()
    assert.deepStrictEqual([later.status, later.replay!.mismatches], [2, []])
    assert.match(later.replay!.withheld[0]!.reason!, /^The arguments, which the envelope reads, are not shown/)
  })

  it("returns the documents to no key when the envelope does not permit offline use", async () => {
    const { agent } = await governed("closed", lookups({ on_unavailable: "deny" }))
    const path = `/bound/agents/${agent.id}/envelopes-in-force`
    const answer = await call("GET", path, undefined, world.key)
    assert.deepInclude(answer, { obstacle: "not_offered", effective_tier: "L0" })
    assert.deepStrictEqual(
      answer.layers.map((one: Record<string, unknown>) => [one["on_unavailable"], one["envelope"]]),
      [["deny", null]]
    )
  })
})
