import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, fromUtf8, portableCrypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { ephemeralKeys } from "../../chain/keys/ephemeral-keys.ts"
import { Chain } from "../../chain/chain.ts"
import { Guard } from "../../chain/keys/guard.ts"
import { keysLayerOf } from "../../chain/keys/keys.ts"
import { Signer } from "../../chain/keys/signer.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { governorLayer, type GovernorLayerOptions, type GovernorServices } from "../../governor/governor-layer.ts"
import { Replay } from "../../outward/replay/service.ts"
import { layerOf } from "../../storage/choice.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { keyDigest } from "./key-text.ts"
import { IngestKeys } from "./service.ts"

/** Runs `inside` in a governor of its own over the store and keys that are there. */
const session = <A, E>(
  options: GovernorLayerOptions,
  inside: Effect.Effect<A, E, GovernorServices>,
  wrap = (storage: StorageApi): StorageApi => storage
) =>
  Effect.gen(function* () {
    const ports = Layer.mergeAll(
      Layer.succeed(Storage, wrap(yield* Storage)),
      Layer.succeed(Signer, yield* Signer),
      Layer.succeed(Guard, yield* Guard)
    )
    return yield* inside.pipe(Effect.provide(governorLayer(options).pipe(Layer.provide(ports))))
  })
const ports = () => Effect.provide(Layer.mergeAll(layerOf(memoryStorage()), keysLayerOf(ephemeralKeys())))

const idOf = (n: number) => `key_${String(n).padStart(26, "0")}`
const keyOf = (n: number) => `fbk_${`${n}qWe`.padEnd(43, "x")}`

/** A key as an earlier version minted it. */
const minted = (storage: StorageApi, n: number, more: { readonly revoked?: boolean } = {}) => {
  const profile = { name: `key ${n}`, org_unit: "ops", prefix: keyOf(n).slice(0, 8) }
  const digest = keyDigest(portableCrypto, keyOf(n))
  return storage.commit({
    puts: [
      {
        collection: "ingest_keys",
        id: idOf(n),
        expectedVersion: 0,
        unique: { digest },
        body: {
          name: profile.name,
          orgUnit: "ops",
          prefix: profile.prefix,
          digest,
          maxAutonomyTier: "L1",
          createdBy: "system:host",
          expiresAtMs: null,
          revoked: more.revoked === true
        }
      }
    ],
    records: [
      {
        kind: "ingest_key.minted",
        agentId: null,
        body: { key_digest: digest, key_id: idOf(n), max_autonomy_tier: "L1", writer: "system:host" },
        parts: [{ name: "profile", bytes: canonicalBytes(profile) }]
      },
      ...(more.revoked === true
        ? [
            {
              kind: "ingest_key.revoked",
              agentId: null,
              body: { key_id: idOf(n), writer: "system:host" },
              parts: [],
              once: { scope: "ingest_key.revoked", key: idOf(n), digest }
            }
          ]
        : [])
    ]
  })
}

const oldStore = Effect.gen(function* () {
  yield* session({ origin: "flyball.example/old" }, Effect.void)
  const storage = yield* Storage
  yield* minted(storage, 1)
  yield* minted(storage, 2, { revoked: true })
  return storage
})

/** All that the store holds of records, parts and keys, as text. */
const held = Effect.fnUntraced(function* (storage: StorageApi) {
  const records = yield* storage.records({ limit: 100 })
  const parts = yield* storage.parts(records.map(({ seq }) => seq))
  const bytes = [...records.map((record) => record.bytes), ...parts.flatMap((part) => part.bytes ?? [])].map(fromUtf8)
  return JSON.stringify([bytes, yield* storage.list("ingest_keys")])
})

const agreed = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual((yield* Chain.use((chain) => chain.verify())).findings, [])
})

