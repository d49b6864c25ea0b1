import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { LostBefore, tasksPerTurn } from "@flyball/core/storage"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { groupCommit, quickMs } from "./group-commit.ts"

/** A backend that records its batches and is held back until it is let go. */
const backend = Effect.gen(function* () {
  const batches: Array<ReadonlyArray<number>> = []
  const gates: Array<Deferred.Deferred<void>> = []
  const arrivals: Array<Deferred.Deferred<void>> = []
  const run = (items: ReadonlyArray<number>) =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      batches.push(items)
      gates.push(gate)
      const arrival = arrivals.shift()
      if (arrival !== undefined) yield* Deferred.succeed(arrival, undefined)
      yield* Deferred.await(gate)
      return items.map((item) => (item < 0 ? Exit.fail(`refused ${item}`) : Exit.succeed(item * 10)))
    })
  return {
    batches,
    run,
    /** Waits until one more batch is in flight than when it is called. */
    arrived: Effect.gen(function* () {
      const arrival = yield* Deferred.make<void>()
      arrivals.push(arrival)
      return Deferred.await(arrival)
    }),
    letGo: Effect.suspend(() => Deferred.succeed(gates.shift()!, undefined))
  }
})

const weigh = (item: number) => ({ records: 1, bytes: Math.abs(item) })
const closed = () => "closed"

