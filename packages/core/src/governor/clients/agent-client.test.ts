import { assert, beforeEach, describe, it } from "vitest"
import type { EnvelopeSource } from "@flyball/envelope"
import { GovernorError } from "../../foundation/governor-error.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { type Governor, openGovernor } from "../governor.ts"
import type { AgentClient } from "./types/agent-client-types.ts"

const ann = { writer: "system:ann" }
const ben = { writer: "system:ben" }
const both = { ...ann, approver: ben.writer }
const agent = { name: "clerk", org_unit: "support", owner_name: "Ada", owner_email: "ada@example.org" }
const envelope: EnvelopeSource = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["write"], source: "caller" },
    size: { type: "int", min: 0, max: 1_000, source: "caller" }
  },
  effects: { write: "write_reversible" },
  rules: [
    {
      id: "small",
      outcome: "allow",
      when: [{ signal: "size", lte: 10 }],
      obligations: [{ type: "redact_fields", fields: ["card"] }]
    },
    { id: "large", outcome: "require_review", when: [{ signal: "size", between: [11, 100] }] }
  ],
  default: { outcome: "deny" }
}
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: unknown) => (error instanceof GovernorError ? error.code : String(error))
  )

let governor: Governor
let client: AgentClient
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage() })
  client = await governor.client({ agent, instanceId: "p1" })
  await governor.envelopes.ensure({ name: "Writing", agent_id: client.agent.id, envelope }, both)
  await governor.agents.update(client.agent.id, { autonomy_tier: "L2" }, ben)
  await governor.agents.activate(client.agent.id, ben)
  return () => governor.close()
})
const decisions = () => governor.decisions(client.agent.id)

describe("the client of an agent in the governor's process", () => {
  it("sends the declared signals, runs what is allowed, and records it without what the envelope redacts", async () => {
    const args = { size: 3, text: "free", card: "4000" }
    const done = await client.guard({ name: "write", ref: "r1" }, args, () => ({ card: "4000", lines: 3 }))
    assert.deepInclude(done, { repeated: false, result: { card: "4000", lines: 3 } })
    assert.deepStrictEqual(done.evaluation.signals, { tool: "write", size: 3 })
    const [decision] = await decisions()
    assert.deepInclude(decision, { id: done.decision_id, client_ref: "r1", action: "write" })
    assert.strictEqual(decision!.settled?.status, "ok")
    assert.include((await governor.chain.part({ seq: done.seq, name: "args" })).text, `"card":"[redacted]"`)
    assert.isTrue((await governor.check()).ok)
  })

  it("runs nothing twice under one reference", async () => {
    let runs = 0
    const act = () => client.guard({ name: "write", ref: "r1" }, { size: 3 }, () => ++runs)
    const [first, again] = [await act(), await act()]
    assert.deepStrictEqual([first.result, again.result, again.repeated, runs], [1, null, true, 1])
    assert.strictEqual(again.decision_id, first.decision_id)
  })

  it("refuses with the rule, and records the denial", async () => {
    const refused = client.guard("write", { size: 500 }, () => assert.fail("it ran"))
    const error = await refused.catch((cause: unknown) => cause as GovernorError)
    assert.instanceOf(error, GovernorError)
    assert.deepInclude(error as GovernorError, { code: "action_denied" })
    assert.deepInclude((error as GovernorError).detail as object, { outcome: "deny", rule: "@default" })
    assert.deepInclude((await decisions())[0], { status: "denied" })
  })

  it("continues under the same reference once a person approved", async () => {
    const act = () => client.guard({ name: "write", ref: "r1" }, { size: 50 }, () => "written")
    assert.strictEqual(await codeOf(act()), "action_denied")
    const [review] = await governor.reviews.list({})
    const mia = { writer: await governor.people.writer({ subject: "mia@example.org" }) }
    await governor.reviews.resolve(review!.id, { resolution: "approve", reason: "Fine." }, mia)
    assert.deepInclude(await act(), { repeated: false, result: "written" })
    assert.deepInclude(await act(), { repeated: true, result: null })
    assert.isTrue((await governor.check()).ok)
  })

  it("waits for nobody once the governor closes", async () => {
    const held = client.guard({ name: "write", hold_ms: 600_000 }, { size: 20 }, () => assert.fail("it ran"))
    const code = codeOf(held)
    let open = await governor.reviews.list({})
    while (open.length === 0) open = await governor.reviews.list({})
    const waited = governor.reviews.wait(open[0]!.id, 600_000)
    await governor.close()
    assert.deepStrictEqual([await code, (await waited).status], ["closed", "open"])
  })

  it("records an effect that throws, and one whose result no record can hold", async () => {
    const failed = client.guard("write", { size: 1 }, () => Promise.reject(new Error("disk full")))
    assert.strictEqual(await codeOf(failed), "Error: disk full")
    assert.strictEqual((await decisions())[0]!.settled?.status, "error")
    let deep: unknown = 0
    for (let level = 0; level < 80; level++) deep = [deep]
    await client.guard("write", { size: 1 }, () => deep)
    assert.strictEqual((await decisions())[0]!.settled?.status, "ok")
  })

  it("refuses what is no input by the code, and records an effect that throws what has no text", async () => {
    const cyclic: { size: number; self?: unknown } = { size: 1 }
    cyclic.self = cyclic
    for (const refused of [
      () => governor.client(undefined as never),
      () => client.guard(undefined as never, { size: 1 }, () => 1),
      () => client.guard("write", cyclic, () => 1),
      () => client.guard({ name: "write", hold_ms: "x" as never }, { size: 20 }, () => 1),
      () => governor.agents.list(cyclic as never)
    ])
      assert.strictEqual(await codeOf(refused()), "invalid_input")
    const bare: unknown = Object.create(null)
    const thrown = await client.guard("write", { size: 1 }, () => Promise.reject(bare)).catch((cause: unknown) => cause)
    assert.strictEqual(thrown, bare)
    assert.strictEqual((await decisions())[0]!.settled?.status, "error")
  })

  it("aborts what runs at a halt, runs nothing more, and acknowledges as its instance", async () => {
    const started = Promise.withResolvers<void>()
    const work = client.guard("write", { size: 1 }, async ({ signal }) => {
      started.resolve()
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
    })
    const ended = codeOf(work)
    await started.promise
    const target = { target_type: "agent" as const, target_id: client.agent.id }
    const { activation_event } = await governor.kill.activate({ ...target, reason: "Stop." }, ben)
    assert.strictEqual(await ended, "Error: The agent is halted.")
    const refused = await client.guard("write", { size: 1 }, () => assert.fail("it ran")).catch(String)
    assert.match(String(refused), /The action write did not run: \w+ by @killed\. Stop\./)
    for (;;) {
      const { instances } = await governor.kill.activation(activation_event!)
      if (instances.some(({ instance_id, state }) => instance_id === "p1" && state === "stopped")) break
    }
  })

  it("takes the id of an agent, and refuses one that there is none of", async () => {
    assert.strictEqual((await governor.client({ agent: client.agent.id })).agent.id, client.agent.id)
    assert.strictEqual(await codeOf(governor.client({ agent: "agt_x" })), "agent_not_found")
  })
})