describe("ingest keys of which an earlier version kept the first characters", () => {
  it.effect("are restated by the first start: the characters are nowhere, the keys continue, and replay agrees", () =>
    Effect.gen(function* () {
      const storage = yield* oldStore
      assert.include(yield* held(storage), "fbk_1qWe")
      yield* session(
        {},
        Effect.gen(function* () {
          assert.notInclude(yield* held(storage), "fbk_")
          const keys = yield* IngestKeys
          const hints = [1, 2].map((n) => keyDigest(portableCrypto, keyOf(n)).slice(0, 8))
          assert.deepStrictEqual<unknown>(
            (yield* keys.list).map(({ hint, name, org_unit }) => [name, org_unit, hint]),
            [
              ["key 1", "ops", hints[0]],
              ["key 2", "ops", hints[1]]
            ]
          )
          assert.deepStrictEqual(yield* keys.authenticate(keyOf(1)), {
            writer: { id: idOf(1) },
            orgUnit: "ops",
            maxTier: "L1"
          })
          assert.strictEqual((yield* Effect.flip(keys.authenticate(keyOf(2))))._tag, "Unauthorized")
          yield* agreed
        })
      )
      const kinds = (yield* storage.records({ limit: 100 })).map(({ kind }) => kind)
      assert.deepStrictEqual(kinds.slice(4), [
        "ingest_key.restated",
        "part.erased",
        "ingest_key.restated",
        "part.erased"
      ])
      const head = yield* storage.head
      yield* session({}, agreed)
      assert.deepStrictEqual((yield* storage.head)?.seq, head?.seq, "a second start has nothing to do")
    }).pipe(ports())
  )

  it.effect("agree with their records before that start too, where a governor only reads", () =>
    Effect.gen(function* () {
      const storage = yield* oldStore
      yield* session({ readOnly: true }, agreed)
      assert.include(yield* held(storage), "fbk_1qWe")
    }).pipe(ports())
  )

  it.effect("can still have their profile erased, which is then in neither part nor document", () =>
    Effect.gen(function* () {
      const storage = yield* oldStore
      yield* session(
        {},
        Effect.gen(function* () {
          const [restated] = yield* storage.records({ kinds: ["ingest_key.restated"], limit: 1 })
          yield* Erasure.use((erasure) =>
            erasure.erase({ seq: restated!.seq, name: "profile", reason: "subject_request" }, systemHost)
          )
          assert.notInclude(yield* held(storage), "key 1")
          assert.strictEqual(
            (yield* Effect.flip(IngestKeys.use((keys) => keys.authenticate(keyOf(1)))))._tag,
            "Unauthorized"
          )
          yield* agreed
        })
      )
    }).pipe(ports())
  )

  it.effect("whose profile was erased before hold no characters, and stay as they are", () =>
    Effect.gen(function* () {
      const storage = yield* oldStore
      for (const n of [1, 2]) {
        const { body } = (yield* storage.get("ingest_keys", idOf(n)))!
        // As an earlier version scrubbed it.
        yield* storage.commit({
          puts: [
            {
              collection: "ingest_keys",
              id: idOf(n),
              expectedVersion: 1,
              body: { ...body, name: idOf(n), orgUnit: null, prefix: null },
              unique: { digest: String(body["digest"]) }
            }
          ],
          records: [
            {
              kind: "part.erased",
              agentId: null,
              body: { name: "profile", reason: "subject_request", seq: n },
              parts: [{ name: "authority", bytes: canonicalBytes({ writer: "system:host" }) }]
            }
          ],
          erase: [{ seq: n, name: "profile" }]
        })
      }
      const head = yield* storage.head
      yield* session({}, agreed)
      assert.deepStrictEqual((yield* storage.head)?.seq, head?.seq)
    }).pipe(ports())
  )

  it.effect("do not keep a governor from starting where the store takes no records", () =>
    Effect.gen(function* () {
      const storage = yield* oldStore
      const full = (real: StorageApi): StorageApi => ({
        ...real,
        commit: (change) =>
          (change.records ?? []).length > 0
            ? Effect.fail(new StorageUnavailable({ reason: "the disk is full", wrote: "no" }))
            : real.commit(change)
      })
      yield* session(
        {},
        IngestKeys.use((keys) => keys.authenticate(keyOf(1))),
        full
      )
      assert.include(yield* held(storage), "fbk_1qWe")
      yield* session({}, Effect.void)
      assert.notInclude(yield* held(storage), "fbk_")
    }).pipe(ports())
  )
})
