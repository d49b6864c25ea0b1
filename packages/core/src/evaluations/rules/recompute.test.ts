/** Records that say something else than what was decided, each found by its verdict. Spec: envelopes.md 3.8. */
import { assert, describe, it } from "@effect/vitest"
import { utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { EvidenceCrypto } from "../../chain/crypto.ts"
import { Agents } from "../../agents/service.ts"
import { Envelopes } from "../../envelopes/service.ts"
import { readRecords } from "../../replay/read-records.ts"
import type { JsonMap, ReplayRecord } from "../../replay/rules/types.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Evaluations } from "../service.ts"
import { ann, ask, ben, governedAgent, refunds } from "../testing/refunds.ts"
import { Recomputation } from "./recompute.ts"

/** A history with everything in it: two versions, a trial, a void, an erasure of nothing. */
const records = Effect.gen(function*() {
  const envelopes = yield* Envelopes
  const { agentId, envelopeId } = yield* governedAgent()
  yield* ask(agentId, { tool: "refund", amount: 1_000 })
  yield* envelopes.update(envelopeId, { envelope: { ...refunds(), rules: [{ id: "none", outcome: "deny", when: [] }] } }, ann)
  yield* envelopes.publish(envelopeId, { mode: "shadow" }, ann)
  const large = yield* ask(agentId, { tool: "refund", amount: 3_000 })
  yield* Evaluations.use((evaluations) => evaluations.void(large.id, {}, ben))
  yield* ask(agentId, { tool: "refund", amount: 500 })
  yield* ask(agentId, { tool: "search" })
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L1" }, ben))
  yield* ask(agentId, { tool: "refund", amount: 500 })
  const storage = yield* Storage
  const found: Array<ReplayRecord> = []
  yield* readRecords(storage, yield* EvidenceCrypto, { from: 0, to: (yield* storage.head)!.seq }, (record) => found.push(record), () => {}, "every part")
  return found
}).pipe(Effect.provide(governorWorld()))

const verdictsOf = (all: ReadonlyArray<ReplayRecord>, fromGenesis = true): ReadonlyArray<string> => {
  const again = new Recomputation({ fromGenesis })
  return all.flatMap((record) => again.take(record)?.verdict ?? [])
}

/** The verdicts after one record of a kind was changed. */
const changed = (all: ReadonlyArray<ReplayRecord>, kind: string, nth: number, change: (body: JsonMap) => JsonMap): ReadonlyArray<string> => {
  let seen = 0
  return verdictsOf(all.map((record) => (record.kind === kind && seen++ === nth ? { ...record, body: change(record.body) } : record)))
}
const evaluation = (all: ReadonlyArray<ReplayRecord>, nth: number, change: JsonMap): string => changed(all, "evaluation.made", nth, (body) => ({ ...body, ...change }))[nth]!
const metersOf = (all: ReadonlyArray<ReplayRecord>, nth: number): JsonMap => (all.filter(({ kind }) => kind === "evaluation.made")[nth]!.body["meters"] as ReadonlyArray<JsonMap>)[0]!
const OK = ["ok", "ok", "ok", "ok", "ok"]

describe("evaluating again", () => {
  it.effect("finds nothing in what was recorded", () => Effect.map(records, (all) => assert.deepStrictEqual(verdictsOf(all), OK)))

  it.effect("names what differs", () => Effect.map(records, (all) => {
    assert.strictEqual(evaluation(all, 0, { outcome: "allow" }), "outcome_mismatch")
    assert.strictEqual(evaluation(all, 0, { matched_rule: "refund" }), "rule_mismatch")
    assert.strictEqual(evaluation(all, 0, { matched_rule: "@invalid_signal", outcome: "deny" }), "meter_mismatch")
    assert.strictEqual(evaluation(all, 0, { matched_rule: "@invalid_signal", outcome: "deny", meters: [], trace: [] }), "signal_invalid")
    assert.strictEqual(evaluation(all, 0, { trace: [] }), "trace_mismatch")
    assert.strictEqual(evaluation(all, 0, { latches: ["tainted"] }), "trace_mismatch")
    assert.strictEqual(evaluation(all, 0, { tier: "L3" }), "tier_mismatch")
    assert.strictEqual(evaluation(all, 0, { agent_status: "draft" }), "tier_mismatch")
    assert.strictEqual(evaluation(all, 2, { meters: [{ ...metersOf(all, 2), value: 0, after: 500 }] }), "meter_mismatch")
    assert.strictEqual(evaluation(all, 2, { meters: [] }), "meter_mismatch")
    assert.strictEqual(evaluation(all, 0, { layers: [] }), "envelope_not_in_force")
    const [layer] = all.find(({ kind }) => kind === "evaluation.made")!.body["layers"] as ReadonlyArray<JsonMap>
    assert.strictEqual(evaluation(all, 0, { layers: [{ ...layer!, version: 2 }] }), "envelope_unknown")
    assert.strictEqual(evaluation(all, 0, { layers: [{ ...layer!, digest: "0".repeat(64) }] }), "envelope_unknown")
    assert.strictEqual(evaluation(all, 2, { waivers: [`wvr_${"0".repeat(26)}`] }), "envelope_not_in_force")
    const shadow = all.filter(({ kind }) => kind === "evaluation.made")[1]!.body["shadow"] as JsonMap
    assert.strictEqual(evaluation(all, 1, { shadow: { ...shadow, matched_rule: "@default" } }), "rule_mismatch")
    assert.strictEqual(evaluation(all, 2, { as_of_ms: -1 }), "trace_mismatch")
    assert.strictEqual(evaluation(all, 2, { as_of_seq: 1_000 }), "meter_mismatch")
  }))

  it.effect("finds what was left out of an earlier record where it is counted", () => Effect.map(records, (all) => {
    const without = changed(all, "evaluation.made", 0, (body) => {
      const { amount: _, ...rest } = metersOf(all, 0)
      return { ...body, meters: [rest] }
    })
    assert.deepStrictEqual(without.slice(0, 3), ["meter_mismatch", "meter_mismatch", "meter_mismatch"])
    const gone = verdictsOf(all.filter(({ kind }) => kind !== "envelope.published"))
    assert.deepStrictEqual(gone, OK.map(() => "envelope_unknown"))
  }))

  it.effect("says withheld, and never ok, of what is not shown, and still finds what the numbers show", () => Effect.map(records, (all) => {
    const without = (name: string, kind: string) => all.map((record) => (record.kind === kind && record.parts.has(name) ? { ...record, parts: new Map([...record.parts, [name, { state: "withheld" } as const]]) } : record))
    for (const hidden of [without("signals", "evaluation.made"), without("envelope", "envelope.published"), without("profile", "agent.registered")]) {
      assert.deepStrictEqual(verdictsOf(hidden), OK.map(() => "withheld"))
      assert.strictEqual(evaluation(hidden, 0, { tier: "L3" }), "tier_mismatch")
      assert.strictEqual(evaluation(hidden, 0, { meters: [{ ...metersOf(all, 0), after: 7 }] }), "meter_mismatch")
    }
  }))

  it.effect("knows only so much of a range, and calls nothing wrong that lies before it", () => Effect.map(records, (all) => {
    const first = all.findIndex(({ kind }) => kind === "evaluation.made")
    assert.deepStrictEqual(verdictsOf(all.slice(first), false), OK.map(() => "withheld"))
  }))

  it.effect("takes an envelope whose bytes are not those of its digest for none", () => Effect.map(records, (all) => {
    const other = all.map((record) => (record.kind === "envelope.published" ? { ...record, parts: new Map([...record.parts, ["envelope", { state: "present", bytes: utf8(JSON.stringify({ ...refunds(), coverage: "total" })) } as const]]) } : record))
    assert.deepStrictEqual(verdictsOf(other), OK.map(() => "envelope_unknown"))
  }))
})
