import { assert, describe, it } from "@effect/vitest"
import type { DecisionIn } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Storage } from "../../storage/port.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { systemHost } from "../../foundation/writer.ts"
import { decisionReads } from "./list-decisions.ts"
import { Capture } from "./service.ts"

const decision = (ref: string, more: Partial<DecisionIn> = {}): DecisionIn => ({
  client_ref: ref,
  kind: "tool_call",
  action: "refund",
  status: "intended",
  ...more
})
const ops = { orgUnits: ["ops"] }
const sales = { orgUnits: ["sales"] }
const headSeq = Storage.use((storage) => Effect.map(storage.head, (head) => head?.seq))

describe("witnessing", () => {
  it.effect("seals a batch in order and tells where each decision landed", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const { head, receipts } = yield* capture.witness(
        agent.id,
        [decision("r1"), decision("r2", { args: { amount: 12.5 } })],
        systemHost
      )
      assert.deepStrictEqual(
        receipts.map(({ client_ref, duplicate, seq }) => [client_ref, duplicate, seq]),
        [
          ["r1", false, 2],
          ["r2", false, 3]
        ]
      )
      assert.deepStrictEqual(head, { seq: 3, record_hash: receipts[1]!.record_hash })
      assert.match(receipts[0]!.record_hash, /^sha256:[0-9a-f]{64}$/)
      assert.isTrue(receipts[0]!.decision_id < receipts[1]!.decision_id)
      const view = readRecord((yield* Storage.use((storage) => storage.record(3)))!.bytes)
      assert.deepInclude(view.ok ? view.record.body : {}, {
        agent_id: agent.id,
        agent_status: "draft",
        client_ref: "r2",
        writer: "system:host"
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("answers the first receipt for the same content again, in a batch and across calls", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const first = yield* capture.witness(agent.id, [decision("r1"), decision("r1")], systemHost)
      assert.deepStrictEqual(
        first.receipts.map(({ duplicate, seq }) => [duplicate, seq]),
        [
          [false, 2],
          [true, 2]
        ]
      )
      yield* TestClock.adjust(1_000)
      const again = yield* capture.witness(agent.id, [decision("r1"), decision("r2")], { id: "system:other" })
      assert.deepStrictEqual(again.receipts[0], { ...first.receipts[0]!, duplicate: true })
      assert.deepInclude(again.receipts[1], { duplicate: false, seq: 3 })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("refuses other content under a used reference, lists every offending index, and writes nothing", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      yield* capture.witness(agent.id, [decision("r1"), decision("r2")], systemHost)
      const batch = [
        decision("new"),
        decision("r1", { action: "pay" }),
        decision("r2"),
        decision("r2", { args: 1 }),
        decision("new", { step: 1 })
      ]
      const refusal = yield* Effect.flip(capture.witness(agent.id, batch, systemHost))
      assert.deepInclude(refusal, { _tag: "ClientRefReused", indexes: [1, 3, 4] })
      assert.strictEqual(yield* headSeq, 3)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "takes the claim of a mediated capture from the key of a gateway alone, and tells which claims it refuses",
    () =>
      Effect.gen(function* () {
        const capture = yield* Capture
        const agent = yield* registered("a")
        const mint = (name: string, more: object = {}) =>
          IngestKeys.use((keys) => keys.mint({ name, org_unit: "ops", ...more }, systemHost))
        const [plain, gateway] = [yield* mint("plain"), yield* mint("gateway", { capture: "mediated" })]
        assert.deepStrictEqual([plain.capture, gateway.capture], [null, "mediated"])
        const batch = [decision("r1", { capture: "framework_hook" }), decision("r2", { capture: "mediated" })]
        const before = yield* headSeq
        for (const id of [plain.id, "system:host", "usr_01m8ar3czprvjcyrgcrppy1p8w"])
          assert.deepInclude(yield* Effect.flip(capture.witness(agent.id, batch, { id })), {
            _tag: "CaptureNotMediated",
            indexes: [1]
          })
        assert.strictEqual(yield* headSeq, before)
        yield* capture.witness(agent.id, batch, { id: gateway.id })
        assert.deepStrictEqual(
          (yield* capture.list(agent.id)).map(({ capture }) => capture),
          ["mediated", "framework_hook"]
        )
      }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("takes the same decision with another claim of its capture as the same, and keeps the first claim", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      yield* capture.witness(agent.id, [decision("r1", { capture: "framework_hook" })], systemHost)
      for (const claim of ["self_reported", null] as const) {
        const { receipts } = yield* capture.witness(agent.id, [decision("r1", { capture: claim })], systemHost)
        assert.isTrue(receipts[0]!.duplicate)
      }
      assert.strictEqual((yield* capture.list(agent.id))[0]!.capture, "framework_hook")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("keeps references of different agents apart", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const [a, b] = [yield* registered("a"), yield* registered("b")]
      yield* capture.witness(a.id, [decision("r1")], systemHost)
      const { receipts } = yield* capture.witness(b.id, [decision("r1", { action: "pay" })], systemHost)
      assert.isFalse(receipts[0]!.duplicate)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("keeps a thousand decisions sent at once and again exactly once", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const batch = Array.from({ length: 1_000 }, (_, index) => decision(`r${index}`))
      const answers = yield* Effect.all(
        [1, 2, 3].map(() => capture.witness(agent.id, batch, systemHost)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* headSeq, 1_001)
      assert.strictEqual(
        new Set(answers.flatMap(({ receipts }) => receipts.map(({ decision_id }) => decision_id))).size,
        1_000
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("answers an agent of another org unit as one that does not exist", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      for (const [id, scope] of [
        [agent.id, sales],
        [`agt_${"0".repeat(26)}`, ops],
        ["\0", ops]
      ] as const) {
        assert.strictEqual(
          (yield* Effect.flip(capture.witness(id, [decision("r1")], systemHost, scope)))._tag,
          "AgentNotFound"
        )
        assert.strictEqual(
          (yield* Effect.flip(
            capture.gap(
              id,
              { from: "2026-11-21T00:00:00.000Z", to: "2026-11-21T00:00:00.000Z", count: 1, reason: "crash" },
              systemHost,
              scope
            )
          ))._tag,
          "AgentNotFound"
        )
        assert.strictEqual((yield* Effect.flip(capture.list(id, {}, scope)))._tag, "AgentNotFound")
      }
      yield* capture.witness(agent.id, [decision("r1")], systemHost, ops)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("settling", () => {
  it.effect("adds the outcome once", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const {
        receipts: [receipt]
      } = yield* capture.witness(agent.id, [decision("r1")], systemHost)
      const id = receipt!.decision_id
      const settled = yield* capture.settle(id, { status: "ok", result: { done: true } }, systemHost)
      assert.deepInclude(settled, { decision_id: id, seq: 3, duplicate: false })
      assert.deepStrictEqual(
        yield* capture.settle(id, { status: "ok", result: { done: true } }, { id: "system:other" }),
        { ...settled, duplicate: true }
      )
      assert.strictEqual(
        (yield* Effect.flip(capture.settle(id, { status: "error" }, systemHost)))._tag,
        "DecisionAlreadySettled"
      )
      assert.strictEqual(yield* headSeq, 3)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds only decisions of this chain, by their whole id, in scope", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const {
        receipts: [receipt]
      } = yield* capture.witness(agent.id, [decision("r1")], systemHost)
      const id = receipt!.decision_id
      const flipped = (at: number): string => id.slice(0, at) + (id[at] === "0" ? "1" : "0") + id.slice(at + 1)
      const others = ["", "dec_", id.toUpperCase(), ...Array.from({ length: 26 }, (_, at) => flipped(4 + at))]
      for (const other of others)
        assert.strictEqual(
          (yield* Effect.flip(capture.settle(other, { status: "ok" }, systemHost)))._tag,
          "DecisionNotFound"
        )
      assert.strictEqual(
        (yield* Effect.flip(capture.settle(id, { status: "ok" }, systemHost, sales)))._tag,
        "DecisionNotFound"
      )
      yield* capture.settle(id, { status: "ok" }, systemHost, ops)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("listing decisions", () => {
  it.effect("shows the newest first, what was said, and the outcome", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const agent = yield* registered("a")
      const { receipts } = yield* capture.witness(
        agent.id,
        [
          decision("r1", { args: 1, labels: {}, usage: { input_tokens: 3 } }),
          decision("r2", { run_id: "run", instance_id: "pod-7", step: 0 })
        ],
        systemHost
      )
      yield* TestClock.adjust(7)
      yield* capture.settle(receipts[0]!.decision_id, { status: "error", latency_ms: 5, result: "x" }, systemHost)
      const [second, first] = yield* capture.list(agent.id)
      assert.deepInclude(second, {
        id: receipts[1]!.decision_id,
        client_ref: "r2",
        run_id: "run",
        instance_id: "pod-7",
        step: 0,
        settled: null,
        parts: [],
        usage: null
      })
      assert.deepInclude(first, {
        id: receipts[0]!.decision_id,
        seq: 2,
        status: "intended",
        run_id: null,
        instance_id: null,
        parts: ["args", "labels"],
        usage: { input_tokens: 3, output_tokens: null, cost_micro_usd: null }
      })
      assert.deepInclude(first!.settled, {
        seq: 4,
        status: "error",
        latency_ms: 5,
        usage: null,
        recorded_at: "1970-01-01T00:00:00.007Z",
        writer: "system:host"
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("filters, limits and continues, over more than one page", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const [agent, other] = [yield* registered("a"), yield* registered("b")]
      yield* capture.witness(other.id, [decision("r1", { run_id: "x" })], systemHost)
      const batch = Array.from({ length: 1_000 }, (_, index) =>
        decision(`r${index}`, { run_id: index % 100 === 7 ? "x" : "y", action: index < 10 ? "pay" : "refund" })
      )
      yield* capture.witness(agent.id, batch, systemHost)
      const refs = (query: Parameters<typeof capture.list>[1]) =>
        Effect.map(capture.list(agent.id, query), (found) => found.map(({ client_ref }) => client_ref))
      assert.lengthOf(yield* refs({}), 100)
      assert.deepStrictEqual(yield* refs({ run_id: "x" }), [
        "r907",
        "r807",
        "r707",
        "r607",
        "r507",
        "r407",
        "r307",
        "r207",
        "r107",
        "r7"
      ])
      assert.deepStrictEqual(yield* refs({ run_id: "x", action: "pay" }), ["r7"])
      assert.deepStrictEqual(yield* refs({ limit: 2 }), ["r999", "r998"])
      const [last] = yield* capture.list(agent.id, { limit: 1 })
      assert.deepStrictEqual(yield* refs({ limit: 2, before: last!.seq }), ["r998", "r997"])
      assert.lengthOf(yield* refs({ limit: 1_000, before: last!.seq }), 999)
      assert.deepStrictEqual(yield* refs({ before: 0 }), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("searches a bounded number of decisions for a run, and names where to continue", () =>
    Effect.gen(function* () {
      const agent = yield* registered("a")
      const batch = Array.from({ length: 700 }, (_, index) =>
        decision(`r${index}`, { run_id: index === 3 ? "x" : "y" })
      )
      yield* Capture.use((capture) => capture.witness(agent.id, batch, systemHost))
      const storage = yield* Storage
      let read = 0
      const counted = Storage.of({
        ...storage,
        records: (query) => Effect.tap(storage.records(query), (found) => Effect.sync(() => (read += found.length)))
      })
      const { list } = decisionReads(counted, new Uint8Array(4), 500)
      const refused = yield* Effect.flip(list(agent.id, { run_id: "x" }))
      assert.strictEqual(read, 500)
      const before = refused._tag === "InvalidInput" ? refused.detail[0]?.ctx?.["before"] : null
      assert.strictEqual(before, 2 + 700 - 500, "the last decision that was read")
      const found = yield* list(agent.id, { run_id: "x", before: before as number })
      assert.deepStrictEqual(
        found.map(({ client_ref }) => client_ref),
        ["r3"]
      )
      assert.deepStrictEqual(yield* list(agent.id, { run_id: "x", before: found[0]!.seq }), [])
      read = 0
      assert.lengthOf(yield* list(agent.id, { limit: 10 }), 10)
      assert.strictEqual(read, 10, "without a filter")
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("one decision", () => {
  it.effect(
    "shows its parts and its settlement's result to readers of parts, and names what is withheld or erased",
    () =>
      Effect.gen(function* () {
        const capture = yield* Capture
        const agent = yield* registered("a")
        const { receipts } = yield* capture.witness(
          agent.id,
          [decision("r1", { args: { to: "x" }, labels: ["a"], result: 1 })],
          systemHost
        )
        const { decision_id: id, seq } = receipts[0]!
        yield* capture.settle(id, { status: "ok", result: { paid: 2 } }, systemHost)
        const [listed] = yield* capture.list(agent.id)
        const shown = yield* capture.get(id)
        const parts = { args: { to: "x" }, result: { paid: 2 }, labels: ["a"] }
        assert.deepStrictEqual(shown, { ...listed!, ...parts, withheld: false, erased: [] })
        const nobody = { orgUnits: [] }
        const nothing = { ...listed!, args: null, result: null, labels: null, withheld: true, erased: [] }
        assert.deepStrictEqual(yield* capture.get(id, ops, { always: sales, reviewed: nobody }), nothing)
        // Those who answer reviews read the parts of decisions that people reviewed.
        assert.deepStrictEqual(yield* capture.get(id, ops, { always: nobody, reviewed: ops }), nothing)
        assert.strictEqual((yield* Effect.flip(capture.get(id, sales)))._tag, "DecisionNotFound")
        yield* Erasure.use((erasure) => erasure.erase({ seq, name: "args", reason: "subject_request" }, systemHost))
        const erased = yield* capture.get(id)
        assert.deepStrictEqual(erased, { ...shown, args: null, erased: ["args"] })
      }).pipe(Effect.provide(governorWorld()))
  )
})
