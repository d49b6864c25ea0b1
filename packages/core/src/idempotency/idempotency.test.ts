import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SecretBox } from "../foundation/secret-box.ts"
import { commitWithRetry } from "../storage/commit-with-retry.ts"
import { layerOf } from "../storage/choice.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { type ChangeSet, Storage } from "../storage/port.ts"
import { beside } from "../storage/commit-claim.ts"
import { answeringStorage, commitAnswered, Idempotency, type Repeatable } from "./idempotency.ts"

const DAY_MS = 86_400_000
const request: Repeatable = { owner: "sales", key: "k", fingerprint: "a".repeat(64), requestId: "req_1" }
const answer = { status: 201, headers: { etag: '"p1"' }, body: "made" }

/** A store that counts what it commits, and cannot be reached from one commit on. */
class Faults extends Context.Service<Faults, { committed: Array<ChangeSet>; failFrom: number }>()("test/Faults") {}
const failing = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const [storage, faults] = [yield* Storage, yield* Faults]
    return Storage.of({
      ...storage,
      // As a store on a disk does, it lets others have their turn.
      find: (...where) => Effect.andThen(Effect.yieldNow, storage.find(...where)),
      commit: (change) =>
        Effect.suspend(() => {
          if (faults.committed.length >= faults.failFrom)
            return Effect.fail(new StorageUnavailable({ reason: "a test", wrote: "no" }))
          faults.committed.push(change)
          return storage.commit(change)
        })
    })
  })
)
const box = Layer.succeed(SecretBox, {
  keyId: "k",
  seal: (secret, boundTo) =>
    Effect.succeed(new TextEncoder().encode([...`${boundTo}|${secret.join()}`].toReversed().join(""))),
  open: (sealed, boundTo) =>
    Effect.sync(() => {
      const [owner, bytes] = [...new TextDecoder().decode(sealed)].toReversed().join("").split("|")
      assert.strictEqual(owner, boundTo)
      return Uint8Array.from(bytes!.split(",").map(Number))
    })
})
const world = Idempotency.layer.pipe(
  Layer.provideMerge(answeringStorage),
  Layer.provideMerge(failing),
  Layer.provideMerge(Layer.sync(Faults, () => ({ committed: [], failFrom: Infinity }))),
  Layer.provideMerge(layerOf(memoryStorage()))
)

const run = <E, R>(attempt: Effect.Effect<typeof answer, E, R>, more: Partial<Repeatable> = {}) =>
  Idempotency.use((idempotency) => idempotency.run({ ...request, ...more }, attempt))
