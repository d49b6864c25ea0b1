import { envelopeDigest } from "@flyball/envelope"
import { portableCrypto } from "@flyball/evidence"
import { afterEach, assert, describe, it } from "vitest"
import { type AgentClient, type Client, type ClientOptions, openClient } from "../client.ts"
import { ActionDenied } from "../enforce/denied.ts"
import { manualClock, settled } from "../testing/manual-clock.ts"
import { type Scripted, scriptedFetch } from "../testing/scripted-server.ts"

let client: Client | null = null
afterEach(() => void client?.close())

const envelope = (more: object = {}) => ({
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["lookup", "export", "change", "ask", "warn"], source: "caller" } },
  effects: { lookup: "read", export: "read", ask: "read", warn: "read", change: "write_reversible" },
  rules: [
    { id: "lookup", outcome: "allow", when: [{ signal: "tool", in: ["lookup"] }] },
    { id: "export", outcome: "deny", when: [{ signal: "tool", in: ["export"] }], suggestion: "Find it." },
    { id: "change", outcome: "allow", when: [{ signal: "tool", in: ["change"] }] },
    { id: "ask", outcome: "require_review", when: [{ signal: "tool", in: ["ask"] }] },
    { id: "warn", outcome: "allow_with_notice", when: [{ signal: "tool", in: ["warn"] }] }
  ],
  default: { outcome: "deny" },
  on_unavailable: "allow_cached",
  ...more
})

const answerOf = (document: object, more: object = {}) => ({
  agent_id: "agt_1",
  origin: "a/b",
  as_of_ms: 1_000_000,
  as_of_seq: 7,
  max_age_ms: 60_000,
  obstacle: null,
  effective_tier: "L1",
  server_signals: { tier: 1 },
  layers: [
    {
      envelope_id: "env_1",
      version: 2,
      digest: `sha256:${envelopeDigest(document as never, portableCrypto.sha256)}`,
      on_unavailable: "allow_cached",
      meters: [],
      caller_signals: ["tool"],
      envelope: document
    }
  ],
  ...more
})

const layer = answerOf(envelope()).layers[0]!

interface Script {
  evaluation: Scripted
  envelopes: Scripted
  decisions: Scripted | null
  status: Scripted | null
  response: string | null
  epoch: number
  origin: string
}

const allowed: Scripted = {
  status: 201,
  json: {
    id: "evl_1",
    outcome: "allow",
    matched_rule: "lookup",
    layers: [layer],
    valid_ms: 15_000,
    obligations: [],
    review_id: null,
    suggestion: null
  }
}

/** An agent against a server that answers with these envelopes, and then with no verdict. */
const world = async (document: object = envelope(), more: object = {}, options: Partial<ClientOptions> = {}) => {
  const clock = manualClock()
  const etag = '"e1"'
  const script: Script = {
    evaluation: allowed,
    envelopes: { status: 200, json: answerOf(document, more), headers: { etag, "flyball-as-of": "7 1000000" } },
    decisions: null,
    status: null,
    response: null,
    epoch: 1,
    origin: "a/b"
  }
  const { fetch, seen } = scriptedFetch(({ json, path: full }): Scripted => {
    const path = full.split("?")[0]!
    if (path === "/api/v1/agents") return { status: 200, json: [{ id: "agt_1", name: "bot" }] }
    if (path.endsWith("/kill/stream")) return "hang"
    if (path.endsWith("/envelopes-in-force")) return script.envelopes
    if (path.endsWith("/bound/evaluations")) return script.evaluation
    if (path.endsWith("/kill/status"))
      return (
        script.status ?? {
          status: 200,
          json: {
            halted: script.response === "halt",
            drill: false,
            activation_event: null,
            effective_response: script.response,
            epoch: script.epoch,
            origin: script.origin
          }
        }
      )
    return (
      script.decisions ?? {
        status: 201,
        json: {
          receipts: (json?.decisions ?? []).map(({ client_ref }: { client_ref: string }) => ({
            client_ref,
            decision_id: "dec_1",
            duplicate: false
          }))
        }
      }
    )
  })
  client = openClient({ url: "http://flyball.test", key: "k", fetch, clock, ...options })
  const agent = await client.register({ name: "bot" })
  await settled()
  const witnessed = async () => {
    const flushing = client!.flush(3_000)
    await clock.advance(3_000)
    await flushing
    // oxlint-disable-next-line no-explicit-any
    return seen.flatMap(({ json, path }): ReadonlyArray<any> => (path.endsWith("/decisions") ? json.decisions : []))
  }
  const away = async () => {
    await run(agent, "lookup")
    await settled()
    script.evaluation = "cut"
  }
  /** How an action ends that is tried while the server gives no verdict. */
  const ends = async (name: string, effect: "read" | "side_effect" = "read") => {
    const running = run(agent, name, effect)
    await clock.advance(2_000)
    return running
  }
  return { agent, away, clock, ends, script, seen, witnessed }
}

