/**
 * Versions that one person published as harmless, in records that say so and in parts that say so, sealed by who holds
 * the key: replay compares them again.
 */
import { Envelopes } from "@flyball/core"
import { Recomputation } from "@flyball/rules"
import type { JsonObject } from "@flyball/evidence"
import type { OpenPack, OpenRecord } from "@flyball/testkit"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { activeAgent, ann, ask, ben, exported, inBoundedWorld, publish, refunds, republish } from "./bounded-world.ts"
import { asRead, calledEqual, changed, lived, resealed, withPart } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

const {
  meters: { spent },
  rules
} = refunds() as { readonly meters: { readonly spent: object }; readonly rules: ReadonlyArray<{ readonly id: string }> }
const without = (id: string) => refunds({ rules: rules.filter((rule) => rule.id !== id) })
const actions = { op: "count", window_ms: 86_400_000, key: ["agent_id"] }
const noticed = (notice_ms: number) =>
  refunds({
    meters: { spent, actions },
    rules: [
      ...rules,
      { id: "noticed", outcome: "allow_with_notice", when: [{ signal: "amount", gte: 1_000 }], notice_ms }
    ]
  })

/** An envelope of an org unit that knows amounts up to 1,000; what it denies above 500 depends on how it says it. */
const unitBounds = (denied: object, more: object = {}) => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["search", "refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "caller", unit: "EUR/100", on_missing: 0 }
  },
  effects: { search: "read", refund: "write_reversible" },
  rules: [
    { id: "any", outcome: "allow", when: [] },
    { id: "no", outcome: "deny", when: [{ signal: "amount", ...denied }] }
  ],
  default: { outcome: "deny" },
  ...more
})

/** Everything that the gate reads changes here: what one person may do alone is done by one, the rest by two. */
const life = Effect.gen(function* () {
  const envelopes = yield* Envelopes
  const alone = (id: string, envelope: { readonly [member: string]: unknown }) =>
    Effect.andThen(envelopes.update(id, { envelope }, ann), envelopes.publish(id, {}, ann))
  const agentId = yield* activeAgent("refund bot")
  const other = yield* activeAgent("other bot", "sales")
  const own = yield* publish({ agent_id: agentId }, refunds())
  yield* publish({ agent_id: other }, refunds())
  yield* alone(own, refunds({ params: { unused: 1 } }))
  yield* alone(own, without("refund"))
  yield* republish(own, refunds())
  yield* republish(own, refunds({ meters: { spent: { ...spent, window_ms: 3_600_000 } } }))
  yield* republish(own, noticed(1_000))
  yield* republish(own, noticed(2_000))
  const unit = yield* publish({ org_unit: "support" }, unitBounds({ gt: 500 }))
  yield* ask(agentId, { tool: "refund", amount: 400 })
  // Equal in the unit's own words, and an agent that knows larger amounts is freed.
  yield* republish(unit, unitBounds({ between: [501, 1_000] }))
  yield* alone(unit, unitBounds({ gt: 400 }))
  // The same, and the unit takes over a meter that an agent's envelope filled.
  yield* republish(unit, unitBounds({ gt: 400 }, { meters: { actions } }))
  yield* envelopes.withdraw(unit, {}, ann)
  yield* republish(unit, unitBounds({ gt: 400 }))
  yield* envelopes.update(own, { envelope: without("large") }, ann)
  yield* envelopes.publish(own, { mode: "shadow" }, ann)
  yield* envelopes.publish(own, {}, ben)
  // Its own is no more, and so no agent is left that knows larger amounts.
  yield* envelopes.withdraw(own, {}, ann)
  yield* alone(unit, unitBounds({ between: [401, 1_000] }))
  yield* ask(agentId, { tool: "refund", amount: 300 })
  return { agentId, unit }
})

let open: OpenPack
let seen: Effect.Success<typeof life>
beforeAll(async () => {
  ;({ answer: seen, open } = await lived(life))
})

const publications = (says: (body: JsonObject) => boolean = () => true): ReadonlyArray<number> =>
  open.records.flatMap(({ body, kind }, seq) => (kind === "envelope.published" && says(body) ? [seq] : []))
const isLoosening = ({ change, mode }: JsonObject): boolean =>
  mode === "enforced" && (change === "loosens" || change === "unknown")
const isAlone = ({ approver, mode }: JsonObject): boolean => mode === "enforced" && approver === undefined
const shut =
  (name: string) =>
  (record: OpenRecord): OpenRecord =>
    withPart(record, name, null)

/** One person did it, and record and part both say that it is harmless. */
const calledHarmless = (record: OpenRecord): OpenRecord => {
  const { approver: _, ...body } = calledEqual(record).body
  return { ...calledEqual(record), body: { ...body, writer: ann.id } }
}

