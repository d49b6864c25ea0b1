/** The client against a real server: a guarded action, a halt, a release, and a server that goes away. */
import {
  ActionDenied,
  type AgentClient,
  type Client,
  type ClientOptions,
  openClient,
  type Problem
} from "@flyball/client"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { killExpectation } from "../../../packages/core/src/verdicts/kill/expected.ts"

let world: World
let client: Client
let open = true
const problems: Array<Problem> = []
beforeAll(async () => void (world = await openWorld({ jobs: killExpectation })))
afterAll(() => world.close())
afterEach(async () => {
  open = true
  await client.close()
})

const post = async (path: string, json: unknown, token = world.admin) => {
  const got = await world.send("POST", `/api/v1${path}`, { token, json })
  assert.isBelow(got.status, 300, `${path}: ${got.text}`)
  return got.json
}

/** A fetch that fails while the network is cut. */
const cuttable = (async (...input: Parameters<typeof fetch>) => {
  if (!open) throw new TypeError("fetch failed")
  return fetch(...input)
}) as typeof fetch

/** An agent that may search alone. */
const governed = async (name: string, options: Partial<ClientOptions> = {}): Promise<AgentClient> => {
  problems.length = 0
  const onProblem = (one: Problem): void => void problems.push(one)
  client = openClient({ url: world.url, key: world.key, fetch: cuttable, onProblem, ...options })
  const agent = await client.register({ name, owner_name: "Ada", owner_email: "ada@example.org" })
  const { id } = await post("/bound/envelopes", {
    name: `${name} rules`,
    agent_id: agent.id,
    envelope: {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["lookup", "refund", "change"], source: "caller" } },
      effects: { lookup: "read", refund: "money", change: "write_reversible" },
      rules: [
        { id: "lookup", outcome: "allow", when: [{ signal: "tool", in: ["lookup"] }] },
        { id: "change", outcome: "require_review", when: [{ signal: "tool", in: ["change"] }] }
      ],
      default: { outcome: "deny" }
    }
  })
  await post(`/bound/envelopes/${id}/publish`, {}, await world.token("governor", "*"))
  await post(`/agents/${agent.id}/activate`, {})
  return agent
}

const attempt = (agent: AgentClient, action: string): Promise<string> =>
  agent
    .guard(action, {}, () => "ran")
    .catch((cause: unknown) =>
      cause instanceof ActionDenied ? `${cause.outcome} ${cause.rule}` : Promise.reject(cause)
    )

const decisionsOf = async (agent: AgentClient) => {
  const flushed = await client.flush()
  assert.strictEqual(flushed.pending, 0)
  return (await world.send("GET", `/api/v1/agents/${agent.id}/decisions`, { token: world.admin })).json
}

