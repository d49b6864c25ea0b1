import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { metricsNow, ownMetrics } from "../../../foundation/metrics.ts"
import { MAX_PER_PRINCIPAL } from "../../../foundation/lane.ts"
import { ExaminerQueue, type LaneName } from "./examiner-queue.ts"

/** A queue whose questions end on command, and the names of those that began, in their order. */
const given = () => {
  const queue = new ExaminerQueue()
  const began: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  /** Asks, and continues once the question has begun, waits or is refused. */
  const ask = Effect.fnUntraced(function* (lane: LaneName, principal: string, name = principal) {
    const gate = yield* Deferred.make<void>()
    gates.set(name, gate)
    const question = Effect.andThen(
      Effect.sync(() => void began.push(name)),
      Effect.as(Deferred.await(gate), name)
    )
    const requested = queue.admit(lane, principal, (inTurn) => inTurn(question))
    const fiber = yield* Effect.forkChild(requested, { startImmediately: true })
    yield* settled
    return fiber
  })
  /** Ends a question, and lets the next one begin. */
  const end = (name: string) => Effect.andThen(Deferred.succeed(gates.get(name)!, undefined), settled)
  return { queue, began, ask, end }
}
/** Turns of the event loop in which whatever can begin begins. */
const settled = Effect.forEach([1, 2, 3, 4], () => Effect.yieldNow, { discard: true })

const isFull = (exit: Exit.Exit<unknown, { readonly _tag: string; readonly limit?: number }>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      reason._tag === "Fail" && reason.error._tag === "ExaminationQueueFull" && reason.error.limit === MAX_PER_PRINCIPAL
  )

describe("the queue before the examiner", () => {
  it.effect("runs one question at a time, and principals take turns", () =>
    Effect.gen(function* () {
      const { ask, began, end } = given()
      for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) yield* ask("question", name[0]!, name)
      for (let done = 0; done < 6; done++) {
        yield* settled
        assert.lengthOf(began, done + 1)
        yield* end(began[done]!)
      }
      assert.deepStrictEqual(began, ["a1", "a2", "b1", "c1", "a3", "b2"])
    })
  )

  it.effect("takes a bounded number of each principal, and another when one has ended", () =>
    Effect.gen(function* () {
      const { ask, began, end } = given()
      const fibers = []
      for (let n = 0; n < MAX_PER_PRINCIPAL; n++) fibers.push(yield* ask("question", "a", `a${n}`))
      assert.isTrue(isFull(yield* Fiber.await(yield* ask("question", "a", "refused"))))
      yield* ask("question", "b")
      yield* ask("publish", "a", "publication of a")
      assert.deepStrictEqual(began, ["a0", "publication of a"])
      yield* end("publication of a")
      yield* end("a0")
      assert.strictEqual(yield* Fiber.join(fibers[0]!), "a0")
      yield* ask("question", "a", "taken")
      assert.isTrue(isFull(yield* Fiber.await(yield* ask("question", "a", "refused too"))))
    })
  )

  it.effect("counts what it refuses, by lane", () =>
    Effect.gen(function* () {
      const { ask } = given()
      for (let n = 0; n < MAX_PER_PRINCIPAL; n++) yield* ask("publish", "a", `a${n}`)
      for (const principal of ["a", "b", "a"]) yield* ask("publish", principal, `more of ${principal}`)
      yield* ask("question", "a")
      const families = yield* metricsNow
      assert.deepStrictEqual(families.find(({ name }) => name === "flyball_examination_refusals_total")?.samples, [
        { labels: { lane: "publish" }, value: 2 },
        { labels: { lane: "question" }, value: 0 }
      ])
    }).pipe(Effect.provide(ownMetrics))
  )

  it.effect("has publications go first, beside a question that runs", () =>
    Effect.gen(function* () {
      const { ask, began, end } = given()
      for (const name of ["a1", "a2"]) yield* ask("question", "a", name)
      for (const name of ["p1", "p2"]) yield* ask("publish", name)
      assert.deepStrictEqual(began, ["a1", "p1"])
      yield* end("a1")
      assert.deepStrictEqual(began, ["a1", "p1"])
      yield* end("p1")
      assert.deepStrictEqual(began, ["a1", "p1", "p2"])
      yield* end("p2")
      assert.deepStrictEqual(began, ["a1", "p1", "p2", "a2"])
    })
  )

  it.effect("is left by a caller that goes away, waiting or running", () =>
    Effect.gen(function* () {
      const { ask, began, end } = given()
      const running = yield* ask("question", "a", "a0")
      const waiting = []
      for (let n = 1; n < MAX_PER_PRINCIPAL; n++) waiting.push(yield* ask("question", "a", `a${n}`))
      yield* ask("question", "b")
      yield* Fiber.interruptAll(waiting.slice(1))
      yield* ask("question", "a", "again")
      yield* Fiber.interrupt(running)
      yield* settled
      assert.deepStrictEqual(began, ["a0", "a1"])
      yield* end("a1")
      yield* end("b")
      assert.deepStrictEqual(began, ["a0", "a1", "b", "again"])
    })
  )

  it.effect("continues when a caller goes away in the moment in which its turn comes", () =>
    Effect.gen(function* () {
      const { ask, began } = given()
      const [first, second] = [yield* ask("question", "a"), yield* ask("question", "b")]
      yield* ask("question", "c")
      // The end of the first calls the second, which is interrupted before it begins.
      yield* Effect.all([Fiber.interrupt(first), Fiber.interrupt(second)], { concurrency: "unbounded" })
      yield* settled
      assert.deepStrictEqual(began, ["a", "c"])
    })
  )

  it.effect("continues after work that fails or dies", () =>
    Effect.gen(function* () {
      const { queue } = given()
      for (let n = 0; n < MAX_PER_PRINCIPAL; n++) {
        for (const broken of [Effect.fail("no"), Effect.die("oh")]) {
          yield* Effect.exit(queue.admit("question", "a", (inTurn) => inTurn(broken)))
          yield* Effect.exit(queue.admit("question", "a", () => broken))
        }
      }
      assert.strictEqual(yield* queue.admit("question", "a", (inTurn) => inTurn(Effect.succeed(7))), 7)
    })
  )

  it.effect("counts work from beginning to end, and gives turns to questions alone", () =>
    Effect.gen(function* () {
      const { ask, began, end, queue } = given()
      // A store that does not answer, before the question and after it.
      for (const lane of ["question", "publish"] as const) {
        yield* Effect.forkChild(
          queue.admit(lane, "a", () => Effect.never),
          { startImmediately: true }
        )
        const requested = queue.admit(lane, "a", (inTurn) => Effect.andThen(inTurn(Effect.void), Effect.never))
        yield* Effect.forkChild(requested, { startImmediately: true })
      }
      yield* settled
      yield* ask("question", "b")
      yield* ask("publish", "c")
      assert.deepStrictEqual(began, ["b", "c"])
      yield* Effect.forEach(["b", "c"], end)
      for (let n = 2; n < MAX_PER_PRINCIPAL; n++) yield* ask("question", "a", `a${n}`)
      assert.isTrue(isFull(yield* Fiber.await(yield* ask("question", "a", "refused"))))
    })
  )
})
