import { assert, describe, it } from "@effect/vitest"
import type { TimelineEntry, TimelineQuery } from "@flyball/contract"
import { decisionId, kindRow, recordKinds } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Chain } from "../../chain/chain.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { type RecordQuery, Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { Envelopes } from "../../verdicts/envelopes/service.ts"
import { Evaluations } from "../../verdicts/evaluations/service.ts"
import { Waivers } from "../../verdicts/waivers/service.ts"
import { Agents } from "./service.ts"
import { summaryOf } from "./timeline.ts"

const ann = { id: "usr_00000000000000000000000001" }
const ben = { id: "usr_00000000000000000000000002" }

const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "caller" }
  },
  effects: { pay: "write_reversible" },
  rules: [
    { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 10 }] },
    { id: "large", outcome: "deny", when: [{ signal: "amount", gt: 10 }] }
  ],
  default: { outcome: "deny" }
}

const shown = ({ actor, kind, summary }: TimelineEntry) => [kind, actor, summary]

describe("the timeline of an agent", () => {
  it.effect("has one entry for each of its records, newest first, with who wrote it and what it refers to", () =>
    Effect.gen(function* () {
      const [agents, capture, storage] = [yield* Agents, yield* Capture, yield* Storage]
      const { id } = yield* registered("courier")
      const other = yield* registered("other")
      yield* agents.update(id, { risk_class: "high" }, ann)
      yield* agents.update(other.id, { risk_class: "high" }, ann)
      yield* agents.suspend(id, { reason: "It paid Grace Hopper twice." }, ann)
      const {
        receipts: [receipt]
      } = yield* capture.witness(
        id,
        [{ client_ref: "r1", kind: "tool_call", action: "pay", status: "intended", run_id: "run-7", args: "Grace" }],
        ann
      )
      yield* capture.settle(receipt!.decision_id, { status: "ok" }, ben)
      const timeline = yield* agents.timeline(id)
      assert.deepStrictEqual(timeline.map(shown), [
        ["decision.settled", ben.id, `Decision of record ${receipt!.seq} settled: ok.`],
        ["decision.witnessed", ann.id, "Decision recorded: tool_call pay, intended."],
        ["agent.suspended", ann.id, "Suspended: on request."],
        ["agent.updated", ann.id, "Updated: tier L0, risk class high."],
        ["agent.registered", "system:host", "Registered as a draft at tier L0."]
      ])
      const { originTag } = yield* Chain
      const stored = (yield* storage.record(receipt!.seq))!
      assert.deepStrictEqual(timeline[1], {
        seq: receipt!.seq,
        record_hash: receipt!.record_hash,
        recorded_at: new Date(stored.atMs).toISOString(),
        kind: "decision.witnessed",
        actor: ann.id,
        summary: "Decision recorded: tool_call pay, intended.",
        references: [
          { type: "decision", id: decisionId(stored.atMs, stored.seq, originTag) },
          { type: "run", id: "run-7" }
        ]
      })
      assert.strictEqual(timeline[1]!.references[0]!.id, receipt!.decision_id)
      assert.deepStrictEqual(timeline[0]!.references, [{ type: "record", id: String(receipt!.seq) }])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has envelopes, waivers and denied evaluations", () =>
    Effect.gen(function* () {
      const [agents, envelopes, waivers] = [yield* Agents, yield* Envelopes, yield* Waivers]
      const { id } = yield* registered("courier")
      const made = yield* envelopes.create({ name: "Bounds", agent_id: id, envelope } as never, ann)
      yield* envelopes.publish(made.id, {}, ben)
      const waiver = yield* waivers.request(
        made.id,
        {
          rule_id: "large",
          unless: [{ signal: "amount", eq: 20 }],
          expires_at: "1970-01-02T00:00:00.000Z",
          reason: "A fair in Berlin"
        } as never,
        ann
      )
      yield* waivers.grant(made.id, waiver.id, ben)
      const verdict = yield* Evaluations.use((evaluations) =>
        evaluations.evaluate({ agent_id: id, client_ref: "e1", signals: { tool: "pay", amount: 500 } } as never, ann)
      )
      const timeline = yield* agents.timeline(id)
      assert.deepStrictEqual(
        timeline.map((entry) => [...shown(entry), ...entry.references.map(({ id, type }) => `${type} ${id}`)]),
        [
          ["evaluation.made", ann.id, "Evaluated: deny by rule @not_active.", `evaluation ${verdict.id}`],
          [
            "waiver.granted",
            ben.id,
            "Waiver of rule large granted until 1970-01-02T00:00:00.000Z.",
            `envelope ${made.id}`,
            `waiver ${waiver.id}`
          ],
          [
            "waiver.requested",
            ann.id,
            "Waiver of rule large requested until 1970-01-02T00:00:00.000Z.",
            `envelope ${made.id}`,
            `waiver ${waiver.id}`
          ],
          ["envelope.published", ben.id, "Envelope version 1 published, enforced.", `envelope ${made.id}`],
          ["envelope.drafted", ann.id, "Envelope version 1 drafted, revision 1.", `envelope ${made.id}`],
          ["agent.registered", "system:host", "Registered as a draft at tier L0."]
        ]
      )
      assert.notMatch(JSON.stringify(timeline), /Berlin|Bounds/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("holds nothing of a part, before it is erased and after; the erasure is an entry without an actor", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.transferOwnership(id, { owner_name: "Grace", owner_email: "grace@example.org" }, ann)
      const before = yield* agents.timeline(id)
      assert.notMatch(JSON.stringify(before), /Ada|Grace|example\.org|courier|ops/)
      const erased = yield* Erasure.use((erasure) =>
        erasure.erase({ seq: before[0]!.seq, name: "owner", reason: "subject_request" }, ann)
      )
      const after = yield* agents.timeline(id)
      assert.deepStrictEqual(after.slice(-before.length), before)
      const entry = after.find(({ seq }) => seq === erased.seq)!
      assert.deepStrictEqual(shown(entry), [
        "part.erased",
        null,
        `Part owner of record ${before[0]!.seq} erased (subject_request).`
      ])
      assert.deepStrictEqual(entry.references, [{ type: "record", id: String(before[0]!.seq) }])
      assert.notMatch(JSON.stringify(after), /Ada|Grace|example\.org|courier|ops/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("comes in pages, each one read of as many records as the page has", () => {
    const queries: Array<RecordQuery> = []
    const watched = (storage: StorageApi): StorageApi => ({
      ...storage,
      records: (query) => {
        if (query.agentId !== undefined) queries.push(query)
        return storage.records(query)
      }
    })
    return Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      for (let n = 0; n < 4; n++) {
        yield* agents.update(id, { purpose: `p${n}` }, ann)
        yield* registered(`other ${n}`)
      }
      const all = yield* agents.timeline(id)
      assert.lengthOf(all, 5)
      queries.length = 0
      const first = yield* agents.timeline(id, { limit: 2 })
      const second = yield* agents.timeline(id, { limit: 2, before: first[1]!.seq })
      const last = yield* agents.timeline(id, { limit: 2, before: second[1]!.seq })
      assert.deepStrictEqual([...first, ...second, ...last], all)
      assert.deepStrictEqual(queries, [
        { agentId: id, order: "desc", limit: 2 },
        { agentId: id, order: "desc", limit: 2, to: first[1]!.seq - 1 },
        { agentId: id, order: "desc", limit: 2, to: second[1]!.seq - 1 }
      ])
      assert.deepStrictEqual(yield* agents.timeline(id, { before: all.at(-1)!.seq }), [])
      assert.deepStrictEqual(yield* agents.timeline(id, { before: 0 }), [])
    }).pipe(Effect.provide(governorWorld(watched)))
  })

  it.effect("is not found where the agent is not", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      for (const act of [
        agents.timeline(id, {}, { orgUnits: ["sales"] }),
        agents.timeline("agt_00000000000000000000000000"),
        agents.timeline("courier")
      ])
        assert.strictEqual((yield* Effect.flip(act))._tag, "AgentNotFound")
      assert.lengthOf(yield* agents.timeline(id, {}, { orgUnits: ["ops"] }), 1)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("the entries of a time", () => {
  it.effect("are those from one instant to another, both included", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      const seqs: Array<number> = []
      const at: Array<string> = []
      for (const reason of ["one", "two", "three"]) {
        yield* TestClock.adjust(1_000)
        yield* registered(`between ${reason}`)
        yield* agents.update(id, { purpose: reason }, ann)
        const [newest] = yield* agents.timeline(id, { limit: 1 })
        seqs.push(newest!.seq)
        at.push(newest!.recorded_at)
      }
      const found = (query: TimelineQuery) =>
        Effect.map(agents.timeline(id, query), (entries) => entries.map(({ seq }) => seq))
      assert.deepStrictEqual(yield* found({ from: at[1]! }), [seqs[2], seqs[1]])
      assert.deepStrictEqual(yield* found({ from: at[0]!, to: at[1]! }), [seqs[1], seqs[0]])
      assert.deepStrictEqual(yield* found({ from: at[0]!, to: at[1]!, before: seqs[1]! }), [seqs[0]])
      assert.deepStrictEqual(yield* found({ from: "2998-01-01T00:00:00.000Z" }), [])
      assert.deepStrictEqual(yield* found({ to: "1969-12-31T23:59:59.999Z" }), [])
      assert.lengthOf(yield* found({ to: "2998-01-01T00:00:00.000Z" }), 4)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("the sentence of an entry", () => {
  /** Kinds that are about an agent although their body does not say which in every record. */
  const indexed = [
    "envelope.drafted",
    "envelope.published",
    "envelope.withdrawn",
    "waiver.requested",
    "waiver.granted",
    "part.erased"
  ]
  const kinds = recordKinds.filter(
    ({ body, kind }) => indexed.includes(kind) || body.some(({ name }) => name === "agent_id")
  )

  it("exists for each kind of record that is about an agent, and uses members that the catalogue has", () => {
    for (const { kind } of kinds) {
      const members = new Set(kindRow(kind)!.body.map(({ name }) => name))
      const body = new Proxy(
        {},
        { get: (_, name) => (members.has(String(name)) ? "1" : assert.fail(`${kind}: ${String(name)}`)) }
      )
      const sentence = summaryOf(kind, body)
      assert.notInclude(sentence, kind)
      assert.match(sentence, /^[A-Z][^.]*.*\.$/)
    }
    assert.strictEqual(summaryOf("mcp.pinned", {}), "Record of kind mcp.pinned.")
  })

  it("says why an agent is suspended, for each reason that a record has", () => {
    const reasons = kindRow("agent.suspended")!.body.find(({ name }) => name === "reason")!.type
    assert.strictEqual(reasons.type, "enum")
    if (reasons.type !== "enum") return
    for (const reason of reasons.values)
      assert.match(summaryOf("agent.suspended", { reason }), /^Suspended: .+ .+\.$/, reason)
  })
})