describe("an ensured envelope", () => {
  const input = (text: EnvelopeSource) => ({ name: "Writing", agent_id: client.agent.id, envelope: text })
  const wrong = { ...envelope, effects: { wrote: "read" } } as EnvelopeSource
  const changed: EnvelopeSource = { ...envelope, rules: envelope.rules.slice(0, 1) }
  const versions = async () => (await governor.envelopes.versions((await governor.envelopes.list())[0]!.id)).length

  it("is published once, by whichever process", async () => {
    await Promise.all([1, 2, 3].map(() => governor.envelopes.ensure(input(envelope), both)))
    assert.strictEqual(await versions(), 1)
    const other = await governor.agents.register({ name: "other", org_unit: "support" })
    const made = { name: "Other", agent_id: other.agent.id, envelope }
    const all = await Promise.all([1, 2, 3].map(() => governor.envelopes.ensure(made, both)))
    assert.deepStrictEqual(
      all.map(({ live_version }) => live_version),
      [1, 1, 1]
    )
  })

  it("continues after a typing error where it stopped", async () => {
    assert.strictEqual(await codeOf(governor.envelopes.ensure(input(wrong), both)), "envelope_not_publishable")
    assert.deepInclude(await governor.envelopes.ensure(input(changed), both), { live_version: 2, draft: null })
  })

  it("is refused where the text is none, also where the agent has one", async () => {
    for (const text of [undefined, { ...envelope, more: Number.NaN }, { ...envelope, default: "\ud800" }])
      assert.strictEqual(await codeOf(governor.envelopes.ensure(input(text as never), both)), "invalid_input")
    assert.strictEqual(await codeOf(governor.envelopes.ensure(undefined as never, null as never)), "invalid_input")
  })

  it("needs another person for what it newly allows", async () => {
    await governor.envelopes.ensure(input(changed), both)
    const wider: EnvelopeSource = { ...envelope, name: "wider" }
    assert.strictEqual(await codeOf(governor.envelopes.ensure(input(wider), ann)), "second_approver_required")
    assert.strictEqual((await governor.envelopes.ensure(input(wider), both)).live_version, 3)
  })

  it("leaves what people did later as it is", async () => {
    await governor.envelopes.ensure(input(changed), both)
    const { id, live_version } = await governor.envelopes.ensure(input(envelope), both)
    assert.strictEqual(live_version, 2)
    await governor.envelopes.withdraw(id, {}, ann)
    assert.deepInclude(await governor.envelopes.ensure(input(envelope), both), { status: "withdrawn" })
  })
})

describe("ingest keys through the plain client", () => {
  it("are minted, listed without the key, and revoked", async () => {
    const { key, ...minted } = await governor.ingestKeys.mint({ name: "a gateway", org_unit: "support" }, ann)
    assert.match(key, /^\S{20,}$/)
    assert.deepStrictEqual(await governor.ingestKeys.list(), [minted])
    assert.isNotNull((await governor.ingestKeys.revoke(minted.id, ann)).revoked_at)
    assert.strictEqual(await codeOf(governor.ingestKeys.revoke("key_x")), "ingest_key_not_found")
    assert.isTrue((await governor.check()).ok)
  })
})