const run = (agent: AgentClient, name: string, effect: "read" | "side_effect" = "read"): Promise<string> =>
  agent
    .guard({ name, effect }, {}, () => "ran")
    .catch((cause: unknown) => (cause instanceof ActionDenied ? `${cause.outcome} ${cause.rule}` : String(cause)))

const unreachable = "deny @fail_closed:unreachable"

describe("a read while the server gives no verdict", () => {
  for (const [what, evaluation] of [
    ["is cut off", "cut"],
    ["answers 503", { status: 503 }],
    ["answers 429", { status: 429 }]
  ] as const)
    it(`runs at once where the cached envelope allows it and the server ${what}, and is witnessed so`, async () => {
      const { agent, away, script, witnessed } = await world()
      await away()
      script.evaluation = evaluation
      assert.strictEqual(await run(agent, "lookup"), "ran")
      assert.deepInclude((await witnessed())[1], {
        status: "ok",
        decided_by: "sdk_cache",
        signals: { tool: "lookup" },
        local_verdict: {
          age_ms: 0,
          as_of_ms: 1_000_000,
          as_of_seq: 7,
          effective_tier: "L1",
          layers: [{ digest: layer.digest, envelope_id: "env_1", version: 2 }],
          matched_rule: "lookup",
          origin: "a/b",
          outcome: "allow"
        }
      })
    })

  it("runs after a time-out of the first request, and does not wait for others", async () => {
    const { agent, away, clock, script, seen } = await world()
    await away()
    script.evaluation = "hang"
    const before = seen.length
    const running = run(agent, "lookup")
    await clock.advance(2_000)
    assert.strictEqual(await running, "ran")
    assert.lengthOf(
      seen.slice(before).filter(({ path }) => path.endsWith("/evaluations")),
      1
    )
  })

  it("is denied by the cached envelope, with its rule and its suggestion, and witnessed so", async () => {
    const { agent, away, witnessed } = await world()
    await away()
    const denied = await agent.guard({ name: "export", effect: "read" }, {}, () => "ran").catch((cause) => cause)
    assert.instanceOf(denied, ActionDenied)
    assert.deepInclude({ ...denied }, { outcome: "deny", rule: "export", evaluation: null })
    assert.include(denied.message, "Find it.")
    const [, decision] = await witnessed()
    assert.deepInclude(decision, { status: "denied", decided_by: "sdk_cache" })
    assert.deepInclude(decision.local_verdict, { outcome: "deny", matched_rule: "export" })
  })

  for (const [what, name, effect] of [
    ["a side effect", "lookup", "side_effect"],
    ["what the envelope knows as a side effect", "change", "read"],
    ["what needs a person", "ask", "read"],
    ["what needs a notice in time", "warn", "read"]
  ] as const)
    it(`denies ${what}`, async () => {
      const { away, ends, witnessed } = await world()
      await away()
      assert.strictEqual(await ends(name, effect), unreachable)
      assert.deepInclude((await witnessed())[1], { decided_by: "fail_closed", status: "denied" })
    })

  for (const [what, document, more] of [
    ["does not offer it", envelope({ on_unavailable: "deny" }), {}],
    ["does not say what is to be done", envelope({ on_unavailable: undefined }), {}],
    [
      "has meters",
      envelope({ meters: { reads: { op: "count", where: {}, key: ["agent_id"], window_ms: 1_000 } } }),
      {}
    ],
    ["obliges to a pause", envelope({ rules: withObligation({ type: "cooldown_ms", ms: 1_000 }) }), {}],
    ["obliges to notify", envelope({ rules: withObligation({ type: "notify", to: ["ops"] }) }), {}],
    ["is not shown", envelope(), { obstacle: "waived" }],
    ["is of another agent", envelope(), { agent_id: "agt_2" }],
    ["is of another chain", envelope(), { origin: "a/c" }],
    [
      "is another document than its digest says",
      envelope(),
      { layers: [{ ...layer, digest: `sha256:${"0".repeat(64)}` }] }
    ]
  ] as const)
    it(`is denied under an envelope that ${what}`, async () => {
      const { away, ends } = await world(JSON.parse(JSON.stringify(document)), more)
      await away()
      assert.strictEqual(await ends("lookup"), unreachable)
    })

  it("continues for a minute after the envelopes were confirmed, and not longer, whatever else is known", async () => {
    const { away, clock, ends, script } = await world()
    await away()
    script.envelopes = "cut"
    await clock.advance(55_000)
    assert.strictEqual(await ends("lookup"), "ran")
    await clock.advance(4_000)
    assert.strictEqual(await ends("lookup"), unreachable)
  })

  it("counts the age from the sending of the request that was confirmed, also by a 304", async () => {
    const { away, clock, ends, script, seen } = await world()
    await away()
    script.envelopes = { status: 304, headers: { "flyball-as-of": "9 1015000" } }
    await clock.advance(45_000)
    const last = seen.filter(({ path }) => path.endsWith("/envelopes-in-force")).at(-1)!
    assert.strictEqual(last.headers.get("if-none-match"), '"e1"')
    script.envelopes = "hang"
    await clock.advance(50_000)
    assert.strictEqual(await ends("lookup"), "ran")
    await clock.advance(20_000)
    assert.strictEqual(await ends("lookup"), unreachable)
  })

  it("takes the position in the chain from the answer that confirmed it last", async () => {
    const { agent, away, clock, script, witnessed } = await world()
    await away()
    script.envelopes = { status: 304, headers: { "flyball-as-of": "9 1015000" } }
    await clock.advance(16_600)
    assert.strictEqual(await run(agent, "lookup"), "ran")
    const [, decision] = await witnessed()
    assert.deepInclude(decision.local_verdict, { as_of_seq: 9, as_of_ms: 1_015_000 })
    assert.isBelow(decision.local_verdict.age_ms, 2_000)
  })

  it("ends with a confirmation that does not say as of when, and with a key that is refused", async () => {
    for (const refused of [{ status: 304 }, { status: 403 }, { status: 401 }] as const) {
      const { away, clock, ends, script } = await world()
      await away()
      script.envelopes = refused
      await clock.advance(20_000)
      assert.strictEqual(await ends("lookup"), unreachable)
      await client!.close()
    }
  })

  for (const response of ["notify", "step_down", "drain", "halt"])
    it(`ends while any kill reaches the agent (${response})`, async () => {
      const { agent, away, ends, script } = await world()
      await away()
      Object.assign(script, { response, epoch: 2 })
      await agent.kill.refresh()
      assert.strictEqual(await ends("lookup"), ["drain", "halt"].includes(response) ? "halt @killed" : unreachable)
    })

  it("ends where the kill status is not known any more, though the envelopes are", async () => {
    const { away, clock, ends, script } = await world()
    await away()
    script.status = "cut"
    await clock.advance(61_000)
    assert.strictEqual(await ends("lookup"), "deny @stale_status")
  })

  it("is denied for a key that is refused, and by what is no verdict, whatever is kept", async () => {
    const { away, ends, script } = await world()
    await away()
    script.evaluation = { status: 403 }
    assert.strictEqual(await ends("lookup"), "deny @fail_closed:auth")
    for (const answer of [
      { status: 422, json: {} },
      { status: 200, text: "<h1>Sign in</h1>" },
      { status: 201, text: '{"id": "evl_1", "outco' },
      { status: 201, json: { ...(allowed.json as object), outcome: "perhaps" } }
    ]) {
      script.evaluation = answer
      assert.strictEqual(await ends("lookup"), "deny @fail_closed:protocol", JSON.stringify(answer))
    }
  })

  it("runs nothing where capture is strict: the server has no record of the intent", async () => {
    const { away, ends, script } = await world(envelope(), {}, { capture: "strict" })
    await away()
    script.decisions = "cut"
    assert.strictEqual(await ends("lookup"), unreachable)
  })

  it("requests the envelopes once for an agent that guards no reads, for what they declare", async () => {
    const { agent, clock, seen } = await world()
    await run(agent, "lookup", "side_effect")
    await clock.advance(120_000)
    assert.lengthOf(
      seen.filter(({ path }) => path.endsWith("/envelopes-in-force")),
      1
    )
  })
})

function withObligation(obligation: object): ReadonlyArray<object> {
  return [{ id: "lookup", outcome: "allow", when: [], obligations: [obligation] }]
}
