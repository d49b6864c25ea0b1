/**
 * The clock of the registry as a job: it polls by itself, one process at a time, and no fault stops it for good. Spec:
 * document 1 sections 1 and 8.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { governorJobs } from "../../governor/governor-jobs.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { agentClock, POLL_MS, suspendDue } from "./clock.ts"
import { Agents } from "./service.ts"

const WEEK_MS = 7 * 86_400_000
const START_MS = 1_795_230_000_000
const away = new StorageUnavailable({ reason: "away", wrote: "no" })

/** An agent that nobody has answered for since now. */
const orphan = (name: string) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const { id } = yield* registered(name)
    yield* agents.disown(id, { reason: "left the house" }, writer)
    return id
  })
const statuses = Effect.map(
  Agents.use((agents) => agents.list({})),
  (agents) => agents.map(({ status }) => status)
)

/**
 * A process with a clock over the world's store, seen through `change`. It ends in order, or dies, which gives back no
 * lease.
 */
const process = Effect.fnUntraced(function* (change: (storage: StorageApi) => Partial<StorageApi> = () => ({})) {
  const real = yield* Storage
  const agents = yield* Agents
  let polls = 0
  let dead = false
  const seen: StorageApi = {
    ...real,
    list: (...args) =>
      Effect.suspend(() => {
        if (args[0] === "agents") polls += 1
        return real.list(...args)
      })
  }
  const storage = Storage.of({
    ...seen,
    releaseLease: (...args) => (dead ? Effect.void : real.releaseLease(...args)),
    ...change(seen)
  })
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(
    Layer.fresh(agentClock).pipe(
      Layer.provide(Layer.mergeAll(Layer.succeed(Storage, storage), Layer.succeed(Agents, agents)))
    ),
    scope
  )
  return {
    polls: () => polls,
    stop: Scope.close(scope, Exit.void),
    die: Effect.suspend(() => {
      dead = true
      return Scope.close(scope, Exit.void)
    })
  }
})

/** At a known time. The millisecond lets what the leap woke go to sleep again, at the new time. */
const at = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(Effect.andThen(TestClock.setTime(START_MS), TestClock.adjust(1)), test)

describe("the clock of the registry", () => {
  it.effect("suspends an orphan a week later by itself, among the jobs that every governor runs", () =>
    at(
      Effect.gen(function* () {
        yield* orphan("one")
        yield* TestClock.adjust(WEEK_MS - 3 * POLL_MS)
        yield* Layer.build(Layer.fresh(governorJobs))
        yield* TestClock.adjust(3 * POLL_MS - 1)
        assert.deepStrictEqual(yield* statuses, ["draft"])
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(yield* statuses, ["suspended"])
      })
    ).pipe(Effect.scoped, Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("works in one process of two, and in the other as soon as the first has stopped", () =>
    at(
      Effect.gen(function* () {
        const first = yield* process()
        yield* TestClock.adjust(POLL_MS / 2)
        const second = yield* process()
        yield* TestClock.adjust(2.5 * POLL_MS)
        assert.deepStrictEqual([first.polls(), second.polls()], [4, 0])
        // Half an interval later the lease would still be the first one's, had it not given it back.
        yield* first.stop
        yield* TestClock.adjust(POLL_MS / 2)
        assert.deepStrictEqual([first.polls(), second.polls()], [4, 1])
        yield* second.stop
      })
    ).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("continues in another process when the first dies with its lease", () =>
    at(
      Effect.gen(function* () {
        yield* orphan("one")
        yield* TestClock.adjust(WEEK_MS - POLL_MS - 1)
        const first = yield* process()
        yield* TestClock.adjust(POLL_MS)
        const second = yield* process()
        yield* TestClock.adjust(0)
        yield* first.die
        const before = first.polls()
        assert.deepStrictEqual([yield* statuses, second.polls()], [["draft"], 0])
        yield* TestClock.adjust(POLL_MS)
        assert.deepStrictEqual([yield* statuses, first.polls(), second.polls()], [["suspended"], before, 1])
        yield* second.stop
      })
    ).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )

  it.effect("that could not poll, or not even take the lease, tries again", () =>
    at(
      Effect.gen(function* () {
        yield* orphan("one")
        yield* TestClock.adjust(WEEK_MS)
        let failing: "lease" | "list" | "die" | null = "lease"
        const one = yield* process((real) => ({
          lease: (...args) => (failing === "lease" ? Effect.fail(away) : real.lease(...args)),
          list: (...args) =>
            failing === "list" ? Effect.fail(away) : failing === "die" ? Effect.die("a bug") : real.list(...args)
        }))
        yield* TestClock.adjust(0)
        failing = "list"
        yield* TestClock.adjust(POLL_MS)
        failing = "die"
        yield* TestClock.adjust(POLL_MS)
        assert.deepStrictEqual(yield* statuses, ["draft"])
        failing = null
        yield* TestClock.adjust(POLL_MS)
        assert.deepStrictEqual(yield* statuses, ["suspended"])
        yield* one.stop
      })
    ).pipe(Effect.provide(Layer.fresh(governorWorld())), Effect.provide(Logger.layer([])))
  )
})

describe("a poll", () => {
  for (const [how, fault] of [
    ["cannot be suspended", Effect.fail(away)],
    ["meets a bug", Effect.die("a bug")]
  ] as const) {
    it.effect(`continues behind an agent that ${how}, and says so once`, () =>
      at(
        Effect.gen(function* () {
          const said: Array<string> = []
          const ids: Array<string> = []
          for (const name of ["one", "two", "three"]) {
            yield* TestClock.adjust(1)
            ids.push(yield* orphan(name))
          }
          yield* TestClock.adjust(WEEK_MS)
          const agents = yield* Agents
          const stubborn = Agents.of({
            ...agents,
            suspendIfDue: (id) => (id === ids[0] ? fault : agents.suspendIfDue(id))
          })
          const logger = Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))])
          assert.strictEqual(yield* suspendDue.pipe(Effect.provideService(Agents, stubborn), Effect.provide(logger)), 2)
          assert.deepStrictEqual(yield* statuses, ["draft", "suspended", "suspended"])
          assert.deepStrictEqual(said, [
            `The clock of the registry could not suspend 1 of the agents that are due, ${ids[0]} first; it tries again.`
          ])
          assert.strictEqual(yield* suspendDue, 1)
          assert.deepStrictEqual(yield* statuses, ["suspended", "suspended", "suspended"])
        })
      ).pipe(Effect.provide(Layer.fresh(governorWorld())))
    )
  }
})
