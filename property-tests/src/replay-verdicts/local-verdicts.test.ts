/** Chains with verdicts of agents' SDKs that who holds the key changed and sealed again. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agents, Capture, Chain, Envelopes, Evaluations, Kill } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { canonicalBytes, type JsonObject, parseInstant } from "@flyball/evidence"
import type { OpenPack } from "@flyball/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { beforeAll, describe, expect, it } from "vitest"
import { Recomputation } from "../../../packages/rules/src/index.ts"
import { activeAgent, ann, ben, exported, host, publish, republish } from "./bounded-world.ts"
import { asRead, changed, lived, resealed, withBody, withPart } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

const lookups = (more: { readonly [member: string]: unknown } = {}) => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["lookup", "export", "change"], source: "caller" },
    rows: { type: "int", min: 0, max: 100, source: "caller", on_missing: 0 }
  },
  effects: { lookup: "read", export: "read", change: "write_reversible" },
  rules: [
    { id: "lookup", outcome: "allow", when: [{ signal: "tool", in: ["lookup"] }] },
    { id: "many", outcome: "deny", when: [{ signal: "rows", gt: 50 }] },
    { id: "change", outcome: "allow", when: [{ signal: "tool", in: ["change"] }] }
  ],
  default: { outcome: "deny" },
  on_unavailable: "allow_cached",
  ...more
})

const witnessed = Effect.fnUntraced(function* (
  agentId: string,
  ref: string,
  signals: { readonly [name: string]: string | number },
  verdict: object,
  more: object = {}
) {
  const { answer } = yield* Evaluations.use((evaluations) => evaluations.inForce(agentId))
  const local_verdict = {
    age_ms: 900,
    as_of_ms: answer.as_of_ms,
    as_of_seq: answer.as_of_seq,
    effective_tier: answer.effective_tier,
    layers: answer.layers.map(({ digest, envelope_id, version }) => ({ digest, envelope_id, version })),
    origin: answer.origin,
    ...verdict
  }
  yield* TestClock.adjust(1_000)
  const decision = { client_ref: ref, action: String(signals["tool"]), decided_by: "sdk_cache", local_verdict, signals }
  const rest = { kind: "tool_call", status: "ok", mode: "enforced", ...more }
  return () => Capture.use((capture) => capture.witness(agentId, [{ ...decision, ...rest } as never], host))
})

const allowed = { outcome: "allow", matched_rule: "lookup" }
const denied = { outcome: "deny", matched_rule: "many" }

/** Verdicts under two versions, witnessed after a third, a halt and a withdrawal. */
const life = Effect.gen(function* () {
  const agentId = yield* activeAgent("lookup bot")
  const inForce = Effect.map(
    Evaluations.use((evaluations) => evaluations.inForce(agentId)),
    ({ answer }) => answer
  )
  const metered = { reads: { op: "count", where: { tool: ["lookup"] }, key: ["agent_id"], window_ms: 60_000 } }
  const before = yield* inForce
  const envelopeId = yield* publish({ agent_id: agentId }, lookups({ on_unavailable: "deny" }))
  const closed = yield* inForce
  yield* republish(envelopeId, lookups({ meters: metered }))
  const counted = yield* inForce
  yield* republish(envelopeId, lookups())
  const keep = [
    yield* witnessed(agentId, "lookup", { tool: "lookup" }, allowed),
    yield* witnessed(agentId, "many", { tool: "lookup", rows: 60 }, denied, { status: "denied" })
  ]
  yield* TestClock.adjust(3_600_000)
  const activation = yield* Kill.use((kill) =>
    kill.activate({ target_type: "agent", target_id: agentId, response: "halt", reason: "Test." }, ben)
  )
  const stopped = yield* inForce
  yield* Kill.use((kill) => kill.release({ activation_event: activation.activation_event!, reason: "Test." }, ann))
  yield* Agents.use((agents) => agents.suspend(agentId, {}, ben))
  const suspended = yield* inForce
  yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ben))
  const { seq: last } = yield* Storage.use((storage) => storage.asOf)
  const earlier = yield* exported({ kind: "range", from: 0, to: last })
  yield* Effect.forEach(keep, (late) => late())
  const range = yield* exported({ kind: "range", from: last + 1 })
  const { origin } = yield* Chain
  const [registration] = yield* Storage.use((storage) => storage.records({ kinds: ["agent.registered"], limit: 1 }))
  const registeredAt = registration!.seq
  return { agentId, envelopeId, before, closed, counted, stopped, suspended, earlier, range, origin, registeredAt }
})

let open: OpenPack
let who: Effect.Success<typeof life>
beforeAll(async () => {
  ;({ answer: who, open } = await lived(life))
})

