import { assert, describe, it } from "@effect/vitest"
import { kindRow, utf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { Erasure } from "../erasure/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Principals } from "../../registry/principals/service.ts"
import { type JsonObject, Storage, type StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { Replay } from "./service.ts"

/** A bit of everything that replay folds. */
const lived = Effect.gen(function* () {
  const agent = yield* registered("Ada's bot")
  yield* Principals.use((principals) => principals.writerFor("https://id.example", "ada"))
  const key = yield* IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "ops" }, systemHost))
  yield* IngestKeys.use((keys) => keys.revoke(key.id, systemHost))
  const { receipts } = yield* Capture.use((capture) =>
    capture.witness(
      agent.id,
      [1, 2].map((step) => ({ client_ref: `r${step}`, kind: "message", action: "say", status: "ok", step })),
      systemHost
    )
  )
  yield* Capture.use((capture) => capture.settle(receipts[0]!.decision_id, { status: "ok" }, systemHost))
  return { agent, key }
})
const check = Replay.use((replay) => replay.check)

/** Replay over the store as `alter` shows it. */
const checkedThrough = (alter: (real: StorageApi) => Partial<StorageApi>) =>
  Effect.gen(function* () {
    const real = yield* Storage
    return yield* check.pipe(
      Effect.provide(
        Layer.fresh(Replay.layer).pipe(Layer.provide(Layer.succeed(Storage, Storage.of({ ...real, ...alter(real) }))))
      )
    )
  })