/** Adds a thing in a commit of its own, and answers. */
const add = Storage.use((storage) => Effect.as(storage.commit({ counts: [{ name: "things", add: 1 }] }), answer))
const things = Storage.use((storage) => Effect.map(storage.counters(["things"]), ([count]) => count))
const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("a request with a key", () => {
  it.effect("runs once, and its answer is the answer to its repeats", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(add), answer)
      assert.deepStrictEqual(yield* run(add, { requestId: "req_2" }), { ...answer, repeats: "req_1" })
      assert.strictEqual(yield* tag(run(add, { fingerprint: "b".repeat(64) })), "IdempotencyKeyReused")
      assert.strictEqual(yield* things, 1)
      assert.deepStrictEqual(yield* run(add, { owner: "claims" }), answer)
      assert.deepStrictEqual(yield* run(add, { key: "other" }), answer)
      assert.strictEqual(yield* things, 3)
    }).pipe(Effect.provide(world))
  )

  it.effect("is repeated by many at once, each of which gets its answer", () =>
    Effect.gen(function* () {
      yield* run(add)
      const repeats = yield* Effect.all(
        Array.from({ length: 8 }, () => run(add)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        repeats,
        Array.from({ length: 8 }, () => ({ ...answer, repeats: "req_1" }))
      )
      assert.strictEqual(yield* things, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("is a new request from 24 hours on, and the job deletes what is older", () =>
    Effect.gen(function* () {
      yield* run(add)
      yield* TestClock.adjust(DAY_MS - 1)
      assert.property(yield* run(add), "repeats")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* run(add, { fingerprint: "b".repeat(64) }), answer)
      assert.strictEqual(yield* Idempotency.use(({ forgetOld }) => forgetOld), 0)
      yield* TestClock.adjust(DAY_MS)
      assert.strictEqual(yield* Idempotency.use(({ forgetOld }) => forgetOld), 1)
      assert.deepStrictEqual(yield* Storage.use((storage) => storage.list("idempotency")), [])
    }).pipe(Effect.provide(world))
  )

  it.effect("is in use while it runs, also where its caller has left", () =>
    Effect.gen(function* () {
      const [begun, goOn] = [yield* Latch.make(), yield* Latch.make()]
      const slow = begun.open.pipe(Effect.andThen(goOn.await), Effect.andThen(add))
      const caller = yield* Effect.forkChild(run(slow))
      yield* begun.await
      assert.strictEqual(yield* tag(run(add)), "IdempotencyKeyInUse")
      assert.strictEqual(yield* tag(run(add, { fingerprint: "b".repeat(64) })), "IdempotencyKeyReused")
      yield* Fiber.interrupt(caller)
      yield* goOn.open
      let repeated = yield* Effect.result(run(add))
      while (repeated._tag === "Failure") {
        yield* Effect.yieldNow
        repeated = yield* Effect.result(run(add))
      }
      assert.property(repeated.success, "repeats")
      assert.strictEqual(yield* things, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("keeps nothing where the attempt fails", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* tag(run(Effect.fail(new StorageUnavailable({ reason: "", wrote: "no" })))),
        "StorageUnavailable"
      )
      assert.deepStrictEqual(yield* run(add), answer)
    }).pipe(Effect.provide(world))
  )

  it.effect("has one winner among two processes, which changes something once", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const other = Context.get(yield* Layer.build(Layer.fresh(Idempotency.layer)), Idempotency)
      const late = Effect.andThen(
        Effect.orDie(other.run({ ...request, requestId: "req_other" }, add)),
        commitWithRetry(storage, add)
      )
      assert.deepStrictEqual(yield* run(late), { ...answer, repeats: "req_other" })
      assert.strictEqual(yield* things, 1)
      const idle = Effect.as(Effect.orDie(other.run({ ...request, key: "i", requestId: "req_i" }, add)), answer)
      assert.deepStrictEqual(
        yield* run(idle, { key: "i" }),
        { ...answer, repeats: "req_i" },
        "one that commits nothing"
      )
    }).pipe(Effect.provide(world))
  )
})

describe("a crash", () => {
  it.effect("what acts outside of the store runs in one process at a time, however long it takes", () =>
    Effect.gen(function* () {
      const other = Context.get(yield* Layer.build(Layer.fresh(Idempotency.layer)), Idempotency)
      const [gate, outside] = [yield* Latch.make(), { ...request, actsOutside: true }]
      let ran = 0
      const attempt = Effect.suspend(() => {
        ran++
        return ran === 1 ? Effect.as(gate.await, answer) : Effect.succeed(answer)
      })
      const first = yield* Effect.forkChild(run(attempt, outside))
      yield* TestClock.adjust(60_000)
      assert.strictEqual(yield* tag(other.run(outside, attempt)), "IdempotencyKeyInUse")
      yield* gate.open
      assert.deepStrictEqual(yield* Fiber.join(first), answer)
      assert.include(yield* other.run(outside, attempt), { repeats: "req_1", body: "made" })
      assert.strictEqual(ran, 1)
    }).pipe(Effect.provide(world), Effect.scoped)
  )

  it.effect("leaves effect and answer or neither, where the commit has both", () =>
    Effect.gen(function* () {
      const [storage, faults] = [yield* Storage, yield* Faults]
      const both = commitAnswered(storage.commit({ counts: [{ name: "things", add: 1 }] }), answer)
      faults.failFrom = 0
      assert.strictEqual(yield* tag(run(both)), "StorageUnavailable")
      faults.failFrom = 1
      assert.deepStrictEqual(yield* run(both), answer)
      assert.deepStrictEqual(yield* run(both), { ...answer, repeats: "req_1" })
      assert.deepStrictEqual([yield* things, faults.committed.length], [1, 1])
    }).pipe(Effect.provide(world))
  )

  it.effect("between an effect and its answer leaves a key under which nothing runs again", () =>
    Effect.gen(function* () {
      const faults = yield* Faults
      faults.failFrom = 1
      assert.deepStrictEqual(yield* run(add), answer)
      faults.failFrom = Infinity
      assert.strictEqual(yield* tag(run(add)), "IdempotencyAnswerLost")
      assert.strictEqual(yield* things, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("after a commit beside the effect leaves neither", () =>
    Effect.gen(function* () {
      const [storage, faults] = [yield* Storage, yield* Faults]
      faults.failFrom = 1
      const attempt = Effect.andThen(beside(storage.commit({ counts: [{ name: "seen", add: 1 }] })), add)
      assert.strictEqual(yield* tag(run(attempt)), "StorageUnavailable")
      faults.failFrom = Infinity
      assert.deepStrictEqual(yield* run(attempt), answer)
      assert.strictEqual(yield* things, 1)
    }).pipe(Effect.provide(world))
  )
})

it.effect("an answer with a secret is kept sealed, for its slot", () =>
  Effect.gen(function* () {
    assert.isTrue(yield* Idempotency.use(({ keepsSecrets }) => Effect.succeed(keepsSecrets)))
    yield* run(add, { isSecret: true })
    const kept = yield* Storage.use((storage) => storage.list("idempotency"))
    assert.notInclude(JSON.stringify(kept), answer.body)
    assert.deepStrictEqual(yield* run(add, { isSecret: true }), { ...answer, repeats: "req_1" })
  }).pipe(Effect.provide(world.pipe(Layer.provide(box))))
)
