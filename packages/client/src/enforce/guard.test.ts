import { afterEach, assert, describe, it } from "vitest"
import { type AgentClient, type Client, type ClientOptions, openClient } from "../client.ts"
import { manualClock, settled } from "../testing/manual-clock.ts"
import { type SentRequest, type Scripted, scriptedFetch } from "../testing/scripted-server.ts"
import { verdictAnswer } from "../testing/verdict-answer.ts"
import { ActionDenied } from "./denied.ts"
import { actionDigest, digestKeyOf, keyedActionDigest } from "../action-digest.ts"
import { EffectUnknown } from "./guard.ts"

const noText = "something was thrown that has no text"

let client: Client | null = null
afterEach(() => void client?.close())

interface Script {
  evaluation: Scripted
  decisions: Scripted | null
  halted: boolean
  reason: string | null
  epoch: number
  status: Scripted | null
}

/** An agent against a server that a test changes. */
const world = async (options: Partial<ClientOptions> = {}) => {
  const clock = manualClock()
  const script: Script = {
    evaluation: { status: 201, json: verdictAnswer() },
    decisions: null,
    halted: false,
    reason: null,
    epoch: 1,
    status: null
  }
  const { fetch, seen } = scriptedFetch((sent: SentRequest): Scripted => {
    const path = sent.path.split("?")[0]!
    if (path === "/api/v1/agents") return { status: 200, json: [{ id: "agt_1", name: "bot" }] }
    if (path.endsWith("/kill/stream")) return "hang"
    if (path.endsWith("/kill/status"))
      return (
        script.status ?? {
          status: 200,
          json: {
            halted: script.halted,
            reason: script.reason,
            drill: false,
            activation_event: null,
            effective_response: script.halted ? "halt" : null,
            epoch: script.epoch,
            origin: "a/b"
          }
        }
      )
    if (path.endsWith("/bound/evaluations")) return script.evaluation
    if (path.endsWith("/settle")) return { status: 201, json: { duplicate: false } }
    return (
      script.decisions ?? {
        status: 201,
        json: {
          receipts: sent.json.decisions.map((one: { client_ref: string }) => ({
            client_ref: one.client_ref,
            decision_id: `dec_${one.client_ref}`,
            duplicate: false
          }))
        }
      }
    )
  })
  client = openClient({ url: "http://flyball.test", key: "k", fetch, clock, redact: ["token"], ...options })
  const agent = await client.register({ name: "bot" })
  await settled()
  const witnessed = async () => {
    const flushing = client!.flush(3_000)
    await clock.advance(3_000)
    await flushing
    // oxlint-disable-next-line no-explicit-any
    return seen.flatMap(({ json, path }): ReadonlyArray<any> => (path.endsWith("/decisions") ? json.decisions : []))
  }
  const settlements = () =>
    seen.filter(({ path }) => path.endsWith("/settle")).map(({ json, path }) => ({ path, json }))
  return { agent, clock, script, seen, witnessed, settlements }
}

/** How a guarded action ended, and how often its effect ran. */
const run = async (agent: AgentClient, effect: "read" | "side_effect" = "side_effect") => {
  let ran = 0
  const ended = await agent
    .guard({ name: "refund", effect }, { amount: 5, token: "secret" }, () => ++ran)
    .then(
      () => "ran",
      (cause: unknown) => (cause instanceof ActionDenied ? `${cause.outcome} ${cause.rule}` : String(cause))
    )
  return { ended, ran }
}