describe("a version that one person published", () => {
  it("is compared as by the gate: the recomputed change equals the recorded one", () => {
    const again = new Recomputation({ fromGenesis: true })
    const changes: Array<readonly [seq: number, recorded: unknown, found: unknown]> = []
    for (const record of asRead(open)) {
      if (record.kind === "envelope.published") {
        const found = again.compare(record)
        changes.push([record.seq, record.body["change"], "change" in found ? found.change : found.notCompared])
      }
      again.take(record)
    }
    expect(changes.map(([seq, , found]) => [seq, found])).toEqual(changes.map(([seq, recorded]) => [seq, recorded]))
    expect(new Set(changes.map(([, recorded]) => recorded))).toEqual(
      new Set(["equal", "loosens", "tightening_only", "unknown"])
    )
  })

  it("is accepted when it allows nothing new", async () => {
    expect(publications(isAlone).length).toBeGreaterThan(3)
    const { replay, status } = await resealed(open)
    expect([status, replay!.four_eyes.verdicts]).toEqual([0, { ok: replay!.four_eyes.acts }])
  })

  it("is reported when it newly allows something, for any recorded change and diff", async () => {
    const planted = publications(isLoosening)
    const { integrity, replay, status, text } = await resealed(changed(open, planted, calledHarmless))
    expect({ integrity, status, evaluations: replay!.mismatches, withheld: replay!.four_eyes.withheld }).toEqual({
      integrity: "ok",
      status: 1,
      evaluations: [],
      withheld: []
    })
    expect(replay!.four_eyes.mismatches.map(({ seq, verdict }) => [seq, verdict])).toEqual(
      planted.map((seq) => [seq, "second_person_missing"])
    )
    const reasons = replay!.four_eyes.mismatches.map(({ reason }) => reason)
    for (const [place, seq] of planted.entries())
      expect(reasons[place]).toMatch(
        new RegExp(
          `^One person published it as equal\\. Compared again with the versions before it, it is ` +
            `${open.records[seq]!.body["change"]}: `
        )
      )
    for (const said of [
      /Newly allowed/,
      /not compared by outcomes: meter/,
      /A notice may take more than 1000 ms/,
      /With the envelope env_[0-9a-z]+ of an agent of this org unit: Newly allowed/,
      /The meter actions would belong to another envelope/
    ])
      expect(reasons).toContainEqual(expect.stringMatching(said))
    expect(text).toContain("It requires two people, and one did it.")
  })

  it("is not accepted when the previous version is not disclosed", async () => {
    const [first, ...rest] = publications(isAlone)
    for (const hidden of [
      first!,
      publications().findLast(
        (seq) => seq < first! && open.records[seq]!.body["envelope_id"] === open.records[first!]!.body["envelope_id"]
      )!
    ]) {
      const { replay, status } = await resealed(changed(open, hidden, shut("envelope")))
      expect(status).toBe(2)
      expect(replay!.four_eyes.mismatches).toEqual([])
      expect(replay!.four_eyes.withheld[0]).toMatchObject({
        seq: first,
        verdict: "withheld",
        reason: expect.stringMatching(/^One person published it as equal, and it was not compared: /)
      })
      expect(replay!.four_eyes.withheld.every(({ seq }) => [first, ...rest].includes(seq))).toBe(true)
    }
  })

  it("of an org unit is not accepted when an agent is hidden, and reported when enough is disclosed", async () => {
    const profile = open.records.findIndex(
      ({ body, kind }) => kind === "agent.registered" && body["agent_id"] === seen.agentId
    )
    const ofUnit = publications((body) => isAlone(body) && body["envelope_id"] === seen.unit)
    const hidden = changed(open, profile, shut("profile"))
    const { replay } = await resealed(hidden)
    expect(replay!.four_eyes.mismatches).toEqual([])
    expect(replay!.four_eyes.withheld.map(({ seq }) => seq)).toContain(ofUnit[0])
    expect(replay!.four_eyes.withheld.find(({ seq }) => seq === ofUnit[0])!.reason).toContain(
      "envelopes of agents that it must be compared with are not shown"
    )
    const opening = publications((body) => isLoosening(body) && body["envelope_id"] === seen.unit)[0]!
    const named = await resealed(changed(hidden, opening, calledHarmless))
    expect([named.status, named.replay!.four_eyes.mismatches.map(({ seq }) => seq)]).toEqual([1, [opening]])
  })

  it("is not accepted in a range, which does not hold the previous version", async () => {
    const { pack, vkey } = await inBoundedWorld(
      Effect.andThen(life, exported({ kind: "range", from: 1, to: open.records.length - 1 }))
    )
    const { replay, status } = await replayed(pack, vkey)
    expect([status, replay!.four_eyes.mismatches]).toEqual([2, []])
    expect(replay!.four_eyes.withheld.map(({ seq }) => seq)).toEqual(publications(isAlone))
  })
})
