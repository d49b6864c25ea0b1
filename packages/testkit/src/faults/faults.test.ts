import { assert, describe, it } from "@effect/vitest"
import { ephemeralKeys, Guard, keysLayerOf, Signer } from "@flyball/core"
import { layerOf, memoryStorage, Storage, type StorageUnavailable } from "@flyball/core/storage"
import { formatCheckpoint, fromHex, utf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { begin, put } from "../cases/given.ts"
import { FaultBoard, type FaultKind, faultsAt, noFaults } from "./fault.ts"
import { faultyGuard, faultySigner, faultyStorage } from "./ports.ts"
import { SignLog, signProblems } from "./sign-log.ts"

const world = () => Effect.provide(Layer.mergeAll(layerOf(memoryStorage()), keysLayerOf(ephemeralKeys())))
const root = (digit: string): string => digit.repeat(64)
const state = (size: number, digit: string) => ({ origin: "flyball.test/faults", size, rootHex: root(digit) })
const checkpoint = (size: number, digit: string, end = "") =>
  utf8(formatCheckpoint({ origin: `flyball.test/faults${end}`, size, root: fromHex(root(digit))! }))

/** Effect of each kind of fault on the store, and the answer to the caller. */
const rows: ReadonlyArray<readonly [FaultKind, "happened" | "did not happen", "no" | "unknown"]> = [
  ["write refused", "did not happen", "no"],
  ["write lost", "did not happen", "unknown"],
  ["answer lost", "happened", "unknown"]
]

describe("faults", () => {
  for (const [kind, what, wrote] of rows) {
    it.effect(`${kind}: the write ${what}, and its caller gets ${wrote}`, () =>
      Effect.gen(function* () {
        const real = yield* Storage
        const board = new FaultBoard(faultsAt({ point: "storage.commit", call: 2, kind }))
        const storage = faultyStorage(real, board)
        yield* begin(storage)
        const fault = (yield* Effect.flip(storage.commit({ puts: [put("a")] }))) as StorageUnavailable
        assert.deepStrictEqual([fault._tag, fault.wrote], ["StorageUnavailable", wrote])
        assert.strictEqual((yield* real.get("things", "a")) !== null, what === "happened")
        yield* storage.commit({ puts: [put("b")] })
        assert.deepStrictEqual(board.struck, [{ point: "storage.commit", call: 2, kind }])
      }).pipe(world())
    )

    it.effect(`${kind}: the guard and the signer behave as the store`, () =>
      Effect.gen(function* () {
        const log = new SignLog()
        const board = new FaultBoard(
          faultsAt({ point: "guard.advance", call: 1, kind }, { point: "signer.sign", call: 1, kind })
        )
        const real = log.guard(yield* Guard)
        assert.strictEqual(
          ((yield* Effect.flip(faultyGuard(real, board).advance(null, state(1, "a")))) as StorageUnavailable).wrote,
          wrote
        )
        assert.strictEqual(
          (
            (yield* Effect.flip(
              faultySigner(log.signer(yield* Signer), board).sign(checkpoint(1, "a"))
            )) as StorageUnavailable
          ).wrote,
          wrote
        )
        assert.strictEqual((yield* real.read) !== null, what === "happened")
        assert.lengthOf(log.entries, what === "happened" ? 2 : 0)
      }).pipe(world())
    )
  }

  it.effect("answer lost: a refusal is lost as well as a receipt", () =>
    Effect.gen(function* () {
      const storage = faultyStorage(
        yield* Storage,
        new FaultBoard(faultsAt({ point: "storage.commit", call: 2, kind: "answer lost" }))
      )
      yield* begin(storage)
      assert.strictEqual((yield* Effect.flip(begin(storage)))._tag, "StorageUnavailable")
    }).pipe(world())
  )

  it.effect("every method is counted by its own name", () =>
    Effect.gen(function* () {
      const board = new FaultBoard(noFaults)
      const storage = faultyStorage(yield* Storage, board)
      const guard = faultyGuard(yield* Guard, board)
      yield* begin(storage)
      yield* storage.asOf
      yield* storage.head
      yield* storage.get("things", "a")
      yield* storage.find("things", "key", "a")
      yield* storage.range("things", "key", { limit: 1 })
      yield* storage.list("things")
      yield* storage.record(0)
      yield* storage.records({ limit: 1 })
      yield* storage.parts([0])
      yield* storage.once("a", ["b"])
      yield* storage.idempotencyKeys(null, 1)
      yield* storage.hashes(0, 0, 1)
      yield* storage.counters(["a"])
      yield* storage.limits.take([])
      yield* storage.outbox.claim({ leaseMs: 1, limit: 1, perEndpoint: 1 })
      yield* storage.outbox.delivery("dlv_1")
      yield* storage.outbox.deliveriesOf("whk_1", { limit: 1 })
      yield* storage.outbox.event("evt_1")
      yield* storage.outbox.events({ limit: 1 })
      yield* storage.outbox.missed({ endpointId: "whk_1", types: [], owner: null, sinceMs: 0, limit: 1 })
      yield* storage.outbox.owned({ owner: "", types: [], limit: 1 })
      yield* storage.outbox.forget({ what: "events", beforeMs: 0, limit: 1 })
      yield* storage.lease("signer", "me", 1)
      yield* storage.releaseLease("signer", "me")
      yield* guard.read
      yield* guard.read
      yield* guard.advance(null, state(1, "a"))
      const signer = faultySigner(yield* Signer, board)
      yield* signer.sign(utf8("x"))
      yield* signer.rotation!.prepare
      const { current, next } = yield* signer.rotation!.keys
      yield* current.sign(utf8("x"))
      yield* next!.sign(utf8("x"))
      yield* signer.rotation!.promote(next!.publicKey)
      const methods = [
        ...Object.keys(yield* Storage)
          .filter((name) => name !== "backend" && name !== "limits" && name !== "outbox")
          .map((name) => `storage.${name}`),
        ...Object.keys((yield* Storage).outbox).map((name) => `storage.outbox.${name}`)
      ]
      assert.deepStrictEqual(
        [...board.calls.keys()].sort(),
        [
          ...methods,
          "storage.limits.take",
          "guard.read",
          "guard.advance",
          "signer.sign",
          "signer.keys",
          "signer.prepare",
          "signer.promote"
        ].sort()
      )
      assert.deepStrictEqual([board.calls.get("guard.read"), board.calls.get("signer.sign")], [2, 3])
    }).pipe(world())
  )
})

describe("the sign log", () => {
  it.effect("finds two roots of one size, a signature before its guard, and a guard that goes back", () =>
    Effect.gen(function* () {
      const log = new SignLog()
      // A guard that says yes to everything, as a broken one would.
      const guard = log.guard({ read: Effect.succeed(null), advance: () => Effect.succeed(true) })
      const signer = log.signer(yield* Signer)
      yield* guard.advance(null, state(5, "a"))
      yield* signer.sign(checkpoint(5, "a"))
      yield* signer.sign(checkpoint(5, "e", "/evidence-pack/v1"))
      assert.deepStrictEqual(signProblems(log.entries), [])
      yield* guard.advance(null, state(5, "b"))
      yield* guard.advance(null, state(4, "c"))
      yield* signer.sign(checkpoint(6, "d"))
      const at = "flyball.test/faults at size"
      assert.deepStrictEqual(signProblems(log.entries), [
        `${at} 5: the guard took the root ${root("b")} after ${root("a")}`,
        `${at} 4: the guard went back from size 5`,
        `${at} 6: the root ${root("d")} was signed before the guard held it`
      ])
    }).pipe(world())
  )
})