describe("the replay checker", () => {
  it.effect("finds nothing where documents follow from records", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const report = yield* check
      assert.deepStrictEqual(report.differences, [])
      assert.deepInclude(report, { ok: true, records: 8, documents: 3, withheld: [] })
      assert.deepStrictEqual([...report.agents], [[agent.id, { witnessed: 2, settled: 1, gaps: 0 }]])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a document that was changed without a record, and shows nobody's name", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const storage = yield* Storage
      const document = yield* storage.get("agents", agent.id)
      yield* storage.commit({
        puts: [
          {
            collection: "agents",
            id: agent.id,
            expectedVersion: 1,
            body: { ...document!.body, autonomyTier: "L4", ownerName: "Mallory" },
            unique: { name: agent.name }
          }
        ]
      })
      const report = yield* check
      assert.isFalse(report.ok)
      assert.deepStrictEqual(
        report.differences.map(({ expected, found, path }) => [path, expected, found]),
        [
          ["/autonomyTier", '"L0"', '"L4"'],
          ["/ownerName", "a text of 3 characters", "a text of 7 characters"]
        ]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a document that no record tells of, and one that lost its unique key", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const storage = yield* Storage
      const document = yield* storage.get("agents", agent.id)
      yield* storage.commit({
        puts: [
          { collection: "agents", id: agent.id, expectedVersion: 1, body: document!.body },
          { collection: "principals", id: "usr_forged", expectedVersion: 0, body: { kind: "user" } }
        ]
      })
      const report = yield* check
      assert.deepStrictEqual(
        report.differences.map(({ collection, path, found }) => [collection, path, found]),
        [
          ["agents", "/unique/name", "nothing"],
          ["principals", "", "a document"]
        ]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a document that is gone", () =>
    Effect.gen(function* () {
      yield* lived
      const report = yield* checkedThrough((real) => ({
        list: (collection, page) => (collection === "ingest_keys" ? Effect.succeed([]) : real.list(collection, page))
      }))
      assert.deepStrictEqual(
        report.differences.map(({ collection, found }) => [collection, found]),
        [["ingest_keys", "no document"]]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("agrees with what erasing leaves, and lists what can no longer be determined", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const storage = yield* Storage
      const erasure = yield* Erasure
      const targets = [
        ["agent.registered", "owner"],
        ["agent.registered", "profile"],
        ["ingest_key.minted", "profile"],
        ["principal.seen", "identity"]
      ] as const
      for (const [kind, name] of targets) {
        const [record] = yield* storage.records({ kinds: [kind], limit: 1 })
        yield* erasure.erase({ seq: record!.seq, name, reason: "subject_request" }, systemHost)
      }
      assert.strictEqual((yield* storage.get("agents", agent.id))?.body["name"], agent.id)
      const report = yield* check
      assert.deepStrictEqual(report.differences, [])
      // The owner is not among them: a record says that nobody is.
      const profile = kindRow("agent.registered")!.parts.find(({ name }) => name === "profile")!.members!
      assert.lengthOf(report.withheld, profile.length + 2 + 2)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a document that kept what was erased", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const storage = yield* Storage
      const before = yield* storage.get("agents", agent.id)
      const [record] = yield* storage.records({ kinds: ["agent.registered"], limit: 1 })
      yield* Erasure.use((erasure) =>
        erasure.erase({ seq: record!.seq, name: "owner", reason: "subject_request" }, systemHost)
      )
      const report = yield* checkedThrough((real) => ({
        list: (collection, page) => (collection === "agents" ? Effect.succeed([before!]) : real.list(collection, page))
      }))
      assert.deepStrictEqual(
        report.differences.map(({ path }) => path),
        ["/orphanedAtMs", "/ownerEmail", "/ownerName"]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("does not believe a part that its commitment does not fit, nor one that went without a record", () =>
    Effect.gen(function* () {
      yield* lived
      const changed = yield* checkedThrough((real) => ({
        parts: (seqs) =>
          Effect.map(real.parts(seqs), (parts) =>
            parts.map((part) =>
              part.name === "identity" && part.bytes !== null
                ? { ...part, bytes: utf8('{"issuer":"x","subject":"y"}') }
                : part
            )
          )
      }))
      assert.deepStrictEqual(
        changed.differences.map(({ collection, found }) => [collection, found]),
        [["parts", "content that the commitment does not fit"]]
      )
      const gone = yield* checkedThrough((real) => ({
        parts: (seqs) => Effect.map(real.parts(seqs), (parts) => parts.filter(({ name }) => name !== "identity"))
      }))
      assert.deepStrictEqual(
        gone.differences.map(({ collection, found }) => [collection, found]),
        [["parts", "nothing, and no record of an erasure"]]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds records that contradict those before them, and records that no writer of ours writes", () =>
    Effect.gen(function* () {
      yield* lived
      const agentId = `agt_${"0".repeat(26)}`
      const at = "2026-11-21T00:00:00.000Z"
      const gap = { agent_id: agentId, count: 1, from: at, reason: "crash", to: at, writer: "system:host" }
      yield* Storage.use((storage) =>
        storage.commit({
          records: [
            { kind: "capture.gap", agentId, body: gap, parts: [] },
            { kind: "capture.gap", agentId, body: { ...gap, reason: "Ada overslept" }, parts: [] }
          ]
        })
      )
      const report = yield* check
      assert.deepStrictEqual(
        report.differences.map(({ collection, id, path }) => [collection, id, path]),
        [
          ["records", "9", "/body"],
          ["agents", agentId, ""],
          ["agents", agentId, ""]
        ]
      )
      assert.notInclude(JSON.stringify(report.differences), "Ada")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a settlement, a void and a draft that name something else than the records before them", () =>
    Effect.gen(function* () {
      const { agent } = yield* lived
      const sealed = (kind: string, body: JsonObject) =>
        Storage.use((storage) =>
          storage.commit({ records: [{ kind, agentId: null, body: { ...body, writer: "system:host" }, parts: [] }] })
        )
      yield* sealed("decision.settled", { agent_id: agent.id, decision_seq: 1, status: "ok" })
      const draft = { authors: ["system:host"], digest: "0".repeat(64), envelope_id: `env_${"0".repeat(26)}` }
      yield* sealed("meter.voided", { agent_id: agent.id, evaluation_id: `evl_${"0".repeat(26)}`, evaluation_seq: 5 })
      yield* sealed("envelope.drafted", { ...draft, revision: 2, version: 1 })
      const { differences } = yield* check
      const inRecords = differences.filter(({ collection }) => collection === "records")
      assert.deepStrictEqual(
        inRecords.map(({ expected, found, id, path }) => [id, path, expected, found]),
        [
          ["8", "/body/decision_seq", "The record at 1 is no decision.", "1"],
          ["9", "/body/evaluation_seq", "The record at 5 is no evaluation.", "5"],
          ["10", "/body/revision", "1", "2"]
        ]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("waits for records that others are just writing, and reports only what stays", () =>
    Effect.gen(function* () {
      yield* lived
      let late = true
      const agents = yield* Agents
      const registerLate = Effect.orDie(agents.register({ name: "late", org_unit: "ops" }, systemHost))
      const report = yield* checkedThrough((real) => ({
        // The first list of agents sees one that was registered after the records were read.
        list: (collection, page) =>
          Effect.suspend(() => {
            if (!late || collection !== "agents") return real.list(collection, page)
            late = false
            return Effect.andThen(registerLate, real.list(collection, page))
          })
      }))
      assert.deepStrictEqual(report.differences, [])
      assert.strictEqual(report.documents, 4)
    }).pipe(Effect.provide(governorWorld()))
  )
})