const of = (ref: string): number => open.records.findIndex(({ body }) => body["client_ref"] === ref)
const verdictIn = (body: JsonObject): JsonObject => body["local_verdict"] as JsonObject
const withVerdict = (ref: string, change: JsonObject): OpenPack =>
  withBody(open, of(ref), (body) => ({ ...body, local_verdict: { ...verdictIn(body), ...change } }))

/** Replay finds the record under this name, and the pack itself is found in order. */
const finds = async (ref: string, pack: OpenPack, verdict: string, reason: RegExp): Promise<void> => {
  const { findings, integrity, replay, status } = await resealed(pack)
  expect({ findings, integrity, status }).toEqual({ findings: [], integrity: "ok", status: 1 })
  expect(replay!.mismatches[0]).toMatchObject({ seq: of(ref), verdict, reason: expect.stringMatching(reason) })
  // The sealer recorded what the SDK said: it is not accused of it.
  expect(replay!.statement).toMatch(/an agent's SDK reports a verdict that its envelopes do not give\.$/)
}

describe("a chain with verdicts of an agent's SDK", () => {
  it("replays without a mismatch, although envelopes and tiers changed afterwards", async () => {
    const { replay, status } = await resealed(open)
    expect([status, replay!.local_verdicts, replay!.mismatches, replay!.withheld]).toEqual([0, 2, [], []])
  })

  it.each([
    ["another rule", { matched_rule: "change" }, /^The verdict is allow by lookup; the record says allow by change\.$/],
    ["another tier", { effective_tier: "L3" }, /^The agent acted at L0; the record says L3\.$/],
    ["a time after its record", { as_of_ms: 9_000_000_000_000 }, /as_of_seq is after the record itself\.$/],
    ["a record after it", { as_of_seq: 9_000 }, /as_of_seq is after the record itself\.$/]
  ])("local_verdict_mismatch: %s", (_, change, reason) =>
    finds("lookup", withVerdict("lookup", change), "local_verdict_mismatch", reason)
  )

  it("local_verdict_mismatch: an allow that should be a deny, for its own or changed signals", async () => {
    const loosened = withBody(open, of("many"), (body) => ({
      ...body,
      status: "ok",
      local_verdict: { ...verdictIn(body), outcome: "allow", matched_rule: "lookup" }
    }))
    await finds("many", loosened, "local_verdict_mismatch", /^The verdict is deny by many/)
    const signals = canonicalBytes({ tool: "lookup", rows: 99 })
    const others = changed(open, of("lookup"), (record) => withPart(record, "signals", signals))
    await finds("lookup", others, "local_verdict_mismatch", /^The verdict is deny by many/)
  })

  it("local_verdict_mismatch: a local verdict with another decided_by", () =>
    finds(
      "lookup",
      withBody(open, of("lookup"), (body) => ({ ...body, decided_by: "server" })),
      "local_verdict_mismatch",
      /is decided by sdk_cache; the record says server\.$/
    ))

  it("local_verdict_not_allowed: an action that ran although its own verdict denied it", () =>
    finds(
      "many",
      withBody(open, of("many"), (body) => ({ ...body, status: "ok" })),
      "local_verdict_not_allowed",
      /^Its verdict is deny by many; the record says that the action ended as ok\.$/
    ))

  it("local_verdict_not_allowed: envelopes that were too old, and an action that is not a read", async () => {
    const old = withVerdict("lookup", { age_ms: 60_001 })
    await finds("lookup", old, "local_verdict_not_allowed", /^The envelopes were read 60001 ms before/)
    const write = changed(open, of("lookup"), (record) =>
      withPart(record, "signals", canonicalBytes({ tool: "change" }))
    )
    await finds("lookup", write, "local_verdict_not_allowed", /^The action is of another class than read\.$/)
  })

  it.each([
    ["does not offer it", () => who.closed, /does not say on_unavailable: allow_cached\.$/],
    ["has meters", () => who.counted, /has meters\.$/]
  ])("local_verdict_not_allowed: an envelope that %s", (_, answer, reason) => {
    const { as_of_ms, as_of_seq, layers } = answer()
    const named = layers.map(({ digest, envelope_id, version }) => ({ digest: digest.slice(7), envelope_id, version }))
    return finds(
      "lookup",
      withVerdict("lookup", { as_of_ms, as_of_seq, layers: named }),
      "local_verdict_not_allowed",
      reason
    )
  })

  it.each([
    ["was halted", () => who.stopped, /^kil_\w+ reached the agent with the response halt\.$/],
    ["was suspended", () => who.suspended, /^The agent was not active as of record \d+\.$/]
  ])("local_verdict_not_allowed: an agent that %s", (_, answer, reason) => {
    const { as_of_ms, as_of_seq } = answer()
    return finds("lookup", withVerdict("lookup", { as_of_ms, as_of_seq }), "local_verdict_not_allowed", reason)
  })

  it("envelope_not_in_force: a later or earlier version, or no version", async () => {
    const earlier = withVerdict("lookup", { as_of_seq: who.counted.as_of_seq, as_of_ms: who.counted.as_of_ms })
    await finds("lookup", earlier, "envelope_not_in_force", /as of record \d+; the record names 1, or others\.$/)
    const none = withVerdict("lookup", { as_of_seq: who.before.as_of_seq, as_of_ms: who.before.as_of_ms })
    await finds("lookup", none, "envelope_not_in_force", /^0 envelopes were in force/)
  })

  it("envelope_unknown: a version with other content", () =>
    finds(
      "lookup",
      withBody(open, of("lookup"), (body) => {
        const [layer] = verdictIn(body)["layers"] as ReadonlyArray<JsonObject>
        return { ...body, local_verdict: { ...verdictIn(body), layers: [{ ...layer!, digest: "0".repeat(64) }] } }
      }),
      "envelope_unknown",
      /was not published with this content\.$/
    ))

  it("withheld: without its signals, without its verdict, and of another chain", async () => {
    for (const pack of [
      changed(open, of("lookup"), (record) => withPart(record, "signals", null)),
      withBody(open, of("lookup"), ({ local_verdict: _, ...body }) => body),
      withVerdict("lookup", { origin: "another.example/chain" })
    ]) {
      const { replay, status } = await resealed(pack)
      expect([status, replay!.mismatches, replay!.withheld]).toMatchObject([2, [], [{ seq: of("lookup") }]])
    }
  })

  it("causes no finding in any range of it, and no verdict ok", () => {
    const seqs = [of("lookup"), of("many")]
    const found = new Set<string>()
    for (let from = 1; from <= seqs[0]!; from++) {
      const again = new Recomputation({ fromGenesis: false, origin: who.origin })
      const local = asRead(open)
        .slice(from)
        .flatMap((record) => again.take(record, parseInstant(open.records[record.seq]!.at)) ?? [])
        .filter(({ isLocal }) => isLocal === true)
      for (const { verdict } of local) found.add(verdict)
      expect(local.map(({ seq, verdict }) => [seq, verdict])).toEqual(
        seqs.map((seq) => [seq, from <= who.registeredAt ? "as_recorded" : "withheld"])
      )
    }
    expect([...found].toSorted()).toEqual(["as_recorded", "withheld"])
  })

  it("causes no finding when a range begins after the envelope of the org unit", async () => {
    const { answer, open: unit } = await lived(
      Effect.gen(function* () {
        yield* publish({ org_unit: "lookups" }, lookups())
        const { seq: publishedAt } = yield* Storage.use((storage) => storage.asOf)
        const agentId = yield* activeAgent("lookup bot", "lookups")
        const witness = yield* witnessed(agentId, "lookup", { tool: "lookup" }, allowed)
        yield* witness()
        return { origin: (yield* Chain).origin, publishedAt }
      })
    )
    const verdictsFrom = (from: number) => {
      const again = new Recomputation({ fromGenesis: from === 0, origin: answer.origin })
      return asRead(unit)
        .slice(from)
        .flatMap((record) => again.take(record, parseInstant(unit.records[record.seq]!.at)) ?? [])
        .map(({ verdict }) => verdict)
    }
    expect([verdictsFrom(0), verdictsFrom(answer.publishedAt + 1)]).toEqual([["ok"], ["withheld"]])
  })

  it("has its mismatches found in a range that shows them", () => {
    const changed = withVerdict("lookup", { matched_rule: "change" })
    const again = new Recomputation({ fromGenesis: false, origin: who.origin })
    const wrong = asRead(changed)
      .slice(who.registeredAt)
      .flatMap((record) => again.take(record, parseInstant(changed.records[record.seq]!.at)) ?? [])
      .filter(({ verdict }) => verdict.startsWith("local_verdict_"))
    expect(wrong).toMatchObject([{ seq: of("lookup"), verdict: "local_verdict_mismatch" }])
  })

  it("is recomputed in a range pack after the previous pack, and withheld without it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-local-"))
    try {
      const file = join(folder, "before.evp")
      writeFileSync(file, who.earlier.pack)
      const after = await replayed(who.range.pack, who.range.vkey, "--previous", file)
      expect([after.status, after.replay!.local_verdicts, after.replay!.verdicts.ok]).toEqual([0, 2, 2])
      const alone = await replayed(who.range.pack, who.range.vkey)
      expect([alone.status, alone.replay!.mismatches, alone.replay!.verdicts]).toEqual([2, [], { withheld: 2 }])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
