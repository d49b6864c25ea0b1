import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Storage } from "../storage/port.ts"
import { open, ORIGIN, replaceStorage, session, world } from "../testing/chain-world.ts"
import { ephemeralKeys } from "./keys/ephemeral-keys.ts"
import { Guard } from "./keys/guard.ts"
import { keysLayerOf } from "./keys/keys.ts"
import { Signer } from "./keys/signer.ts"

/** How opening is refused. */
const refusal = (options?: Parameters<typeof open>[0]) =>
  Effect.map(Effect.flip(session(() => Effect.void, options)), (error) => `${error._tag}: ${error.message}`)

describe("opening a chain", () => {
  it.effect("makes genesis in an empty store and finds it again", () =>
    Effect.gen(function* () {
      const first = yield* session(({ chain }) => Effect.succeed(chain))
      const head = yield* session(({ chain }) => chain.head)
      const again = yield* session(({ chain }) => Effect.succeed(chain), {})
      assert.strictEqual(first.origin, ORIGIN)
      assert.deepStrictEqual([again.origin, again.vkey], [ORIGIN, first.vkey])
      assert.strictEqual(head.tree_size, 1)
      assert.strictEqual(head.record_hash, head.root_hash)
    }).pipe(Effect.provide(world()))
  )

  it.effect("generates a name for the chain if none is given, a new one each time", () =>
    Effect.gen(function* () {
      const name = (seed: number) =>
        session(({ chain }) => Effect.succeed(chain.origin), {}).pipe(Effect.provide(world(seed)))
      assert.match(yield* name(1), /^flyball\.local\/[0-9a-hjkmnp-tv-z]{26}$/)
      assert.notStrictEqual(yield* name(1), yield* name(2))
    })
  )

  it.effect("says so where the newest record lies ahead of the clock, and not for a minute", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const reopened = session(() => Effect.void, {}).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))]))
      )
      yield* TestClock.setTime(86_460_001)
      yield* reopened
      yield* TestClock.setTime(86_400_001)
      yield* reopened
      assert.deepStrictEqual(said, [])
      yield* TestClock.setTime(86_400_000)
      yield* reopened
      assert.strictEqual(said.length, 1)
      assert.match(
        said[0]!,
        new RegExp(
          /^The newest record is of 1970-01-02T00:01:00\.001Z, and this host's clock /.source +
            /says 1970-01-02T00:00:00\.000Z\. Until the clock is there,/.source
        )
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("begun by two processes at once is one chain", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const opened = yield* Effect.all(
        [1, 2, 3].map(() => session(({ chain }) => Effect.succeed(chain.origin), {})),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(opened).size, 1)
      assert.strictEqual((yield* storage.records({ kinds: ["chain.genesis"], limit: 9 })).length, 1)
    }).pipe(
      replaceStorage((real) => ({ record: (seq) => Effect.yieldNow.pipe(Effect.andThen(real.record(seq))) })),
      Effect.provide(world())
    )
  )

  it.effect("begun and signed for by another process, between our two reads, is that chain", () =>
    Effect.gen(function* () {
      const other = yield* session(({ chain, checkpointer }) => Effect.as(checkpointer.now, chain.origin), {})
      let reads = 0
      const late = replaceStorage((real) => ({
        record: (seq) => Effect.suspend(() => (reads++ === 0 ? Effect.succeed(null) : real.record(seq))),
        head: Effect.suspend(() => (reads <= 1 ? Effect.succeed(null) : real.head))
      }))
      assert.strictEqual(yield* session(({ chain }) => Effect.succeed(chain.origin), {}).pipe(late), other)
    }).pipe(Effect.provide(world()))
  )

  it.effect("refuses an invalid origin, and one that differs from the store's", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal({ origin: "two words" }), /^OriginInvalid: .*Choose another/)
      yield* session(() => Effect.void)
      assert.match(
        yield* refusal({ origin: "flyball.example/other" }),
        /^OriginRefused: .*flyball\.example\/other.*flyball\.example\/test/
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("refuses keys that were made for another origin, before anything is written", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal(), /^OriginRefused/)
      assert.isNull(yield* (yield* Storage).head)
    }).pipe(
      Effect.updateService(Signer, (signer) => ({ ...signer, origin: "flyball.example/other" })),
      Effect.provide(world())
    )
  )

  it.effect("refuses a key that the chain does not name", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      const other = yield* Layer.build(keysLayerOf(ephemeralKeys()))
      assert.match(yield* refusal().pipe(Effect.provide(other)), /^KeyRefused: .*cannot reopen a chain/)
    }).pipe(Effect.provide(world()))
  )

  it.effect("reads only, and refuses an empty store, when it may not write", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal({ readOnly: true }), /^ChainMissing/)
      assert.isNull(yield* (yield* Storage).head)
    }).pipe(Effect.provide(world()))
  )
})

describe("a store that does not fit its guard", () => {
  it.effect("is refused when it is empty again", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      assert.match(yield* refusal().pipe(Effect.provide(freshStore)), /^StoreBehindGuard: .*of 1 records.*holds 0/)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is refused when it is behind", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      const guard = yield* Guard
      yield* guard.advance(yield* guard.read, { origin: ORIGIN, size: 5, rootHex: "a".repeat(64) })
      assert.match(yield* refusal(), /^StoreBehindGuard: .*of 5 records.*holds 1/)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is refused when it holds something else at the size that was signed", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      assert.match(yield* refusal(), /^GuardDisagrees: At size 1/)
    }).pipe(
      Effect.updateService(Guard, (guard) => ({
        ...guard,
        read: Effect.map(guard.read, (state) => (state === null ? null : { ...state, rootHex: "b".repeat(64) }))
      })),
      Effect.provide(world())
    )
  )

  it.effect("is refused when the guard knows less than the store", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      const forgetful = Effect.updateService(Guard, (guard) => ({ ...guard, read: Effect.succeed(null) }))
      assert.match(yield* refusal().pipe(forgetful), /^GuardBehindStore: .*of 1 records.*knows of 0/)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is refused when the guard belongs to another chain", () =>
    Effect.gen(function* () {
      yield* (yield* Guard).advance(null, { origin: "flyball.example/other", size: 1, rootHex: "a".repeat(64) })
      assert.match(yield* refusal(), /^GuardRefused/)
    }).pipe(Effect.provide(world()))
  )

  it.effect("does not get a signature either, when it is put back while it runs", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open()
      const storage = yield* Storage
      yield* checkpointer.now
      const guard = yield* Guard
      yield* guard.advance(yield* guard.read, { origin: ORIGIN, size: 9, rootHex: "a".repeat(64) })
      yield* storage.commit({ records: [{ kind: "capture.gap", agentId: null, body: { count: 1 }, parts: [] }] })
      const error = yield* Effect.flip(checkpointer.now)
      assert.match(`${error._tag}: ${error.message}`, /^StorageCorrupt: .*nothing can be signed.*of 9 records.*holds 2/)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

const freshStore = Layer.effect(
  Storage,
  Effect.map(Effect.provide(Storage, world(2)), (storage) => storage)
)
