import { assert, describe, it } from "@effect/vitest"
import { type JsonObject, readRecord } from "@flyball/evidence"
import { orgUnitDigest } from "@flyball/rules"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Chain } from "../../chain/chain.ts"
import { ephemeralKeys } from "../../chain/keys/ephemeral-keys.ts"
import { Guard } from "../../chain/keys/guard.ts"
import { keysLayerOf } from "../../chain/keys/keys.ts"
import { Signer } from "../../chain/keys/signer.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { governorLayer, type GovernorLayerOptions, type GovernorServices } from "../../governor/governor-layer.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { layerOf } from "../../storage/choice.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { AGENTS, storedAgent } from "./document.ts"
import { Agents } from "./service.ts"

/** Runs `inside` in a governor of its own over the store and keys that are there. */
const session = <A, E>(
  inside: Effect.Effect<A, E, GovernorServices>,
  wrap = (storage: StorageApi): StorageApi => storage,
  options: GovernorLayerOptions = {}
) =>
  Effect.gen(function* () {
    const ports = Layer.mergeAll(
      Layer.succeed(Storage, wrap(yield* Storage)),
      Layer.succeed(Signer, yield* Signer),
      Layer.succeed(Guard, yield* Guard)
    )
    return yield* inside.pipe(Effect.provide(Layer.fresh(governorLayer(options)).pipe(Layer.provide(ports))))
  })
const ports = () => Effect.provide(Layer.mergeAll(layerOf(memoryStorage()), keysLayerOf(ephemeralKeys())))
/** A store that drops what records and documents of agents say of the members. */
const older = (storage: StorageApi): StorageApi => ({
  ...storage,
  commit: ({ puts = [], records = [], ...change }) =>
    storage.commit({
      ...change,
      records: records.map((record) =>
        record.kind === "agent.registered"
          ? { ...record, body: without(record.body as JsonObject, "model_ids", "org_unit_digest", "owner_complete") }
          : record
      ),
      puts: puts.map((put) =>
        put.collection === AGENTS ? { ...put, body: without(put.body, "orgUnitDigest", "sealedModelIds") } : put
      )
    })
})
const without = <A extends { readonly [name: string]: unknown }>(members: A, ...names: ReadonlyArray<string>): A =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name))) as A

/** So many agents of whom no record of the chain states the members. */
const oldStore = (count: number) =>
  session(
    Effect.gen(function* () {
      const agents = yield* Agents
      const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
      const ids: Array<string> = []
      for (let n = 0; n < count; n++) {
        const input = { name: `a${n}`, org_unit: "ops", model_ids: [`m${n}`], ...owner }
        // Ids of one millisecond are in no order.
        yield* TestClock.adjust(1)
        ids.push((yield* agents.create(input, writer)).id)
      }
      return ids
    }),
    older,
    { origin: "flyball.example/old" }
  )

const updates = Effect.gen(function* () {
  const found = yield* (yield* Storage).records({ kinds: ["agent.updated"], limit: 1_000 })
  return found.map(({ bytes }) => {
    const read = readRecord(bytes)
    assert.isTrue(read.ok)
    const body: JsonObject = read.ok ? { ...read.record.body, parts: read.record.parts.length } : {}
    return body
  })
})
const agreed = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual((yield* Chain.use((chain) => chain.verify())).findings, [])
})

