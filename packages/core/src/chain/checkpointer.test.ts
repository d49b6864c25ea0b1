import { assert, describe, it } from "@effect/vitest"
import { parseCheckpoint, parseNote, parseVkey, portableCrypto, toHex, utf8, verifyNote } from "@flyball/evidence"
import { Clock, Effect, Fiber, Layer, Logger } from "effect"
import { layerOf } from "../storage/choice.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { type Document, Storage } from "../storage/port.ts"
import { append, draft, open, ORIGIN, pass, replaceStorage, session, world } from "../testing/chain-world.ts"
import { CHECKPOINT_MS, CHECKPOINT_RECORDS, LEASE_MS, POLL_MS } from "./checkpointer.ts"
import { type Checkpoint, checkpointId, latestCheckpoint } from "./check/checkpoints.ts"
import { Guard } from "./keys/guard.ts"
import { Signer } from "./keys/signer.ts"

const stored = Effect.flatMap(Storage, latestCheckpoint)

const sizes = Effect.map(
  Effect.flatMap(Storage, (storage) => storage.list("checkpoints")),
  (all) => all.filter(({ id }) => id !== "latest").map(({ body }) => body["size"])
)

const isSigned = (note: string, vkey: string): boolean => {
  const parsed = parseNote(utf8(note))
  const key = parseVkey(vkey)
  return parsed.ok && key.ok && verifyNote(portableCrypto, parsed.note, [key.vkey]).verified.length === 1
}

