import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerOf } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { Storage } from "../storage/port.ts"
import { quotaCounts, Quotas, type QuotaReservation } from "./quotas.ts"

const DAY_MS = 86_400_000
const march = Date.UTC(2026, 2, 31, 23, 59)
const tokens = { unit: "sales", resource: "tokens", amount: 40, limit: 100 }
const world = Quotas.layer.pipe(Layer.provideMerge(layerOf(memoryStorage())))
const reserve = Effect.flatMap(Quotas, (quotas) => quotas.reserve(tokens, 60_000))
const reserved = Effect.map(reserve, (answer): QuotaReservation => {
  if (!answer.reserved) throw new Error("It was refused.")
  return answer.reservation
})
const used = Effect.map(
  Effect.flatMap(Quotas, (quotas) => quotas.used("sales", ["tokens"])),
  (answer) => answer.used[0]
)
const document = { collection: "things", id: "a", expectedVersion: 0, body: {} }

describe("quotas", () => {
  it.effect("reserve up to the limit, and say what is used and when it ends", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(march)
      yield* reserve
      yield* reserve
      const resetS = Date.UTC(2026, 3, 1) / 1000
      assert.deepStrictEqual(yield* reserve, { reserved: false, used: 80, limit: 100, resetS })
      const quotas = yield* Quotas
      assert.deepStrictEqual(yield* quotas.used("sales", ["tokens", "documents"]), {
        period: "2026-03",
        resetS,
        used: [80, 0]
      })
      yield* TestClock.setTime(march + 60_000)
      assert.deepStrictEqual(yield* used, 0)
      assert.isTrue((yield* reserve).reserved)
    }).pipe(Effect.provide(world))
  )

  it.effect("settle with the effect, in the month of the reservation, and once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(march)
      const quotas = yield* Quotas
      const reservation = yield* reserved
      yield* TestClock.setTime(march + 59_999)
      assert.isNotNull(yield* quotas.settle(reservation, 25, { puts: [document] }))
      assert.strictEqual(yield* used, 25)
      yield* TestClock.setTime(march + 60_000)
      assert.isNull(yield* quotas.settle(reservation, 25, { puts: [document] }))
      assert.strictEqual(yield* used, 0)
      assert.strictEqual((yield* Storage.use((storage) => storage.get("things", "a")))?.version, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("leave a conflict of the effect to its planner", () =>
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const reservation = yield* reserved
      yield* Storage.use((storage) => storage.commit({ puts: [document] }))
      const conflict = yield* Effect.flip(quotas.settle(reservation, 25, { puts: [document] }))
      assert.strictEqual(conflict._tag, "StorageConflict")
      assert.strictEqual(yield* used, 40)
    }).pipe(Effect.provide(world))
  )

  it.effect("return what lapsed, count what is settled late, and forget it after a week", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(march - 20 * DAY_MS)
      const quotas = yield* Quotas
      const [late, lost] = [yield* reserved, yield* reserved]
      assert.strictEqual(yield* quotas.returnLapsed, 0)
      yield* TestClock.adjust(60_000)
      assert.strictEqual(yield* quotas.returnLapsed, 2)
      assert.strictEqual(yield* quotas.returnLapsed, 0)
      assert.strictEqual(yield* used, 0)
      yield* quotas.settle(late, 30)
      assert.strictEqual(yield* used, 30)
      yield* TestClock.adjust(7 * DAY_MS)
      assert.strictEqual(yield* quotas.returnLapsed, 0)
      assert.isNull(yield* quotas.settle(lost, 30))
      assert.deepStrictEqual(yield* Storage.use((storage) => storage.list("reservations")), [])
      assert.strictEqual(yield* used, 30)
    }).pipe(Effect.provide(world))
  )

  it("count a known cost in the ChangeSet of its effect", () => {
    assert.deepStrictEqual(quotaCounts([tokens, { ...tokens, resource: "gb", limit: null }], march), [
      { name: "sales:tokens:2026-03", add: 40, atMost: 100 },
      { name: "sales:gb:2026-03", add: 40 }
    ])
  })
})