describe("guard", () => {
  it("sends digest and signals, runs the effect once, and witnesses it once", async () => {
    const { agent, seen, witnessed } = await world()
    assert.deepStrictEqual(await run(agent), { ended: "ran", ran: 1 })
    const { json } = seen.find(({ path }) => path.endsWith("/evaluations"))!
    assert.deepInclude(json, {
      agent_id: "agt_1",
      action: "refund",
      signals: { tool: "refund", amount: 5 },
      action_digest: keyedActionDigest(digestKeyOf("k"), { amount: 5, token: "secret" }),
      args: { amount: 5, token: "[redacted]" },
      args_redacted: true
    })
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], {
      action: "refund",
      capture: "self_reported",
      status: "ok",
      evaluation_id: "evl_1",
      decided_by: "server",
      args: { amount: 5, token: "[redacted]" },
      result: 1
    })
  })

  it("witnesses an effect that throws as an error, and rethrows what it threw", async () => {
    const { agent, witnessed } = await world()
    const failing = agent.guard("refund", null, () => Promise.reject(new Error("no funds")))
    assert.match(String(await failing.catch((cause: unknown) => cause)), /no funds/)
    assert.deepInclude((await witnessed())[0], { status: "error", result: { error: "no funds" } })
  })

  it("witnesses what was thrown that is no Error, or has no text", async () => {
    const { agent, witnessed } = await world()
    const bare: unknown = Object.create(null)
    const mute = Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new Error("no message")
      }
    })
    const seen: Array<unknown> = []
    for (const thrown of ["text", 5, undefined, Symbol("sign"), bare, mute])
      await agent
        .guard("refund", null, () => {
          // oxlint-disable-next-line no-throw-literal
          throw thrown
        })
        .catch((cause: unknown) => seen.push(cause === thrown))
    assert.deepStrictEqual(seen, Array<boolean>(6).fill(true))
    assert.deepStrictEqual(
      (await witnessed()).map(({ result, status }) => [status, result.error]),
      ["text", "5", "undefined", "Symbol(sign)", noText, noText].map((error) => ["error", error])
    )
  })

  it("witnesses large arguments and results by size and digest, without what is redacted", async () => {
    const { agent, witnessed } = await world()
    const text = "x".repeat(600_000)
    await agent.guard("store", { text, token: "secret" }, () => ({ text, token: "secret" }))
    const withheld = { text, token: "[redacted]" }
    const part = { withheld: "too_large", bytes: JSON.stringify(withheld).length, digest: actionDigest(withheld) }
    assert.deepInclude((await witnessed())[0], { args: part, result: part })
  })

  it("sends large arguments to be judged without the texts that no signal can have", async () => {
    const { agent, seen } = await world()
    const sent = async (args: object) => {
      await agent.guard("store", args as never, () => null)
      const {
        action_digest,
        args: shown,
        args_redacted
      } = seen.findLast(({ path }) => path.endsWith("/evaluations"))!.json as { [name: string]: unknown }
      return { action_digest, args: shown, args_redacted }
    }
    const large = { path: "/a", parts: ["y".repeat(8_192), "x".repeat(90_000)] }
    assert.deepStrictEqual(await sent(large), {
      action_digest: keyedActionDigest(digestKeyOf("k"), large),
      args: { path: "/a", parts: ["y".repeat(8_192), "[redacted]"] },
      args_redacted: true
    })
    const many = { parts: Array<string>(20).fill("y".repeat(8_192)) }
    assert.deepStrictEqual(await sent(many), {
      action_digest: actionDigest(many),
      args: undefined,
      args_redacted: undefined
    })
  })

  it("witnesses at once what continues elsewhere, and settles it by how it ends", async () => {
    const { agent, clock, seen, settlements, witnessed } = await world()
    let finish: () => void = () => undefined
    const running = agent.guard("build", { token: "secret" }, async ({ goesOn }) => {
      await goesOn()
      await goesOn()
      await new Promise<void>((resolve) => (finish = resolve))
      return "built"
    })
    const [intended, ...others] = await witnessed()
    assert.lengthOf(others, 0)
    assert.deepInclude(intended, {
      action: "build",
      status: "intended",
      evaluation_id: "evl_1",
      args: { token: "[redacted]" }
    })
    await clock.advance(2_000)
    finish()
    assert.strictEqual(await running, "built")
    const sent = await witnessed()
    assert.deepStrictEqual(sent, [intended, intended], "the same content again, which adds nothing")
    const [settled, ...more] = settlements()
    assert.lengthOf(more, 0)
    assert.strictEqual(settled!.path, `/api/v1/decisions/dec_${intended.client_ref}/settle`)
    assert.deepInclude(settled!.json, { status: "ok", result: "built" })
    assert.isAtLeast(settled!.json.latency_ms, 2_000)
    assert.lengthOf(
      seen.filter(({ path }) => path.endsWith("/evaluations")),
      1
    )
  })

  it("says unknown where an effect does not know how it ended", async () => {
    const { agent, witnessed } = await world()
    const failing = agent.guard("build", null, () => Promise.reject(new EffectUnknown("gone", { task: "t" })))
    assert.instanceOf(await failing.catch((cause: unknown) => cause), EffectUnknown)
    assert.deepInclude((await witnessed())[0], { status: "unknown", result: { task: "t" } })
  })

  it("hands the effect a copy of the arguments that were judged, and witnesses that copy", async () => {
    const { agent, witnessed } = await world()
    const args = { amount: 5 }
    let handed: unknown
    await agent.guard("refund", args, (running) => {
      handed = structuredClone(running.args)
      args.amount = 7
      Object.assign(running.args as object, { amount: 9 })
    })
    assert.deepStrictEqual(handed, { amount: 5 })
    assert.deepStrictEqual((await witnessed())[0].args, { amount: 5 })
  })

  it("denies where the arguments were changed between the verdict and the effect", async () => {
    const { agent, witnessed } = await world()
    const args = { amount: 5 }
    let ran = 0
    const guarded = agent.guard("refund", args, () => ++ran).catch((cause: unknown) => cause)
    args.amount = 5_000
    const denied = await guarded
    assert.instanceOf(denied, ActionDenied)
    assert.strictEqual((denied as ActionDenied).rule, "@fail_closed:guard")
    assert.strictEqual(ran, 0)
    assert.deepInclude((await witnessed())[0], { status: "denied", args: { amount: 5 }, decided_by: "fail_closed" })
  })

  it("removes from the record what the envelope obliges it to redact", async () => {
    const { agent, script, witnessed } = await world()
    const obligations = [{ type: "redact_fields", fields: ["amount"] }]
    script.evaluation = { status: 201, json: verdictAnswer({ obligations }) }
    await run(agent)
    assert.deepStrictEqual((await witnessed())[0].args, { amount: "[redacted]", token: "[redacted]" })
  })

  for (const [name, evaluation, ended] of [
    ["a denial", { status: 201, json: verdictAnswer({ outcome: "deny", matched_rule: "large" }) }, "deny large"],
    ["a halt", { status: 201, json: verdictAnswer({ outcome: "halt", matched_rule: "fraud" }) }, "halt fraud"],
    [
      "a review",
      { status: 201, json: verdictAnswer({ outcome: "require_review", review_id: "rev_1" }) },
      "require_review small"
    ],
    ["a key that is refused", { status: 401 }, "deny @fail_closed:auth"],
    ["a quarantine", { status: 403, json: { code: "agent_quarantined" } }, "deny @fail_closed:auth"],
    ["a question that is refused", { status: 422, json: { detail: [] } }, "deny @fail_closed:protocol"],
    ["an unknown outcome", { status: 201, json: verdictAnswer({ outcome: "perhaps" }) }, "deny @fail_closed:protocol"],
    [
      "an unknown obligation",
      { status: 201, json: verdictAnswer({ obligations: [{ type: "x" }] }) },
      "deny @fail_closed:protocol"
    ]
  ] as const)
    it(`runs nothing after ${name}, asks once, and witnesses the denial`, async () => {
      const { agent, script, seen, witnessed } = await world()
      script.evaluation = evaluation
      assert.deepStrictEqual(await run(agent), { ended, ran: 0 })
      assert.lengthOf(
        seen.filter(({ path }) => path.endsWith("/evaluations")),
        1
      )
      const [decision] = await witnessed()
      assert.deepInclude(decision, {
        status: "denied",
        decided_by: ended.includes("@") ? "fail_closed" : "server",
        ...(ended.includes("@") ? { labels: { rule: ended.split(" ")[1] } } : { evaluation_id: "evl_1" })
      })
    })

  for (const away of ["cut", "hang", { status: 503 }] as const)
    it(`sends one reference three times and denies without an answer (${JSON.stringify(away)})`, async () => {
      const { agent, clock, script, seen } = await world()
      script.evaluation = away
      const running = run(agent)
      await clock.advance(10_000)
      assert.deepStrictEqual(await running, { ended: "deny @fail_closed:unreachable", ran: 0 })
      const sent = seen.filter(({ path }) => path.endsWith("/evaluations"))
      assert.lengthOf(sent, 3)
      assert.lengthOf(new Set(sent.map(({ json }) => json.client_ref)), 1)
    })

  it("denies at once while the agent is halted, without a request", async () => {
    const { agent, clock, script, seen } = await world()
    Object.assign(script, { halted: true, epoch: 2 })
    await clock.advance(6_000)
    assert.deepStrictEqual(await run(agent), { ended: "halt @killed", ran: 0 })
    assert.lengthOf(
      seen.filter(({ path }) => path.endsWith("/evaluations")),
      0
    )
  })

  it("says to the model what was said with the halt, also where the verdict comes before the status", async () => {
    const { agent, clock, script, witnessed } = await world()
    const message = (): Promise<unknown> =>
      agent.guard("refund", {}, () => 1).catch((cause: unknown) => (cause as ActionDenied).message)
    Object.assign(script, {
      halted: true,
      reason: "Pays twice.",
      epoch: 2,
      evaluation: { status: 201, json: verdictAnswer({ outcome: "halt", matched_rule: "@killed" }) }
    })
    const said = "The action refund did not run: halt by @killed. The agent is stopped: Pays twice."
    assert.strictEqual(await message(), said)
    await clock.advance(6_000)
    assert.strictEqual(await message(), said)
    // A person's text stays in its one erasable part.
    assert.notInclude(JSON.stringify(await witnessed()), "Pays twice")
  })

  it("checks halts again right before the effect", async () => {
    const { agent, clock, script } = await world()
    script.evaluation = "hang"
    const running = run(agent)
    await settled()
    // The first question gets no answer; the halt comes while the second one waits.
    Object.assign(script, { halted: true, epoch: 2, evaluation: { status: 201, json: verdictAnswer() } })
    await agent.kill.refresh()
    await clock.advance(3_000)
    assert.deepStrictEqual(await running, { ended: "halt @killed", ran: 0 })
  })

  it("denies side effects on a stale status, and reads only after four times the bound", async () => {
    const { agent, clock, script } = await world()
    script.status = "cut"
    await clock.advance(16_000)
    assert.deepStrictEqual(await run(agent), { ended: "deny @stale_status", ran: 0 })
    assert.deepStrictEqual(await run(agent, "read"), { ended: "ran", ran: 1 })
    await clock.advance(50_000)
    assert.deepStrictEqual(await run(agent, "read"), { ended: "deny @stale_status", ran: 0 })
  })

  it("says in its message what prevents the action", async () => {
    const { agent, clock, script } = await world()
    const message = (): Promise<unknown> =>
      agent.guard("refund", {}, () => 1).catch((cause: unknown) => (cause as ActionDenied).message)
    for (const [rule, suggestion, said] of [
      ["@not_active", null, "The agent is not active: an operator activates it first."],
      ["@no_envelope", null, "No envelope is in force for the agent: a governor publishes one first."],
      ["@tier_floor", "Ask for less.", "Ask for less."]
    ] as const) {
      script.evaluation = { status: 201, json: verdictAnswer({ outcome: "deny", matched_rule: rule, suggestion }) }
      assert.strictEqual(await message(), `The action refund did not run: deny by ${rule}. ${said}`)
    }
    script.status = "cut"
    await clock.advance(20_000)
    assert.match(
      String(await message()),
      /deny by @stale_status\. The kill status was last confirmed \d+ s ago: ECONNRESET\.$/
    )
  })

  it("aborts a running effect when the agent is halted, and witnesses how it ended", async () => {
    const { agent, script, witnessed } = await world()
    const ended = agent
      .guard(
        "refund",
        null,
        ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      )
      .catch((cause: unknown) => String(cause))
    await settled()
    Object.assign(script, { halted: true, epoch: 2 })
    await agent.kill.refresh()
    assert.match(String(await ended), /halted at epoch 2/)
    assert.deepInclude((await witnessed())[0], { status: "error" })
  })

  it("denies where the host's own code in the guard throws", async () => {
    const { agent } = await world({
      signals: () => {
        throw new Error("broken mapping")
      }
    })
    assert.deepStrictEqual(await run(agent), { ended: "deny @fail_closed:guard", ran: 0 })
  })

  it("witnesses before the effect where capture is strict, and settles after it", async () => {
    const { agent, settlements, witnessed } = await world({ capture: "strict" })
    assert.deepStrictEqual(await run(agent), { ended: "ran", ran: 1 })
    const [decision, ...others] = await witnessed()
    assert.deepInclude(decision, { status: "intended", evaluation_id: "evl_1" })
    assert.lengthOf(others, 0)
    assert.deepStrictEqual(
      settlements().map(({ json, path }) => [path, json.status]),
      [[`/api/v1/decisions/dec_${decision.client_ref}/settle`, "ok"]]
    )
  })

  it("runs nothing where capture is strict and nothing can be witnessed", async () => {
    const { agent, clock, script } = await world({ capture: "strict" })
    script.decisions = "cut"
    const running = run(agent)
    await clock.advance(3_000)
    assert.deepStrictEqual(await running, { ended: "deny @fail_closed:unreachable", ran: 0 })
  })

  it("has no option that weakens it: a longer age of the status is refused", () => {
    for (const maxStaleMs of [15_001, 0, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => openClient({ url: "http://flyball.test", key: "k", maxStaleMs }), RangeError)
  })
})
