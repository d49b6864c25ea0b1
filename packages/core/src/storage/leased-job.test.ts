import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld } from "../testing/governor-world.ts"
import { leasedJob, whereHeld } from "./leased-job.ts"
import { Storage } from "./port.ts"

const options = { lease: "job", leaseMs: 10_000, failed: "It failed.", pause: Effect.sleep(1_000) }

/** A process that counts its rounds until its scope closes. */
const process = (work: () => Effect.Effect<unknown, string> = () => Effect.void) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const counted = { rounds: 0 }
    const round = whereHeld(Effect.suspend(() => ((counted.rounds += 1), work())))
    yield* Scope.provide(leasedJob(options, round), scope)
    return { counted, end: Scope.close(scope, Exit.void) }
  })

describe("a job under a lease", () => {
  it.effect("is done by one process, and by the other at once when that one ends", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* process(), yield* process()]
      yield* TestClock.adjust(2_500)
      assert.deepStrictEqual([first.counted.rounds, second.counted.rounds], [3, 0])
      yield* first.end
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual([first.counted.rounds, second.counted.rounds], [3, 2])
      yield* second.end
      assert.isTrue(yield* Storage.use((storage) => storage.lease("job", "third", 1)))
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("continues after a round that failed, and after one that is a defect", () =>
    Effect.gen(function* () {
      let at = 0
      const { counted, end } = yield* process(
        () => [Effect.fail("no"), Effect.die(new Error("defect")), Effect.void][at++ % 3]!
      )
      yield* TestClock.adjust(3_500)
      assert.strictEqual(counted.rounds, 4)
      yield* end
      yield* TestClock.adjust(3_500)
      assert.strictEqual(counted.rounds, 4)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("logs an outage of many rounds once, and its end", () =>
    Effect.gen(function* () {
      let at = 0
      const said: Array<string> = []
      const listen = Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))])
      const { end } = yield* process(() => (at++ < 5 ? Effect.fail("no") : Effect.void)).pipe(Effect.provide(listen))
      yield* TestClock.adjust(9_500)
      yield* end
      assert.deepStrictEqual(said, ["It failed.", "The job job works again."])
    }).pipe(Effect.provide(governorWorld()))
  )
})
