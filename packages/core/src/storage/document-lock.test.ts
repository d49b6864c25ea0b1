import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { withDocumentLock } from "./document-lock.ts"
import { StorageUnavailable } from "./faults.ts"
import type { StorageApi } from "./port.ts"

/** Lines ask nothing of it. */
const storage = {} as StorageApi

/** Does a step and says so, when `gate` opens. */
const step = (log: Array<string>, name: string, gate: Deferred.Deferred<void, StorageUnavailable>) =>
  Effect.sync(() => log.push(`${name} begins`)).pipe(
    Effect.andThen(Deferred.await(gate)),
    Effect.ensuring(Effect.sync(() => log.push(`${name} ends`)))
  )

/** Lets all fibers come to rest. */
const rest = Effect.repeat(Effect.yieldNow, { times: 20 })

describe("the lock of a document", () => {
  it.effect("does one after the other, in the order in which they came, and others beside it", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const gates = yield* Effect.replicateEffect(Deferred.make<void, StorageUnavailable>(), 4)
      const [a, b, c, other] = yield* Effect.all([
        Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, "a", gates[0]!))),
        Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, "b", gates[1]!))),
        Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, "c", gates[2]!))),
        Effect.forkChild(withDocumentLock(storage, "agents/2", step(log, "other", gates[3]!)))
      ])
      yield* rest
      assert.deepStrictEqual(log, ["a begins", "other begins"])
      for (const gate of gates) {
        yield* Deferred.succeed(gate, undefined)
        yield* rest
      }
      yield* Fiber.joinAll([a, b, c, other])
      assert.deepStrictEqual(log, [
        "a begins",
        "other begins",
        "a ends",
        "b begins",
        "b ends",
        "c begins",
        "c ends",
        "other ends"
      ])
    })
  )

  it.effect("continues behind who is interrupted, at work or waiting", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const gate = yield* Deferred.make<void, StorageUnavailable>()
      const working = yield* Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, "working", gate)))
      const waiting = yield* Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, "waiting", gate)))
      const last = yield* Effect.forkChild(
        withDocumentLock(
          storage,
          "agents/1",
          Effect.sync(() => log.push("last"))
        )
      )
      yield* rest
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(log, ["working begins"])
      yield* Fiber.interrupt(working)
      yield* Fiber.join(last)
      assert.deepStrictEqual(log, ["working begins", "working ends", "last"])
    })
  )

  it.effect("lets all go at once when the store is gone, and is a line again afterwards", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const gates = yield* Effect.replicateEffect(Deferred.make<void, StorageUnavailable>(), 2)
      const first = yield* Effect.forkChild(
        Effect.ignore(withDocumentLock(storage, "agents/1", step(log, "first", gates[0]!)))
      )
      const others = yield* Effect.forEach(["b", "c"], (name) =>
        Effect.forkChild(withDocumentLock(storage, "agents/1", step(log, name, gates[1]!)))
      )
      yield* rest
      yield* Deferred.fail(gates[0]!, new StorageUnavailable({ reason: "silent", wrote: "no" }))
      yield* rest
      assert.deepStrictEqual(log, ["first begins", "first ends", "b begins", "c begins"])
      const later = yield* Effect.forkChild(
        withDocumentLock(
          storage,
          "agents/1",
          Effect.sync(() => log.push("later"))
        )
      )
      yield* rest
      assert.deepStrictEqual(log.slice(4), [])
      yield* Deferred.succeed(gates[1]!, undefined)
      yield* Fiber.joinAll([first, ...others, later])
      assert.deepStrictEqual(log.slice(4), ["b ends", "c ends", "later"])
    })
  )

  it.effect("is another one for each open store", () =>
    Effect.gen(function* () {
      const silent = yield* Effect.forkChild(withDocumentLock(storage, "access_mapping/current", Effect.never))
      yield* rest
      assert.strictEqual(
        yield* withDocumentLock({} as StorageApi, "access_mapping/current", Effect.succeed("done")),
        "done"
      )
      yield* Fiber.interrupt(silent)
    })
  )
})