describe("agents of whom no record of the chain states the members", () => {
  it.effect("are sealed once by the first start, and replay agrees before and after", () =>
    Effect.gen(function* () {
      const ids = yield* oldStore(3)
      yield* session(agreed, undefined, { readOnly: true })
      assert.deepStrictEqual(yield* updates, [])
      const tag = yield* session(
        Effect.andThen(
          agreed,
          Chain.use(({ originTag }) => Effect.succeed(originTag))
        )
      )
      assert.deepStrictEqual<unknown>(
        yield* updates,
        ids.map((agent_id, n) => ({
          agent_id,
          autonomy_tier: "L0",
          model_ids: [`m${n}`],
          org_unit_digest: orgUnitDigest(tag, "ops"),
          owner_complete: true,
          parts: 0,
          risk_class: "unclassified",
          writer: "system:migration"
        }))
      )
      yield* session(agreed)
      assert.lengthOf(yield* updates, 3, "a second start has nothing to do")
    }).pipe(ports())
  )

  it.effect("are sealed alone: those beside them that name the members are left as they are", () =>
    Effect.gen(function* () {
      const ids = yield* oldStore(3)
      yield* session(
        Agents.use((agents) => agents.update(ids[1]!, { model_ids: ["n"] }, writer)),
        undefined,
        { readOnly: true }
      )
      yield* session(agreed)
      assert.deepStrictEqual(
        (yield* updates).map((body) => [body["agent_id"], body["writer"]]),
        [
          [ids[1], writer.id],
          [ids[0], "system:migration"],
          [ids[2], "system:migration"]
        ]
      )
    }).pipe(ports())
  )

  it.effect("are sealed whatever became of them: at their end, without an owner, with an erased profile", () =>
    Effect.gen(function* () {
      const [gone, disowned, erased] = yield* oldStore(3)
      yield* session(
        Effect.gen(function* () {
          const agents = yield* Agents
          yield* agents.decommission(gone!, writer)
          yield* agents.disown(disowned!, { reason: "left" }, writer)
          yield* Erasure.use((erasure) => erasure.erase({ seq: 3, name: "profile", reason: "subject_request" }, writer))
        }),
        older,
        { readOnly: true }
      )
      const before = yield* session(
        Agents.use(({ list }) => list({})),
        undefined,
        { readOnly: true }
      )
      yield* session(agreed)
      const after = yield* session(Agents.use(({ list }) => list({})))
      assert.deepStrictEqual(
        after,
        before.map((agent) => ({ ...agent, version: agent.version + 1 })),
        "nothing else of them changes"
      )
      assert.deepStrictEqual(
        (yield* updates).map((body) => [body["agent_id"], body["owner_complete"], body["model_ids"]]),
        [
          [gone, true, ["m0"]],
          [disowned, false, ["m1"]],
          [erased, true, []]
        ]
      )
      assert.notProperty((yield* updates)[2], "org_unit_digest")
    }).pipe(ports())
  )

  it.effect("are sealed in batches, and the next start continues where a store stopped taking records", () =>
    Effect.gen(function* () {
      const ids = yield* oldStore(230)
      let batches = 0
      const full = (real: StorageApi): StorageApi => ({
        ...real,
        commit: (change) =>
          (change.records ?? []).length > 0 && ++batches > 1
            ? Effect.fail(new StorageUnavailable({ reason: "the disk is full", wrote: "no" }))
            : real.commit(change)
      })
      yield* session(
        Agents.use(({ get }) => get(ids[0]!)),
        full
      )
      assert.lengthOf(yield* updates, 100)
      yield* session(agreed)
      assert.deepStrictEqual(
        (yield* updates).map((body) => body["agent_id"]),
        ids
      )
    }).pipe(ports())
  )

  it.effect("wait for the process that holds the lease, and take over when it is gone", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* oldStore(1)
      assert.isTrue(yield* storage.lease("agent_members", "another process", 15_000))
      const start = yield* Effect.forkChild(session(agreed), { startImmediately: true })
      yield* TestClock.adjust(10_000)
      assert.isUndefined(start.pollUnsafe(), "nobody is served before the members are sealed")
      assert.deepStrictEqual(yield* updates, [])
      yield* TestClock.adjust(10_000)
      yield* Fiber.join(start)
      assert.lengthOf(yield* updates, 1)
      assert.isTrue(yield* storage.lease("agent_members", "a third", 1_000), "the lease is given back")
    }).pipe(ports())
  )

  it.effect("whose document changes meanwhile keep that change", () =>
    Effect.gen(function* () {
      const [id] = yield* oldStore(2)
      let raced = false
      const racing = (real: StorageApi): StorageApi => ({
        ...real,
        commit: (change) =>
          Effect.gen(function* () {
            if (!raced && (change.records ?? []).some(({ kind }) => kind === "agent.updated")) {
              raced = true
              yield* session(
                Agents.use((agents) => agents.decommission(id!, writer)),
                older,
                { readOnly: true }
              ).pipe(Effect.provideService(Storage, real), Effect.orDie, keys)
            }
            return yield* real.commit(change)
          })
      })
      const signer = yield* Signer
      const guard = yield* Guard
      const keys = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        effect.pipe(Effect.provideService(Signer, signer), Effect.provideService(Guard, guard))
      yield* session(agreed, racing)
      const documents = (yield* (yield* Storage).list(AGENTS)).map(storedAgent)
      assert.deepStrictEqual(
        documents.map(({ body, version }) => [body.status, version]),
        [
          ["decommissioned", 3],
          ["draft", 2]
        ]
      )
      assert.lengthOf(yield* updates, 2)
    }).pipe(ports())
  )
})