describe("the client against a real server", () => {
  it("runs the actions that the envelope allows, and records each once with its evaluation", async () => {
    const agent = await governed("reader")
    assert.strictEqual(await attempt(agent, "lookup"), "ran")
    assert.match(await attempt(agent, "refund"), /^deny /)
    const decisions = await decisionsOf(agent)
    assert.deepStrictEqual(
      decisions.map((one: { status: string; action: string }) => [one.action, one.status]),
      [
        ["refund", "denied"],
        ["lookup", "ok"]
      ]
    )
    for (const one of decisions) assert.match(one.evaluation_id, /^evl_/)
    assert.strictEqual(decisions[0].instance_id, agent.instanceId)
    const again = await client.register({ name: "reader" })
    assert.strictEqual(again.id, agent.id)
  })

  it("stops at a halt, continues after the release, and reports both correctly", async () => {
    const agent = await governed("halted")
    const { activation_event } = await post("/bound/kill/activate", {
      target_type: "agent",
      target_id: agent.id,
      reason: "test"
    })
    await agent.kill.refresh()
    assert.strictEqual(agent.kill.view().activationEvent, activation_event)
    assert.strictEqual(await attempt(agent, "lookup"), "halt @killed")
    await agent.kill.refresh()
    const activation = await world.send("GET", `/api/v1/bound/kill/activations/${activation_event}`, {
      token: world.admin
    })
    assert.deepInclude(
      activation.json.instances.find((one: { instance_id: string }) => one.instance_id === agent.instanceId),
      { state: "stopped", in_flight: 0 }
    )
    await post("/bound/kill/release", { activation_event, reason: "test is over" })
    await agent.kill.refresh()
    assert.strictEqual(await attempt(agent, "lookup"), "ran")
    assert.deepStrictEqual(
      (await decisionsOf(agent)).map((one: { decided_by: string }) => one.decided_by),
      ["server", "fail_closed"]
    )
  })

  it("receives a halt by the stream, aborts running actions, and is shown as stopped once they ended", async () => {
    const agent = await governed("streaming")
    const interrupted = agent
      .guard("lookup", {}, ({ signal }) => {
        const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
        void post("/bound/kill/activate", { target_type: "agent", target_id: agent.id, reason: "test" })
        return aborted
      })
      .catch((cause: unknown) => String(cause))
    assert.match(String(await interrupted), /halted at epoch \d+/)
    await agent.kill.refresh()
    const id = agent.kill.view().activationEvent
    const shown = async () =>
      (await world.send("GET", `/api/v1/bound/kill/activations/${id}`, { token: world.admin })).json
    // Whom it expects follows the activation.
    while ((await shown()).expected === null) continue
    assert.deepInclude(await shown(), { expected: 1, acknowledged: 1, stopped: 1 })
  })

  it("is stopped by the server when its own status is older, and the verdict names the halt", async () => {
    const agent = await governed("behind")
    await agent.kill.refresh()
    await post("/bound/kill/activate", { target_type: "agent", target_id: agent.id, reason: "test" })
    assert.match(await attempt(agent, "lookup"), /@killed/)
  })

  it("waits for a person, who sees no redacted argument, and runs once after the approval", async () => {
    const agent = await governed("reviewed", { hold: { waitMs: 60_000 }, redact: ["iban"], signals: () => ({}) })
    await world.send("PATCH", `/api/v1/agents/${agent.id}`, { token: world.admin, json: { autonomy_tier: "L2" } })
    const action = { name: "change", signals: { tool: "change" } }
    const args = { account: 7, iban: "DE02120300000000202051" }
    let ran = 0
    const held = agent.guard(action, args, () => ++ran)
    const reviewer = await world.token("reviewer", "*")
    const listed = `/api/v1/bound/reviews?agent_id=${agent.id}`
    let review = null
    while (review === null) review = (await world.send("GET", listed, { token: reviewer })).json[0] ?? null
    assert.deepInclude(review, { status: "open", args_redacted: true })
    const shown = await world.send("GET", `/api/v1/bound/reviews/${review.id}`, { token: world.admin })
    assert.deepStrictEqual(shown.json.args, { account: 7, iban: "[redacted]" })
    assert.deepInclude(await agent.reviews.wait(review.id, { withinMs: 0 }), { id: review.id, status: "open" })
    await post(`/bound/reviews/${review.id}/resolve`, { resolution: "approve" }, reviewer)
    assert.strictEqual(await held, 1)
    const [decision] = await decisionsOf(agent)
    assert.deepInclude(decision, { status: "ok", approval_id: review.id })
    // Used up: the same call asks people again, and other arguments never had the approval.
    const pending = agent.guard({ ...action, hold: { waitMs: 0 } }, args, () => ++ran)
    const denied = await pending.catch((cause: unknown) => cause as ActionDenied)
    assert.notStrictEqual((denied as ActionDenied).reviewId, review.id)
    assert.strictEqual(ran, 1)
  })

  it("denies while the server is unreachable, keeps the decisions, and sends them when it is back", async () => {
    const agent = await governed("cut off")
    open = false
    assert.strictEqual(await attempt(agent, "lookup"), "deny @fail_closed:unreachable")
    await agent.witness({ action: "note", kind: "message", status: "ok" })
    assert.strictEqual((await client.flush(300)).pending, 2)
    open = true
    const decisions = await decisionsOf(agent)
    assert.deepStrictEqual(
      decisions.map((one: { action: string }) => one.action),
      ["note", "lookup"]
    )
    assert.isBelow(decisions[1].writer_seq, decisions[0].writer_seq)
  })
})
