/** Records that say something else than what was decided, each found by its verdict. Spec: envelopes.md 3.8. */
import { assert, describe, it } from "@effect/vitest"
import { utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { Envelopes } from "../envelopes/service.ts"
import type { JsonMap, PartContent, ReplayRecord } from "@flyball/rules"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { recorded } from "../../testing/recorded.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, ben, governedAgent, key, refunds } from "./testing/refunds.ts"
import { LATE_MS, Recomputation, RULES } from "@flyball/rules"

/** A history with everything in it: two versions, a trial, a void, an erasure of nothing. */
const records = Effect.gen(function* () {
  const envelopes = yield* Envelopes
  const { agentId, envelopeId } = yield* governedAgent()
  yield* ask(agentId, { tool: "refund", amount: 1_000 })
  yield* envelopes.update(
    envelopeId,
    { envelope: { ...refunds(), rules: [{ id: "none", outcome: "deny", when: [] }] } },
    ann
  )
  yield* envelopes.publish(envelopeId, { mode: "shadow" }, ann)
  yield* ask(agentId, { tool: "refund", amount: 3_000 })
  const undone = yield* ask(agentId, { tool: "refund", amount: 500 })
  yield* Evaluations.use((evaluations) => evaluations.void(undone.id, {}, ben))
  yield* ask(agentId, { tool: "search" })
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L1" }, ben))
  yield* ask(agentId, { tool: "refund", amount: 500 })
  return yield* recorded
}).pipe(Effect.provide(governorWorld()))

const verdictsOf = (all: ReadonlyArray<ReplayRecord>, fromGenesis = true): ReadonlyArray<string> => {
  const again = new Recomputation({ fromGenesis })
  return all.flatMap((record) => again.take(record)?.verdict ?? [])
}

/** The verdicts after one record of a kind was changed. */
const changed = (
  all: ReadonlyArray<ReplayRecord>,
  kind: string,
  nth: number,
  change: (body: JsonMap) => JsonMap
): ReadonlyArray<string> => {
  let seen = 0
  return verdictsOf(
    all.map((record) => (record.kind === kind && seen++ === nth ? { ...record, body: change(record.body) } : record))
  )
}
const evaluation = (all: ReadonlyArray<ReplayRecord>, nth: number, change: JsonMap): string =>
  changed(all, "evaluation.made", nth, (body) => ({ ...body, ...change }))[nth]!
const metersOf = (all: ReadonlyArray<ReplayRecord>, nth: number): JsonMap =>
  (all.filter(({ kind }) => kind === "evaluation.made")[nth]!.body["meters"] as ReadonlyArray<JsonMap>)[0]!
const OK = ["ok", "ok", "ok", "ok", "ok"]

describe("evaluating again", () => {
  it.effect("knows what windows held before the first record only where their envelope was begun behind it", () =>
    Effect.map(records, (all) => {
      const reasons = (later: ReadonlyArray<ReplayRecord>) => {
        const again = new Recomputation({ fromGenesis: false })
        return later.flatMap((record) => again.take(record, 0)?.reason ?? [])
      }
      const reachingBack = (later: ReadonlyArray<ReplayRecord>) =>
        reasons(later).filter((reason) => reason.includes("reaches back")).length
      assert.strictEqual(reachingBack(all), 0)
      assert.isAbove(
        reachingBack(
          all.map((record) =>
            record.kind === "envelope.drafted"
              ? { ...record, body: { ...record.body, revision: Number(record.body["revision"]) + 1 } }
              : record
          )
        ),
        0
      )
    })
  )
  it.effect("finds nothing in what was recorded", () =>
    Effect.map(records, (all) => assert.deepStrictEqual(verdictsOf(all), OK))
  )

  it.effect("names what differs", () =>
    Effect.map(records, (all) => {
      assert.strictEqual(evaluation(all, 0, { outcome: "allow" }), "outcome_mismatch")
      assert.strictEqual(evaluation(all, 0, { matched_rule: "refund" }), "rule_mismatch")
      assert.strictEqual(evaluation(all, 0, { matched_rule: "@invalid_signal", outcome: "deny" }), "meter_mismatch")
      assert.strictEqual(
        evaluation(all, 0, { matched_rule: "@invalid_signal", outcome: "deny", meters: [], trace: [] }),
        "signal_invalid"
      )
      assert.strictEqual(evaluation(all, 0, { trace: [] }), "trace_mismatch")
      assert.strictEqual(evaluation(all, 0, { latches: ["tainted"] }), "trace_mismatch")
      assert.strictEqual(evaluation(all, 0, { tier: "L3" }), "tier_mismatch")
      assert.strictEqual(evaluation(all, 0, { agent_status: "draft" }), "tier_mismatch")
      assert.strictEqual(
        evaluation(all, 2, { meters: [{ ...metersOf(all, 2), value: 0, after: 500 }] }),
        "meter_mismatch"
      )
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
    })
  )

  it.effect("finds an activation without an owner, and one that names other rules", () =>
    Effect.map(records, (all) => {
      const first = (change: (record: ReplayRecord) => ReplayRecord) => {
        const again = new Recomputation({ fromGenesis: true })
        return all.flatMap((record) => again.take(change(record)) ?? [])[0]!
      }
      const withBody =
        (kind: string, change: JsonMap, without?: string) =>
        (record: ReplayRecord): ReplayRecord =>
          record.kind === kind
            ? {
                ...record,
                body: Object.fromEntries(
                  Object.entries({ ...record.body, ...change }).filter(([name]) => name !== without)
                )
              }
            : record
      const ownerless = (record: ReplayRecord): ReplayRecord => ({
        ...record,
        parts: new Map([...record.parts].filter(([name]) => name !== "owner"))
      })
      const half = (record: ReplayRecord): ReplayRecord =>
        ownerless(withBody("agent.registered", { owner_complete: false })(record))
      const activated = all.find(({ kind }) => kind === "agent.activated")!
      assert.deepInclude(first(half), {
        seq: activated.seq,
        verdict: "tier_mismatch",
        reason: "The agent was activated at L2 without owner."
      })
      for (const older of [withBody("agent.activated", {}, "rules"), withBody("agent.activated", { rules: RULES - 1 })])
        assert.deepInclude(first(older), { seq: activated.seq, verdict: "rules_mismatch" })
      const lone = (record: ReplayRecord): ReplayRecord =>
        ownerless(withBody("agent.registered", {}, "owner_complete")(record))
      assert.deepInclude(first(lone), { seq: activated.seq, verdict: "tier_mismatch" })
      assert.deepInclude(first(withBody("agent.activated", { rules: RULES + 1 })), {
        seq: activated.seq,
        verdict: "withheld"
      })
      assert.strictEqual(first((record) => record).verdict, "ok")
    })
  )

  it.effect("takes a verdict on a draft by these rules alone", () =>
    Effect.gen(function* () {
      const draft = yield* registered("draft bot")
      yield* ask(draft.id, { tool: "search" })
      const all = yield* recorded
      assert.deepInclude(all.at(-1)!.body, { agent_status: "draft", matched_rule: "@not_active", rules: RULES })
      assert.strictEqual(evaluation(all, 0, {}), "ok")
      assert.strictEqual(evaluation(all, 0, { matched_rule: "@suspended" }), "rule_mismatch")
      const { rules: _, ...older } = all.at(-1)!.body
      assert.strictEqual(changed(all, "evaluation.made", 0, () => older)[0], "rules_mismatch")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "reports a record of newer rules, also one with members of a later catalogue, and calls neither wrong",
    () =>
      Effect.map(records, (all) => {
        const newer = (change: JsonMap) => {
          const again = new Recomputation({ fromGenesis: true })
          const first = all.findIndex(({ kind }) => kind === "evaluation.made")
          return all.flatMap(
            (record, at) => again.take(at === first ? { ...record, body: { ...record.body, ...change } } : record) ?? []
          )[0]!
        }
        const rules = RULES + 1
        const reported = `The record was made by rules ${rules}, and this version knows rules up to ${RULES}. `
        for (const change of [{ rules }, { rules, of_tomorrow: "x" }, { rules, outcome: "allow" }]) {
          const { reason, verdict } = newer(change)
          assert.strictEqual(verdict, "withheld")
          assert.isTrue(reason!.startsWith(reported))
        }
        assert.strictEqual(newer({ rules: RULES, of_tomorrow: "x" }).verdict, "trace_mismatch")
        assert.strictEqual(newer({ rules: 0 }).verdict, "trace_mismatch")
      })
  )

  it.effect("names advice that does not follow, is missing, or is too much", () =>
    Effect.map(records, (all) => {
      const advised = all.findIndex(({ kind, parts }) => kind === "evaluation.made" && parts.has("advice"))
      const bare = all.findIndex(({ kind, parts }) => kind === "evaluation.made" && !parts.has("advice"))
      assert.isAtLeast(Math.min(advised, bare), 0)
      const withPart = (place: number, change: (parts: Map<string, PartContent>) => unknown) =>
        verdictsOf(
          all.map((record, at) => {
            const parts = new Map(record.parts)
            if (at === place) change(parts)
            return { ...record, parts }
          })
        ).filter((verdict) => verdict !== "ok")
      const other: PartContent = { state: "present", bytes: utf8(`{"notice_ms":1,"obligations":[]}`) }
      assert.deepStrictEqual(
        withPart(advised, (parts) => parts.set("advice", other)),
        ["advice_mismatch"]
      )
      assert.deepStrictEqual(
        withPart(advised, (parts) => parts.delete("advice")),
        ["advice_mismatch"]
      )
      assert.deepStrictEqual(
        withPart(bare, (parts) => parts.set("advice", other)),
        ["advice_mismatch"]
      )
      for (const state of ["withheld", "erased"] as const)
        assert.deepStrictEqual(
          withPart(advised, (parts) => parts.set("advice", { state })),
          ["withheld"]
        )
    })
  )

  it.effect("names what was made long before it was recorded", () =>
    Effect.map(records, (all) => {
      const lateBy = (ms: number) => {
        const again = new Recomputation({ fromGenesis: true })
        return all.flatMap((record) => {
          const made = again.take(record, Number(record.body["as_of_ms"] ?? 0) + ms)
          return record.kind === "evaluation.made" ? made!.isLate : []
        })
      }
      assert.deepStrictEqual(
        lateBy(LATE_MS),
        OK.map(() => false)
      )
      assert.deepStrictEqual(
        lateBy(LATE_MS + 1),
        OK.map(() => true)
      )
    })
  )

  it.effect("finds what was left out of an earlier record where it is counted", () =>
    Effect.map(records, (all) => {
      const without = changed(all, "evaluation.made", 0, (body) => {
        const { amount: _, ...rest } = metersOf(all, 0)
        return { ...body, meters: [rest] }
      })
      assert.deepStrictEqual(without.slice(0, 3), ["meter_mismatch", "meter_mismatch", "meter_mismatch"])
      const gone = verdictsOf(all.filter(({ kind }) => kind !== "envelope.published"))
      assert.deepStrictEqual(
        gone,
        OK.map(() => "envelope_unknown")
      )
    })
  )

  it.effect("names what an ingest key gives back, and counts it all the same", () =>
    Effect.map(records, (all) => {
      const at = all.findIndex(({ kind }) => kind === "meter.voided")
      const seq = all[at]!.body["evaluation_seq"] as number
      const reserved = all.find((record) => record.seq === seq)!
      const { agent_id, evaluation_id } = reserved.body as { readonly agent_id: string; readonly evaluation_id: string }
      const place = all[at]!.seq
      const decision: ReplayRecord = {
        ...all[at]!,
        kind: "decision.witnessed",
        body: { agent_id, agent_status: "active", evaluation_id, writer: key.id }
      }
      const settled = (writer: string, amount: number): ReadonlyArray<string> =>
        verdictsOf([
          ...all.slice(0, at),
          decision,
          {
            ...all[at]!,
            seq: place + 1,
            kind: "decision.settled",
            body: {
              agent_id,
              decision_seq: place,
              evaluation_seq: seq,
              status: "ok",
              writer,
              actual: [{ meter: "spent", amount }]
            }
          },
          ...all.slice(at + 1).map((record) => ({ ...record, seq: record.seq + 1 }))
        ])
      assert.deepStrictEqual(settled(ben.id, 0), OK)
      assert.deepStrictEqual(settled(key.id, 0), [
        "ok",
        "ok",
        "ok",
        "meter_mismatch",
        "meter_mismatch",
        "meter_mismatch"
      ])
      // What was reserved is no less, and counts: the evaluations after it say otherwise.
      assert.deepStrictEqual(settled(key.id, 500), ["ok", "ok", "ok", "meter_mismatch", "meter_mismatch"])
      assert.deepStrictEqual(
        changed(all, "meter.voided", 0, (body) => ({ ...body, writer: key.id })),
        ["ok", "ok", "ok", "meter_mismatch", "meter_mismatch", "meter_mismatch"]
      )
    })
  )

  it.effect("says withheld, and never ok, of what is not shown, and still finds what the numbers show", () =>
    Effect.map(records, (all) => {
      const without = (name: string, kind: string) =>
        all.map((record) =>
          record.kind === kind && record.parts.has(name)
            ? { ...record, parts: new Map([...record.parts, [name, { state: "withheld" } as const]]) }
            : record
        )
      for (const hidden of [
        without("signals", "evaluation.made"),
        without("envelope", "envelope.published"),
        without("profile", "agent.registered")
      ]) {
        assert.deepStrictEqual(
          verdictsOf(hidden),
          OK.map(() => "withheld")
        )
        assert.strictEqual(evaluation(hidden, 0, { tier: "L3" }), "tier_mismatch")
        assert.strictEqual(evaluation(hidden, 0, { meters: [{ ...metersOf(all, 0), after: 7 }] }), "meter_mismatch")
      }
    })
  )

  it.effect("knows only so much of a range, and calls nothing wrong that lies before it", () =>
    Effect.map(records, (all) => {
      const first = all.findIndex(({ kind }) => kind === "evaluation.made")
      assert.deepStrictEqual(
        verdictsOf(all.slice(first), false),
        OK.map(() => "withheld")
      )
    })
  )

  it.effect("takes an envelope whose bytes are not those of its digest for none", () =>
    Effect.map(records, (all) => {
      const other = all.map((record) =>
        record.kind === "envelope.published"
          ? {
              ...record,
              parts: new Map([
                ...record.parts,
                [
                  "envelope",
                  { state: "present", bytes: utf8(JSON.stringify({ ...refunds(), coverage: "total" })) } as const
                ]
              ])
            }
          : record
      )
      assert.deepStrictEqual(
        verdictsOf(other),
        OK.map(() => "envelope_unknown")
      )
    })
  )

  it.effect("takes from a record what lies before a range, and says so", () =>
    Effect.map(
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const { agentId, envelopeId } = yield* governedAgent()
        yield* ask(agentId, { tool: "refund", amount: 1_000 })
        yield* envelopes.update(envelopeId, { envelope: refunds({ params: { unused: 1 } }) }, ann)
        yield* envelopes.publish(envelopeId, {}, ben)
        for (const amount of [1_500, 2_500, 500]) yield* ask(agentId, { tool: "refund", amount })
        return yield* recorded
      }).pipe(Effect.provide(governorWorld())),
      (all) => {
        // The agent, and the first version, lie before it.
        const range = all.slice(all.findLastIndex(({ kind }) => kind === "envelope.drafted"))
        const judged = (later: ReadonlyArray<ReplayRecord>) => {
          const again = new Recomputation({ fromGenesis: false })
          return later.flatMap((record) => again.take(record, 0) ?? [])
        }
        const changed = (nth: number, change: JsonMap) => {
          let seen = 0
          return judged(
            range.map((record) =>
              record.kind === "evaluation.made" && seen++ === nth
                ? { ...record, body: { ...record.body, ...change } }
                : record
            )
          )[nth]!.verdict
        }
        assert.deepStrictEqual(
          judged(range).map(({ verdict }) => verdict),
          ["as_recorded", "as_recorded", "as_recorded"]
        )
        assert.match(
          judged(range)[0]!.reason!,
          /which are not proved\. The agent was registered before the first record here\.$/
        )
        assert.strictEqual(changed(0, { outcome: "deny" }), "meter_mismatch")
        assert.strictEqual(changed(0, { as_of_seq: 1_000 }), "meter_mismatch")
        assert.strictEqual(changed(1, { outcome: "allow" }), "outcome_mismatch")
        assert.strictEqual(changed(1, { matched_rule: "refund" }), "rule_mismatch")
        assert.strictEqual(changed(1, { trace: [] }), "trace_mismatch")
        // Another version's text is not here, an exception would have to be, and what the service alone decided hangs
        // on more.
        const [layer] = range.find(({ kind }) => kind === "evaluation.made")!.body["layers"] as ReadonlyArray<JsonMap>
        for (const change of [
          { layers: [{ ...layer!, envelope_id: `env_${"0".repeat(25)}9`, digest: "0".repeat(64) }] },
          { waivers: [`wvr_${"0".repeat(25)}9`] },
          { matched_rule: "@killed" },
          { matched_rule: "@budget:spent" }
        ])
          assert.strictEqual(changed(2, change), "withheld")
        const shut = (name: string) =>
          judged(
            range.map((record) => ({
              ...record,
              parts: new Map(
                [...record.parts].map(([one, part]): readonly [string, PartContent] => [
                  one,
                  one === name ? { state: "withheld" } : part
                ])
              )
            }))
          ).map(({ verdict }) => verdict)
        for (const name of ["signals", "envelope"])
          assert.deepStrictEqual(shut(name), ["withheld", "withheld", "withheld"])
        assert.include(shut("advice"), "withheld")
      }
    )
  )
})
