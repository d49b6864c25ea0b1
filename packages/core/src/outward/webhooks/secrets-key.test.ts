import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Storage } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { SecretBox, SecretUnreadable } from "../../foundation/secret-box.ts"
import { claimSecretsKey, needsSecretsKey, type SecretsKeyTakeover } from "./secrets-key.ts"
import { Webhooks } from "./service.ts"
import { outside, webhookWorld } from "./testing/webhook-world.ts"

/** A box with these keys, each a byte; the first seals, and what is sealed begins with its key. */
const boxOf = (...keys: readonly [number, ...ReadonlyArray<number>]): SecretBox["Service"] => ({
  keyId: `key ${keys[0]}`,
  seal: (secret) => Effect.succeed(Uint8Array.from([keys[0], ...secret])),
  open: (sealed) =>
    keys.includes(sealed[0]!)
      ? Effect.succeed(sealed.slice(1))
      : Effect.fail(new SecretUnreadable({ reason: `it was sealed with the key ${sealed[0]}` }))
})
/** The error of a start with these keys; null: it starts. */
const start = (keys: readonly [number, ...ReadonlyArray<number>], takeover: SecretsKeyTakeover = "never") =>
  Effect.map(Effect.provideService(claimSecretsKey(takeover), SecretBox, boxOf(...keys)), (wrong) =>
    wrong === null ? null : (wrong.webhookId ?? wrong.reason)
  )
const startWithoutKey = (takeover: SecretsKeyTakeover = "never") =>
  Effect.map(needsSecretsKey(takeover), (wrong) => wrong?.reason ?? null)
const keyId = Storage.use((storage) =>
  Effect.map(storage.get("secrets_keys", "current"), (document) => document?.body["key_id"] ?? null)
)
/** A webhook whose secret is sealed with this key. */
const webhook = (key: number) =>
  Effect.gen(function* () {
    const { id } = yield* Webhooks.use(({ create }) =>
      create({ url: "https://a.example/", events: ["key.minted"] }, systemHost)
    )
    const storage = yield* Storage
    const { version } = (yield* storage.get("webhook_secrets", id))!
    yield* storage.commit({
      puts: [
        {
          collection: "webhook_secrets",
          id,
          expectedVersion: version,
          body: { sealed: Buffer.from([key, 1]).toString("base64"), key_id: `key ${key}` }
        }
      ]
    })
    return id
  })
const here = Effect.provide(webhookWorld(outside()))

describe("the key that a store's secrets are sealed with", () => {
  it.effect("is that of the first start, though nothing is sealed yet: a process with another one does not start", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* startWithoutKey(), null)
      assert.deepStrictEqual([yield* start([1]), yield* keyId], [null, "key 1"])
      assert.strictEqual(yield* start([2]), "it was sealed with the key 1")
      assert.strictEqual(yield* startWithoutKey(), "there is no such file")
      assert.deepStrictEqual([yield* start([1]), yield* keyId], [null, "key 1"])
    }).pipe(here)
  )

  it.effect("is one, however many start at once", () =>
    Effect.gen(function* () {
      const reported = yield* Effect.forEach([1, 2, 3, 4], (key) => start([key]), { concurrency: "unbounded" })
      assert.lengthOf(
        reported.filter((one) => one === null),
        1
      )
    }).pipe(here)
  )

  it.effect(
    "moves with a process that has the one before too, and a process that has that one alone no longer starts",
    () =>
      Effect.gen(function* () {
        yield* start([1])
        const id = yield* webhook(1)
        assert.deepStrictEqual([yield* start([2, 1]), yield* keyId], [null, "key 2"])
        // As the one that was running does after it read the file again.
        assert.deepStrictEqual([yield* start([2, 1]), yield* keyId], [null, "key 2"])
        yield* webhook(2)
        assert.notStrictEqual(yield* start([1]), null)
        assert.strictEqual(yield* start([2]), id, "as long as something is sealed with the old one")
        assert.strictEqual(yield* keyId, "key 2")
      }).pipe(here)
  )

  it.effect("of a store from before is that of the next start where every stored secret opens", () =>
    Effect.gen(function* () {
      const id = yield* webhook(1)
      assert.deepStrictEqual([yield* start([2]), yield* keyId], [id, null])
      assert.deepStrictEqual([yield* start([1]), yield* keyId], [null, "key 1"])
    }).pipe(here)
  )

  it.effect("is another where it was lost, and in a store of one process where nothing is sealed", () =>
    Effect.gen(function* () {
      yield* start([1])
      assert.deepStrictEqual(
        [yield* startWithoutKey("nothing_sealed"), yield* start([2], "nothing_sealed"), yield* keyId],
        [null, null, "key 2"]
      )
      const id = yield* webhook(2)
      assert.deepStrictEqual(
        [yield* startWithoutKey("nothing_sealed"), yield* start([3], "nothing_sealed"), yield* keyId],
        ["there is no such file", id, "key 2"]
      )
      assert.deepStrictEqual([yield* start([3], "lost"), yield* keyId], [null, "key 3"])
      assert.strictEqual(yield* start([2]), "it was sealed with the key 3")
    }).pipe(here)
  )
})
