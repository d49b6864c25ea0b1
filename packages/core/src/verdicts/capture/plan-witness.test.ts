import { type DecisionIn, PART_LIMIT_BYTES } from "@flyball/contract"
import { fromUtf8, inOneGo, portableCrypto, RawJson, utf8 } from "@flyball/evidence"
import { type JsonMap, Recomputation } from "@flyball/rules"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import type { StoredAgent } from "../../registry/agents/document.ts"
import type { ChangeSet, RecordDraft } from "../../storage/port.ts"
import { planWitness } from "./plan-witness.ts"

const agent = { id: "agt_1", version: 7, body: { status: "suspended" } } as StoredAgent
const decision = (more: Partial<DecisionIn> = {}): DecisionIn => ({
  client_ref: "r1",
  kind: "tool_call",
  action: "refund",
  status: "ok",
  ...more
})
const plan = (decisions: ReadonlyArray<DecisionIn>, writer = "key_1") =>
  inOneGo(planWitness(portableCrypto, { agent, decisions, writer: { id: writer } }))
const change = (decisions: ReadonlyArray<DecisionIn>, writer?: string): ChangeSet =>
  Result.getOrThrow(plan(decisions, writer))
const only = (one: Partial<DecisionIn>, writer?: string): RecordDraft => change([decision(one)], writer).records![0]!
const refusal = (decisions: ReadonlyArray<DecisionIn>) => Result.getOrThrow(Result.flip(plan(decisions)))

const localVerdict: NonNullable<DecisionIn["local_verdict"]> = {
  age_ms: 1,
  as_of_ms: 1,
  as_of_seq: 1,
  effective_tier: "L0",
  layers: [{ digest: `sha256:${"a".repeat(64)}`, envelope_id: `env_${"0".repeat(26)}`, version: 1 }],
  matched_rule: "read",
  origin: "flyball.example/a",
  outcome: "allow"
}