describe("a checkpoint", () => {
  it.effect("says origin, size and root, and is signed by the log", () =>
    Effect.gen(function* () {
      const { chain, checkpointer } = yield* open()
      yield* append(1, 6)
      const { note, rootHex, size } = yield* checkpointer.now
      const head = yield* chain.head
      const parsed = parseNote(utf8(note))
      const read = parsed.ok ? parseCheckpoint(parsed.note.text) : parsed
      assert.isTrue(
        read.ok &&
          read.checkpoint.origin === ORIGIN &&
          read.checkpoint.size === 7 &&
          toHex(read.checkpoint.root) === rootHex
      )
      assert.isTrue(isSigned(note, chain.vkey))
      assert.deepStrictEqual([size, `sha256:${rootHex}`, note], [head.tree_size, head.root_hash, head.checkpoint])
      assert.deepStrictEqual(yield* (yield* Guard).read, { origin: ORIGIN, size: 7, rootHex })
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("is not made again while nothing is new", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open()
      assert.deepStrictEqual(yield* checkpointer.now, yield* checkpointer.now)
      assert.deepStrictEqual(yield* sizes, [1])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("is made at shutdown", () =>
    Effect.gen(function* () {
      yield* session(() => append(1, 4))
      assert.strictEqual((yield* stored)?.size, 5)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is not made by a read-only process, which answers the last one", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      yield* append(1, 4)
      const answered = yield* session(({ checkpointer }) => checkpointer.now, { readOnly: true })
      assert.strictEqual(answered.size, 1)
      assert.deepStrictEqual(yield* sizes, [1])
    }).pipe(Effect.provide(world()))
  )
})

describe("in the background", () => {
  it.effect("a record is signed for when it is ten seconds old, not before", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open()
      yield* checkpointer.now
      yield* append(1, 1)
      yield* pass(CHECKPOINT_MS)
      assert.strictEqual((yield* stored)?.size, 1)
      yield* pass(POLL_MS)
      assert.deepStrictEqual(yield* sizes, [1, 2])
      yield* pass(10 * CHECKPOINT_MS)
      assert.deepStrictEqual(yield* sizes, [1, 2], "and nothing is signed while nothing is new")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("a record is signed for in time on a clock that steps back again and again", () =>
    Effect.gen(function* () {
      let backMs = 0
      const clock = yield* Clock.Clock
      const steppingBack = Effect.provideService(Clock.Clock, {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - backMs,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms - backMs),
        currentTimeNanos: Effect.map(clock.currentTimeNanos, (nanos) => nanos - BigInt(backMs) * 1_000_000n)
      })
      const { checkpointer } = yield* open().pipe(steppingBack)
      yield* checkpointer.now
      yield* append(1, 1)
      for (let waitedMs = 0; waitedMs <= CHECKPOINT_MS; waitedMs += POLL_MS) {
        yield* pass(POLL_MS)
        backMs += POLL_MS
      }
      assert.deepStrictEqual(yield* sizes, [1, 2])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("a thousand records are signed for at the next poll, or at once after a commit", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open()
      yield* checkpointer.now
      yield* append(1, CHECKPOINT_RECORDS - 1)
      yield* pass(POLL_MS)
      assert.deepStrictEqual(yield* sizes, [1])
      yield* append(CHECKPOINT_RECORDS, CHECKPOINT_RECORDS)
      yield* pass(POLL_MS)
      assert.deepStrictEqual(yield* sizes, [1, 1_001])
      yield* append(1_001, 2_000)
      checkpointer.onCommit(Array.from({ length: 1_000 }, () => "decision.witnessed"))
      yield* pass(0)
      assert.deepStrictEqual(yield* sizes, [1, 1_001, 2_001])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("an urgent kind is signed for at once, and at the next poll when another process wrote it", () =>
    Effect.gen(function* () {
      const { checkpointer, erasure } = yield* open()
      yield* append(1, 2)
      yield* checkpointer.now
      yield* erasure.erase({ seq: 2, name: "args", reason: "retention" }, { id: "system:test" })
      yield* pass(0)
      assert.deepStrictEqual(yield* sizes, [3, 4])
      const storage = yield* Storage
      yield* storage.commit({
        records: [
          { kind: "ingest_key.revoked", agentId: null, body: { key_id: "key_one", writer: "system:test" }, parts: [] }
        ]
      })
      yield* pass(POLL_MS)
      assert.deepStrictEqual(yield* sizes, [3, 4, 5])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("a store that fails for a while stops nothing", () =>
    Effect.gen(function* () {
      let broken = false
      const storage = yield* Storage
      yield* Effect.gen(function* () {
        yield* open()
        broken = true
        yield* append(1, 1)
        yield* pass(5 * CHECKPOINT_MS)
        assert.isNull(yield* latestCheckpoint(storage))
        broken = false
        yield* pass(5 * CHECKPOINT_MS)
        assert.strictEqual((yield* latestCheckpoint(storage))?.size, 2)
      }).pipe(
        Effect.scoped,
        replaceStorage((real) => ({
          lease: (name, holder, ttlMs) => (broken ? Effect.die("gone") : real.lease(name, holder, ttlMs))
        }))
      )
    }).pipe(Effect.provide(world()))
  )
})

describe("several processes", () => {
  it.effect("sign one at a time: a process without the lease waits", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open()
      const storage = yield* Storage
      yield* append(1, 3)
      assert.isTrue(yield* storage.lease("signer", "another", LEASE_MS))
      const waiting = yield* Effect.forkChild(checkpointer.now)
      yield* pass(LEASE_MS - 1_000)
      assert.isNull(yield* stored)
      yield* pass(2_000)
      assert.strictEqual((yield* Fiber.join(waiting)).size, 4)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("over one guard make one line, whatever their leases say", () =>
    Effect.gen(function* () {
      const all: Array<Checkpoint> = []
      const careless = replaceStorage(() => ({ lease: () => Effect.succeed(true) }))
      const [one, two] = yield* careless(Effect.all([open(), open()]))
      for (let index = 1; index <= 20; index++) {
        yield* append(index, index)
        all.push(...(yield* Effect.all([one.checkpointer.now, two.checkpointer.now], { concurrency: "unbounded" })))
      }
      const roots = new Map(all.map(({ rootHex, size }) => [size, rootHex]))
      for (const { rootHex, size } of all) assert.strictEqual(rootHex, roots.get(size))
      assert.strictEqual(roots.size, 20)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("a store that was put back and grew differently", () => {
  /**
   * Two processes with one key and one guard, over two stores that share their first records and then part. Answers
   * what each was given to sign.
   */
  const fork = (interleaved: boolean) =>
    Effect.gen(function* () {
      const signed: Array<Checkpoint> = []
      // A process that is slow between any two steps.
      const slow = Effect.updateService(Guard, (guard) =>
        interleaved
          ? {
              read: Effect.tap(guard.read, () => pause),
              advance: (from, to) => Effect.andThen(pause, guard.advance(from, to))
            }
          : guard
      )
      const begin = Effect.flatMap(Layer.build(Layer.fresh(layerOf(memoryStorage()))), (store) =>
        Effect.all({ services: open(), storage: Storage }).pipe(slow, Effect.provide(store))
      )
      const both = [yield* begin, yield* begin]
      const grow = (index: 0 | 1) =>
        Effect.forEach([1, 2, 3, 4, 5, 6], (round) =>
          Effect.gen(function* () {
            const { services, storage } = both[index]!
            yield* storage.commit({
              records: [draft(round, { agentId: index === 0 ? "agt_one" : "agt_two", parts: [] })]
            })
            const exit = yield* Effect.exit(services.checkpointer.now)
            if (exit._tag === "Success") signed.push(exit.value)
          })
        )
      yield* Effect.all([grow(0), grow(1)], { concurrency: interleaved ? "unbounded" : 1 })
      return signed
    }).pipe(Effect.scoped, Effect.provide(world()))

  const pause = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

  const oneLine = (signed: ReadonlyArray<Checkpoint>): void => {
    const roots = new Map<number, string>()
    for (const { rootHex, size } of signed)
      assert.strictEqual(rootHex, roots.get(size) ?? (roots.set(size, rootHex), rootHex), `two roots of size ${size}`)
    assert.isAtLeast(roots.size, 6)
  }

  it.effect("gets no signature after the other was signed for", () => Effect.map(fork(false), oneLine))

  it.effect("gets none either when both sign at the same time", () => Effect.map(fork(true), oneLine))
})

describe("a guard that lost its state", () => {
  it.effect("gives no signature", () =>
    Effect.gen(function* () {
      let forgot = false
      const forgetful = Effect.updateService(Guard, (guard) => ({
        ...guard,
        read: Effect.suspend(() => (forgot ? Effect.succeed(null) : guard.read))
      }))
      yield* Effect.gen(function* () {
        const { checkpointer } = yield* open()
        yield* checkpointer.now
        forgot = true
        yield* append(1, 1)
        const error = yield* Effect.flip(checkpointer.now)
        assert.match(error.message, /nothing can be signed.*knows of 0/)
      }).pipe(Effect.scoped, forgetful)
    }).pipe(Effect.provide(world()))
  )
})

describe("the last checkpoint, when it cannot be signed", () => {
  const loggedBy = (use: (signed: Effect.Effect<unknown>) => Effect.Effect<unknown, unknown, Storage>) =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${String([message].flat()[0])}`))
      ])
      const stuck = Effect.updateService(Guard, (guard) => ({
        ...guard,
        advance: () => Effect.fail(new StorageUnavailable({ reason: "the disk is full", wrote: "no" }))
      }))
      yield* session(({ checkpointer }) => use(Effect.exit(checkpointer.now))).pipe(stuck, Effect.provide(logger))
      return said
    }).pipe(Effect.provide(world()))
  const LAST = "Error The last checkpoint could not be signed. The next start signs it."

  it.effect("is logged when the session closes", () =>
    Effect.map(
      loggedBy(() => append(1, 1)),
      (said) => assert.deepStrictEqual(said, [LAST])
    )
  )
  it.effect("is not logged again when the caller has the error already", () =>
    Effect.map(
      loggedBy((signed) => Effect.andThen(append(1, 1), signed)),
      (said) => assert.deepStrictEqual(said, [])
    )
  )
  it.effect("is logged when records came after that error", () =>
    Effect.map(
      loggedBy((signed) => signed.pipe(Effect.andThen(append(1, 1)))),
      (said) => assert.deepStrictEqual(said, [LAST])
    )
  )
})

describe("a store that was put back under a running process", () => {
  it.effect("is reported as such, in the background and at the end, and never as a case in which nothing is lost", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))])
      let ahead = false
      const remembers = Effect.updateService(Guard, (guard) => ({
        ...guard,
        read: Effect.suspend(() =>
          ahead ? Effect.succeed({ origin: ORIGIN, size: 9, rootHex: "5a".repeat(32) }) : guard.read
        )
      }))
      yield* session(() =>
        Effect.gen(function* () {
          yield* append(1, 1)
          ahead = true
          yield* pass(CHECKPOINT_MS)
          yield* pass(POLL_MS)
        })
      ).pipe(remembers, Effect.provide(logger))
      const line =
        "No checkpoint can be made before an operator intervenes: store and guard disagree, and " +
        "records may be missing."
      assert.deepStrictEqual([...new Set(said)], [line])
      assert.isAbove(said.length, 1)
    }).pipe(Effect.provide(world()))
  )
})

describe("a crash", () => {
  it.effect("after the guard and before the note was stored gives the same bytes again", () =>
    Effect.gen(function* () {
      const lost: Array<Document["body"]> = []
      yield* append0
      const dies = replaceStorage((real) => ({
        commit: (change) => {
          const put = change.puts?.find(({ id }) => id === checkpointId(3))
          if (put === undefined) return real.commit(change)
          lost.push(put.body)
          return Effect.die("killed")
        }
      }))
      yield* Effect.exit(dies(session(({ checkpointer }) => checkpointer.now)))
      assert.strictEqual((yield* (yield* Guard).read)?.size, 3)
      const again = yield* session(({ checkpointer }) => checkpointer.now)
      assert.deepStrictEqual(lost[0], { size: again.size, root: again.rootHex, note: again.note })
    }).pipe(Effect.provide(world()))
  )

  it.effect("before the guard leaves no signature", () =>
    Effect.gen(function* () {
      yield* append0
      let signatures = 0
      const watched = Effect.updateService(Signer, (signer) => ({
        ...signer,
        sign: (message: Uint8Array) => {
          signatures += 1
          return signer.sign(message)
        }
      }))
      const stuck = Effect.updateService(Guard, (guard) => ({ ...guard, advance: () => Effect.die("killed") }))
      yield* Effect.exit(session(({ checkpointer }) => checkpointer.now).pipe(watched, stuck))
      assert.strictEqual(signatures, 0)
    }).pipe(Effect.provide(world()))
  )
})

describe("what is new is read and hashed again before it is signed for", () => {
  it.effect("a flipped bit gets no signature", () =>
    Effect.gen(function* () {
      yield* append0
      const flipped = replaceStorage((real) => ({
        records: (query) =>
          Effect.map(real.records(query), (page) =>
            page.map((record) => {
              if (record.seq === 1) record.bytes[40]! ^= 1
              return record
            })
          )
      }))
      const error = yield* Effect.flip(flipped(session(({ checkpointer }) => checkpointer.now)))
      assert.match(`${error._tag}: ${error.message}`, /^StorageCorrupt: .*record 1 .*nothing was signed/)
      assert.isNull(yield* (yield* Guard).read)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a wrong tree hash gets no signature", () =>
    Effect.gen(function* () {
      yield* append0
      const wrong = replaceStorage((real) => ({
        hashes: (level, from, count) => Effect.map(real.hashes(level, from, count), (bytes) => bytes.fill(7))
      }))
      const error = yield* Effect.flip(wrong(session(({ checkpointer }) => checkpointer.now)))
      assert.match(error.message, /do not fold to the root/)
    }).pipe(Effect.provide(world()))
  )
})

/** Genesis and two records that nobody signed for yet. */
const append0 = Effect.gen(function* () {
  const storage = yield* Storage
  const unsigned = Effect.updateService(Storage, (real) => ({ ...real, lease: () => Effect.die("not now") }))
  yield* Effect.exit(unsigned(session(() => append(1, 2))))
  assert.strictEqual((yield* storage.head)?.seq, 2)
})