describe("groupCommit", () => {
  it.effect("items submitted together share a batch, and the next batch collects meanwhile", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed })
      const first = yield* arrived
      const early = yield* Effect.forEach([1, 2, 3], (item) => Effect.forkChild(submit(() => item)))
      yield* first
      const second = yield* arrived
      const late = yield* Effect.forEach([4, -5], (item) => Effect.forkChild(Effect.exit(submit(() => item))))
      yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [[1, 2, 3]])
      yield* letGo
      yield* second
      yield* letGo
      assert.deepStrictEqual(batches, [
        [1, 2, 3],
        [4, -5]
      ])
      assert.deepStrictEqual(yield* Effect.forEach(early, Fiber.join), [10, 20, 30])
      assert.deepStrictEqual(yield* Effect.forEach(late, Fiber.join), [Exit.succeed(40), Exit.fail("refused -5")])
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    [0, [[1], [2, 3]]],
    [quickMs, [[1], [2], [3]]]
  ] as const)(
    "a caller's next item joins the batch after its own, unless that took 8 ms or more: %d",
    ([tookMs, expected]) =>
      Effect.gen(function* () {
        const { arrived, batches, letGo, run } = yield* backend
        let ms = 0
        const submit = yield* groupCommit({ weigh, run, closed, nowMs: () => ms })
        const first = yield* arrived
        const both = yield* Effect.forkChild(
          Effect.flatMap(
            submit(() => 1),
            () => submit(() => 3)
          )
        )
        yield* first
        const second = yield* arrived
        const waiting = yield* Effect.forkChild(
          submit(() => 2),
          { startImmediately: true }
        )
        ms += tookMs
        yield* letGo
        yield* second
        if (expected.length === 3) {
          const third = yield* arrived
          yield* letGo
          yield* third
        }
        yield* letGo
        assert.deepStrictEqual([yield* Fiber.join(both), yield* Fiber.join(waiting)], [30, 20])
        assert.deepStrictEqual(
          batches,
          expected.map((batch) => [...batch])
        )
      }).pipe(Effect.scoped)
  )

  it.effect("after a quick batch, items that were not in it wait for one turn of the event loop only", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed, nowMs: () => 0 })
      const first = yield* arrived
      const early = yield* Effect.forEach([1, 2, 3], (item) =>
        Effect.forkChild(
          submit(() => item),
          { startImmediately: true }
        )
      )
      yield* first
      const waiting = yield* Effect.forkChild(
        submit(() => 4),
        { startImmediately: true }
      )
      const second = yield* arrived
      yield* letGo
      assert.deepStrictEqual(yield* Effect.forEach(early, Fiber.join), [10, 20, 30])
      yield* second
      yield* letGo
      assert.strictEqual(yield* Fiber.join(waiting), 40)
      assert.deepStrictEqual(batches, [[1, 2, 3], [4]])
    }).pipe(Effect.scoped)
  )

  it.effect("a callback of the host that throws blocks neither other callers nor closing", () =>
    Effect.gen(function* () {
      const { arrived, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed })
      const listeners = process.listeners("uncaughtException")
      process.removeAllListeners("uncaughtException")
      const thrown = yield* Effect.forkChild(
        Effect.callback<string>(
          (resume) =>
            void process.once("uncaughtException", (error) => {
              for (const listener of listeners) process.on("uncaughtException", listener)
              resume(Effect.succeed(error.message))
            })
        ),
        { startImmediately: true }
      )
      const first = yield* arrived
      Effect.runCallback(
        submit(() => 1),
        {
          onExit: () => {
            throw new Error("the host's own")
          }
        }
      )
      yield* first
      const second = yield* arrived
      const later = yield* Effect.forkChild(
        submit(() => 2),
        { startImmediately: true }
      )
      yield* letGo
      assert.equal(yield* Fiber.join(thrown), "the host's own")
      yield* second
      yield* letGo
      assert.equal(yield* Fiber.join(later), 20)
    }).pipe(Effect.scoped)
  )

  it.effect("a batch ends at its limits, and an item above them has its own batch", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const submit = yield* groupCommit<number, number, string>({
        weigh,
        closed,
        maxRecords: 3,
        maxBytes: 10,
        run: (items) =>
          Effect.sync(() => {
            batches.push(items)
            return items.map((item) => Exit.succeed(item))
          })
      })
      yield* Effect.forEach([1, 1, 1, 1, 9, 2, 50, 1], (item) => submit(() => item), { concurrency: "unbounded" })
      assert.deepStrictEqual(batches, [[1, 1, 1], [1, 9], [2], [50], [1]])
    }).pipe(Effect.scoped)
  )

  it.effect("an item of an interrupted caller is dropped while it waits, and stays in its batch once in flight", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed })
      const first = yield* arrived
      const flying = yield* Effect.forkChild(submit(() => 1))
      const beside = yield* Effect.forkChild(submit(() => 2))
      yield* first
      const waiting = yield* Effect.forkChild(
        submit(() => 3),
        { startImmediately: true }
      )
      const after = yield* Effect.forkChild(
        submit(() => 4),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(flying)
      yield* Fiber.interrupt(waiting)
      const second = yield* arrived
      yield* letGo
      yield* second
      yield* letGo
      assert.deepStrictEqual([yield* Fiber.join(beside), yield* Fiber.join(after)], [20, 40])
      assert.deepStrictEqual(batches, [[1, 2], [4]])
    }).pipe(Effect.scoped)
  )

  it.effect("an item that cannot be built fails only its caller", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed })
      const first = yield* arrived
      const one = yield* Effect.forkChild(submit(() => 1))
      const unmade = yield* Effect.forkChild(
        Effect.exit(
          submit(() => {
            throw new Error("no plan of ours")
          })
        )
      )
      yield* first
      yield* letGo
      const exit = yield* Fiber.join(unmade)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepStrictEqual([yield* Fiber.join(one), batches], [10, [[1]]])
    }).pipe(Effect.scoped)
  )

  it.effect("while an item waits, its input can be garbage-collected", () =>
    Effect.gen(function* () {
      setFlagsFromString("--expose-gc")
      const collect = runInNewContext("gc") as () => void
      const { arrived, letGo, run } = yield* backend
      const submit = yield* groupCommit({ weigh, run, closed })
      const first = yield* arrived
      const flying = yield* Effect.forkChild(submit(() => 1))
      yield* first
      let made: WeakRef<object> | null = null
      const makeOf = (whole: { readonly item: number }) =>
        submit(() => {
          made = new WeakRef(whole)
          return whole.item
        })
      const waiting = yield* Effect.forkChild(
        Effect.suspend(() => makeOf({ item: 2 })),
        { startImmediately: true }
      )
      // What a WeakRef was made of stays until the turn is over.
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      collect()
      assert.isUndefined(made!.deref())
      const second = yield* arrived
      yield* letGo
      yield* second
      yield* letGo
      assert.deepStrictEqual([yield* Fiber.join(flying), yield* Fiber.join(waiting)], [10, 20])
    }).pipe(Effect.scoped)
  )

  it.effect("a batch that fails or dies as a whole fails each of its callers, and the next batch runs", () =>
    Effect.gen(function* () {
      let call = 0
      const submit = yield* groupCommit<number, number, string>({
        weigh,
        closed,
        run: (items) =>
          ++call === 1
            ? Effect.fail("disk")
            : call === 2
              ? Effect.die("bug")
              : Effect.succeed(items.map((item) => Exit.succeed(item)))
      })
      const both = () => Effect.forEach([1, 2], (item) => Effect.exit(submit(() => item)), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* both(), [Exit.fail("disk"), Exit.fail("disk")])
      for (const exit of yield* both()) assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepStrictEqual(yield* both(), [Exit.succeed(1), Exit.succeed(2)])
    }).pipe(Effect.scoped)
  )

  it.effect("closing answers every item submitted before, and refuses later ones", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const scope = yield* Scope.make()
      const submit = yield* Scope.provide(groupCommit({ weigh, run, closed }), scope)
      const first = yield* arrived
      const flying = yield* Effect.forkChild(submit(() => 1))
      yield* first
      const waiting = yield* Effect.forkChild(
        submit(() => 2),
        { startImmediately: true }
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.strictEqual(yield* Effect.flip(submit(() => 3)), "closed")
      const second = yield* arrived
      yield* letGo
      yield* second
      yield* letGo
      yield* Fiber.join(closing)
      assert.deepStrictEqual([yield* Fiber.join(flying), yield* Fiber.join(waiting)], [10, 20])
      assert.deepStrictEqual(batches, [[1], [2]])
    })
  )

  it.effect("full batches are answered over several turns of the event loop, in order, and closing waits for all", () =>
    Effect.gen(function* () {
      let turn = 0
      const turns = yield* Effect.forkChild(Effect.forever(Effect.sync(() => turn++)))
      const scope = yield* Scope.make()
      const answered: Array<readonly [item: number, turn: number]> = []
      const submit = yield* Scope.provide(
        groupCommit<number, number, string>({
          weigh,
          closed,
          maxRecords: 120,
          maxBytes: 1_000_000,
          maxInFlight: 2,
          run: (items) => Effect.succeed(items.map((item) => Exit.succeed(item)))
        }),
        scope
      )
      const items = Array.from({ length: 300 }, (_, index) => index)
      yield* Effect.forEach(items, (item) =>
        Effect.forkChild(
          Effect.map(
            submit(() => item),
            (answer) => answered.push([answer, turn])
          ),
          { startImmediately: true }
        )
      )
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(turns)
      assert.deepStrictEqual(
        answered.map(([item]) => item),
        items
      )
      const counts = new Map<number, number>()
      for (const [, at] of answered) counts.set(at, (counts.get(at) ?? 0) + 1)
      assert.isAtMost(Math.max(...counts.values()), tasksPerTurn)
    })
  )

  it.effect("nothing follows a batch that one item fills, and then acts go first", () =>
    Effect.gen(function* () {
      const { arrived, batches, letGo, run } = yield* backend
      const submit = yield* groupCommit({
        weigh: (item: number) => ({ records: item >= 1_000 ? 1_000 : 1, bytes: 1 }),
        turn: (item: number) => ({ class: item === 7 ? "act" : "capture", key: "" }),
        run,
        closed,
        maxInFlight: 2
      })
      const fork = (item: number, lostBefore = false) =>
        Effect.forkChild(
          Effect.provideService(
            submit(() => item),
            LostBefore,
            lostBefore
          ),
          { startImmediately: true }
        )
      const first = yield* arrived
      const fibers = [yield* fork(1_001)]
      yield* first
      fibers.push(yield* fork(1_002), yield* fork(7), yield* fork(1_003, true))
      yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [[1_001]])
      const second = yield* arrived
      const third = yield* arrived
      yield* letGo
      yield* second
      yield* third
      const fourth = yield* arrived
      yield* letGo
      yield* Fiber.join(fibers[2]!)
      assert.deepStrictEqual(batches, [[1_001], [7], [1_003]])
      yield* letGo
      yield* fourth
      yield* letGo
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(batches, [[1_001], [7], [1_003], [1_002]])
    }).pipe(Effect.scoped)
  )

  it.effect("an idle group commit closes at once", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const submit = yield* Scope.provide(
        groupCommit<number, number, string>({ weigh, closed, run: () => Effect.die("never") }),
        scope
      )
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Effect.flip(submit(() => 1)), "closed")
    })
  )
})