describe("witnessing", () => {
  it("makes one record per decision, in order, and expects the agent unchanged", () => {
    const made = change([decision({ client_ref: "a" }), decision({ client_ref: "b" })])
    assert.deepStrictEqual(
      made.records!.map((record) => record.once!.key),
      ["a", "b"]
    )
    assert.deepStrictEqual(made.expects, [{ collection: "agents", id: "agt_1", version: 7 }])
    assert.isUndefined(made.puts)
  })

  it("puts the caller's members, the writer and the agent's status into the body, without absent members", () => {
    assert.deepStrictEqual(only({ run_id: null, step: 0, usage: { input_tokens: 5, output_tokens: null } }).body, {
      action: "refund",
      agent_id: "agt_1",
      agent_status: "suspended",
      client_ref: "r1",
      kind: "tool_call",
      status: "ok",
      step: 0,
      usage: { input_tokens: 5 },
      writer: "key_1"
    })
  })

  it("never puts arguments, results or labels into the body", () => {
    const record = only({ args: { secret: "x" }, result: [1], labels: { team: "y" } })
    assert.deepStrictEqual(
      record.parts.map((part) => [part.name, fromUtf8(part.bytes)]),
      [
        ["args", '{"secret":"x"}'],
        ["labels", '{"team":"y"}'],
        ["result", "[1]"]
      ]
    )
    assert.notMatch(JSON.stringify(record.body), /secret|team/)
  })

  it("keeps null apart from absent, and what has no canonical form as it came", () => {
    assert.deepStrictEqual(
      only({ args: null }).parts.map((part) => fromUtf8(part.bytes)),
      ["null"]
    )
    assert.deepStrictEqual(only({}).parts, [])
    assert.deepStrictEqual(
      only({ args: new RawJson(utf8("1e999")) }).parts.map((part) => fromUtf8(part.bytes)),
      ["1e999"]
    )
  })

  it("answers the same on each call, body as text and as value", () => {
    const record = only({ args: { b: 1 }, labels: null, result: "x", usage: { cost_micro_usd: 4 } })
    assert.deepStrictEqual(record.parts, record.parts)
    assert.deepStrictEqual(record.body, record.body)
    assert.deepStrictEqual(
      record.parts.map(({ name }) => name),
      ["args", "labels", "result"]
    )
  })

  it("is idempotent per agent and reference", () => {
    assert.deepInclude(only({}).once, { scope: "agt_1", key: "r1" })
  })

  it("has one digest for the same content, for any writer and any order of members", () => {
    const digest = only({ args: { a: 1, b: 2 } }).once!.digest
    assert.strictEqual(only({ args: { b: 2, a: 1 } }, "key_2").once!.digest, digest)
    assert.strictEqual(only({ args: { a: 1, b: 2 }, run_id: null }).once!.digest, digest)
  })

  it("takes any other content for other content", () => {
    const variants: ReadonlyArray<Partial<DecisionIn>> = [
      {},
      { kind: "message" },
      { action: "pay" },
      { tool_server: "t" },
      { run_id: "t" },
      { instance_id: "t" },
      { step: 1 },
      { observed_at: "2026-11-21T00:00:00.000Z" },
      { status: "error" },
      { evaluation_id: "t" },
      { approval_id: "t" },
      { model: "t" },
      { usage: { input_tokens: 1 } },
      { usage: { output_tokens: 1 } },
      { usage: {} },
      { latency_ms: 1 },
      { mode: "observed" },
      { decided_by: "server" },
      { writer_seq: 1 },
      { args: null },
      { result: null },
      { labels: null },
      { args: {} },
      { result: {} },
      { labels: {} },
      { args: 1 },
      { args: "1" },
      { signals: null },
      { signals: {} },
      { decided_by: "sdk_cache" },
      { decided_by: "sdk_cache", local_verdict: localVerdict },
      { decided_by: "sdk_cache", local_verdict: { ...localVerdict, outcome: "deny" } }
    ]
    const digests = variants.map((variant) => only(variant).once!.digest)
    assert.strictEqual(new Set(digests).size, digests.length)
  })

  it("takes 1 to 1,000 decisions", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => decision({ client_ref: `r${index}` }))
    assert.lengthOf(change(many(1_000)).records!, 1_000)
    for (const count of [0, 1_001]) assert.strictEqual(refusal(many(count))._tag, "InvalidInput")
  })

  it("refuses what is too large, and lists every index", () => {
    const large = decision({ result: "x".repeat(PART_LIMIT_BYTES) })
    const refused = refusal([large, decision(), large])
    assert.strictEqual(refused._tag, "DecisionTooLarge")
    assert.deepInclude(refused, { indexes: [0, 2], limitBytes: PART_LIMIT_BYTES })
  })

  it("refuses a local verdict of another decider than sdk_cache, and lists every index", () => {
    const refused = refusal([
      decision({ local_verdict: localVerdict }),
      decision({ decided_by: "sdk_cache", local_verdict: localVerdict }),
      decision({ decided_by: "server", local_verdict: localVerdict })
    ])
    assert.deepStrictEqual(refused._tag === "InvalidInput" ? refused.detail.map(({ loc }) => loc.join(".")) : [], [
      "body.decisions.0.local_verdict",
      "body.decisions.2.local_verdict"
    ])
  })

  it("takes a decision of an SDK without its verdict, which replay withholds", () => {
    const digits = "0".repeat(25)
    const record = only({ decided_by: "sdk_cache" }, `key_${digits}3`)
    assert.deepInclude(record.body, { decided_by: "sdk_cache" })
    assert.notProperty(record.body, "local_verdict")
    const found = new Recomputation({ fromGenesis: false }).take({
      seq: 1,
      kind: record.kind,
      body: { ...(record.body as JsonMap), agent_id: `agt_${digits}1` },
      parts: new Map()
    })
    assert.deepInclude(found, { verdict: "withheld", isLocal: true }, String(found?.reason))
  })

  it("refuses what JSON cannot say, and points at it", () => {
    const refused = refusal([decision(), decision({ args: { at: new Date(0) } }), decision({ labels: Number.NaN })])
    assert.strictEqual(refused._tag, "InvalidInput")
    assert.deepStrictEqual(refused._tag === "InvalidInput" ? refused.detail.map((one) => one.loc) : [], [
      ["body", "decisions", "1", "args"],
      ["body", "decisions", "2", "labels"]
    ])
  })
})
