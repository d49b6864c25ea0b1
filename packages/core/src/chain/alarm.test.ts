import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StorageUnavailable } from "../storage/faults.ts"
import { Storage, type StorageApi } from "../storage/port.ts"
import { append, ORIGIN, replaceStorage, session, world } from "../testing/chain-world.ts"
import { raiseAlarm } from "./alarm.ts"

const flipped = (seq: number) =>
  replaceStorage((real): Partial<StorageApi> => ({
    records: (query) =>
      Effect.map(real.records(query), (page) =>
        page.map((record) => {
          const bytes = record.bytes.slice()
          if (record.seq === seq) bytes[40]! ^= 1
          return { ...record, bytes }
        })
      )
  }))
const alarms = Storage.use(({ outbox }) =>
  Effect.map(outbox.events({ types: ["chain.verify_failed"], limit: 100 }), (found) => found.map(({ data }) => data))
)
const headSeq = Storage.use(({ head }) => Effect.map(head, (found) => found?.seq))
const resource = "/api/v1/chain/verify"

describe("a chain with an error", () => {
  it.effect("is reported before a signature: one event without a record, however often signing is tried", () =>
    Effect.gen(function* () {
      yield* append0
      const sign = flipped(2)(Effect.flip(session(({ checkpointer }) => checkpointer.now)))
      for (let time = 0; time < 3; time++) assert.strictEqual((yield* sign)._tag, "StorageCorrupt")
      const [reported, ...more] = yield* alarms
      assert.deepStrictEqual(
        [reported, more],
        [{ code: reported!["code"], first_bad_seq: 2, found_by: "signing", resource }, []]
      )
      assert.match(String(reported!["code"]), /^E_/)
      assert.strictEqual(yield* headSeq, 3)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is reported when the guard outside the store disagrees", () =>
    Effect.gen(function* () {
      let isChanged = false
      const changing = replaceStorage((real) => ({
        hashes: (level, from, count) =>
          Effect.map(real.hashes(level, from, count), (bytes) =>
            isChanged ? new Uint8Array(bytes.length).fill(7) : bytes
          )
      }))
      yield* changing(
        session(({ checkpointer }) =>
          Effect.gen(function* () {
            yield* append(1, 3)
            yield* checkpointer.now
            yield* append(4, 4)
            isChanged = true
            assert.match((yield* Effect.flip(checkpointer.now)).message, /nothing can be signed/)
          })
        )
      )
      assert.deepStrictEqual(yield* alarms, [{ code: "E_GUARD", first_bad_seq: null, found_by: "signing", resource }])
    }).pipe(Effect.provide(world()))
  )

  it.effect("is reported by a check, once per finding; a read-only process reports nothing", () =>
    Effect.gen(function* () {
      yield* session(() => append(1, 5))
      const check = (seq: number, options?: { readonly origin: string; readonly readOnly: true }) =>
        flipped(seq)(session(({ chain }) => chain.verify(seq), options))
      assert.isFalse((yield* check(4, { origin: ORIGIN, readOnly: true })).ok)
      assert.deepStrictEqual(yield* alarms, [])
      for (const seq of [4, 4, 5, 4]) assert.strictEqual((yield* check(seq)).first_bad_seq, seq)
      assert.deepStrictEqual(
        (yield* alarms).map((data) => [data["first_bad_seq"], data["found_by"]]),
        [
          [4, "check"],
          [5, "check"]
        ]
      )
      assert.isTrue((yield* session(({ chain }) => chain.verify())).ok)
    }).pipe(Effect.provide(world()))
  )

  it.effect("does not stop the check if it cannot be reported, and is reported by one of many checks", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const alarm = { code: "E_HASH", seq: 7, foundBy: "check" } as const
      yield* raiseAlarm(
        { ...storage, commit: () => Effect.fail(new StorageUnavailable({ reason: "a test", wrote: "no" })) },
        alarm
      )
      assert.deepStrictEqual(yield* alarms, [])
      yield* Effect.all(
        Array.from({ length: 8 }, () => raiseAlarm(storage, alarm)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(yield* alarms, 1)
    }).pipe(Effect.provide(world()))
  )
})

/** Genesis and three records that nobody signed for yet. */
const append0 = Effect.gen(function* () {
  const storage = yield* Storage
  const down = replaceStorage(() => ({ lease: () => Effect.succeed(false) }))
  yield* down(session(() => Effect.void))
  yield* Effect.provideService(append(1, 3), Storage, storage)
})
