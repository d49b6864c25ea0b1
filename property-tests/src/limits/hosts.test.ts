import type { StorageChoice } from "@flyball/core"
import { memoryStorage } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Clock, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
// Not promised by the package: nothing that ships may set a store's clock.
import { replacePostgresClock } from "../../../packages/storage-sql/src/postgres/test-clock.ts"
import { runs } from "../runs.ts"
import { type Home, type Host, openHome } from "./hosts.ts"
import { type Admission, overAdmission, pass as anyPass } from "./laws.ts"

const seed = 20_261_129
const start = Date.UTC(2026, 10, 28, 12) + 321
const database = givenDatabase({ afterAll, beforeAll })
let made = 0

const onPostgres = Effect.gen(function* () {
  const schema = `limits_${++made}`
  const clock = yield* Effect.promise(() => replacePostgresClock(database.url, schema))
  return yield* openHome(postgresStorage({ url: database.url, schema, maxConnections: 4 }), start, (nowMs) =>
    Effect.promise(() => clock.set(nowMs))
  )
})
const on = (choice: StorageChoice) => openHome(choice, start)
const act = fc.record({
  pass: anyPass,
  who: fc.nat(2),
  cost: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) }),
  times: fc.integer({ min: 1, max: 25 }),
  /** Ends a host before, in order or not. */
  end: fc.oneof(
    { weight: 12, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom("order", "kill") }
  ),
  choice: fc.nat(9)
})
const history = fc.array(act, { minLength: 5, maxLength: 25, size: "max" })
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

/** Runs each act with a host, some of which end before. */
const live = Effect.fnUntraced(function* <E>(
  home: Home,
  acts: ReadonlyArray<Act>,
  use: (host: Host, act: Act, who: number) => Effect.Effect<void, E>,
  pass: Home["pass"] = home.pass,
  ended: (who: number) => void = () => {}
) {
  const hosts: Array<Host> = []
  for (const one of acts) {
    yield* pass(one.pass)
    const { end, who } = one
    if (end !== null && hosts[who] !== undefined) {
      yield* end === "order" ? hosts[who].end : hosts[who].kill
      delete hosts[who]
      ended(who)
    }
    yield* use((hosts[who] ??= yield* home.host), one, who)
  }
  for (const host of hosts) if (host !== undefined) yield* host.end
})

const check = (
  open: Effect.Effect<Home, unknown, Scope.Scope>,
  numRuns: number,
  run: (home: Home, acts: ReadonlyArray<Act>) => Effect.Effect<void, unknown>
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(history, (acts) =>
      Effect.flatMap(open, (home) => Effect.provideService(run(home, acts), Clock.Clock, home.clock)).pipe(
        Effect.scoped,
        Effect.provide(TestClock.layer()),
        Effect.runPromise
      )
    ),
    { numRuns, seed }
  )

describe.each<[string, () => Effect.Effect<Home, unknown, Scope.Scope>, number]>([
  ["memory", () => on(memoryStorage()), runs(15, 150)],
  ["SQLite", () => on(sqliteStorage({ file: ":memory:" })), runs(5, 50)],
  ["Postgres", () => onPostgres, runs(2, 20)]
])("hosts over one store in %s", { timeout: 600_000 }, (_name, open, numRuns) => {
  it("admit no more in any window than the limit, though some are killed and clocks step", async () => {
    let refusals = 0
    await check(open(), numRuns, (home, acts) =>
      Effect.gen(function* () {
        const policies = [
          { name: "minute", limit: 40, window: 60 },
          { name: "fast", limit: 1_000, window: 10 }
        ]
        const used = policies.map((): Array<Admission> => [])
        const forward: Array<readonly [number, number]> = []
        yield* live(home, acts, ({ limits }, { choice, cost, pass: { stepMs }, times }) =>
          Effect.gen(function* () {
            const fromMs = yield* home.realMs
            if (stepMs > 0) forward.push([fromMs, fromMs])
            const index = choice % 2
            const rows = [{ subject: `key ${index}`, policies: [policies[index]!] }]
            const answers = yield* Effect.all(
              Array.from({ length: times }, () => limits.take({ rows, cost })),
              { concurrency: choice < 5 ? "unbounded" : 1 }
            )
            for (const { admitted, binding, policies: states, retryAfterS } of answers) {
              for (const { limit, remaining } of states) assert.isTrue(remaining >= 0 && remaining <= limit)
              if (admitted) used[index]!.push({ fromMs, toMs: fromMs, cost })
              else {
                refusals++
                assert.strictEqual(binding.remaining, 0)
                assert.isAtLeast(retryAfterS!, 1)
              }
            }
          })
        )
        policies.forEach((policy, index) => assert.isNull(overAdmission(policy, used[index]!, forward)))
      })
    )
    assert.isAbove(refusals, 0)
  })

  it("admit after the wait that they named, where nobody else came", async () => {
    await check(open(), numRuns, (home, acts) =>
      Effect.gen(function* () {
        const rows = [{ subject: "key", policies: [{ name: "minute", limit: 40, window: 60 }] }]
        yield* live(home, acts, ({ limits }, { cost, times }) =>
          Effect.gen(function* () {
            for (let time = 0; time < times; time++) {
              const { admitted, retryAfterS } = yield* limits.take({ rows, cost })
              if (admitted) continue
              yield* home.pass({ passMs: retryAfterS! * 1000, stepMs: 0 })
              assert.isTrue((yield* limits.take({ rows, cost })).admitted)
              return
            }
          })
        )
      })
    )
  })

  it("run no more calls at once than the limit, and have all permits back in the end", async () => {
    await check(open(), numRuns, (home, acts) =>
      Effect.gen(function* () {
        const limit = 5
        const running = [0, 1, 2].map((): Array<Effect.Effect<void>> => [])
        const steady = acts.map((one) => ({
          ...one,
          pass: { passMs: one.pass.passMs % 20_000, stepMs: Math.min(0, one.pass.stepMs) }
        }))
        yield* live(
          home,
          steady,
          ({ permits }, { choice, times }, who) =>
            Effect.gen(function* () {
              const mine = running[who]!
              for (let time = 0; time < times % 8; time++) {
                const permit = yield* permits.hold("key", limit)
                if (permit.held) mine.push(permit.release)
                assert.isAtMost(running.flat().length, limit)
              }
              for (const release of mine.splice(0, choice)) yield* release
            }),
          home.watch,
          // A process that is killed runs nothing any more; others learn of it within 15 seconds.
          (who) => void running[who]!.splice(0)
        )
        yield* home.watch({ passMs: 20_000, stepMs: 0 })
        const held = { subject: "key", holder: "last", running: 0, wanted: limit, limit }
        const [taken] = yield* home.storage.limits.take([{ rows: [], cost: 0, units: 0, held }])
        assert.strictEqual(taken!.held!.granted, limit)
      })
    )
  })

  it("settle what they reserve: what is settled and what is reserved never pass the quota", async () => {
    await check(open(), numRuns, (home, acts) =>
      Effect.gen(function* () {
        const [unit, resource, limit] = ["sales", "tokens", 200]
        const open = new Map<string, { readonly amount: number; readonly settle: Effect.Effect<unknown, unknown> }>()
        let settled = 0
        const steady = acts.map((one) => ({ ...one, pass: { passMs: one.pass.passMs % 5_000, stepMs: 0 } }))
        yield* live(home, steady, ({ quotas }, { choice, cost, times }) =>
          Effect.gen(function* () {
            const answers = yield* Effect.all(
              Array.from({ length: times % 5 }, () =>
                quotas.reserve({ unit, resource, amount: cost, limit }, 86_400_000)
              ),
              { concurrency: "unbounded" }
            )
            for (const answer of answers) {
              if (!answer.reserved) continue
              const actual = cost % (choice + 1)
              const { amount, id } = answer.reservation
              open.set(id, {
                amount,
                settle: Effect.map(quotas.settle(answer.reservation, actual), (receipt) => {
                  if (receipt !== null) settled += actual
                })
              })
            }
            for (const [id, { settle }] of [...open].slice(0, choice)) {
              yield* settle
              yield* settle
              open.delete(id)
            }
            const reserved = [...open.values()].reduce((sum, { amount }) => sum + amount, 0)
            const { used } = yield* quotas.used(unit, [resource])
            assert.strictEqual(used[0], settled + reserved)
            assert.isAtMost(used[0]!, limit)
          })
        )
        const quotas = (yield* home.host).quotas
        yield* home.pass({ passMs: 86_400_000, stepMs: 0 })
        yield* quotas.returnLapsed
        const name = `${unit}:${resource}:2026-11`
        assert.deepEqual(yield* home.storage.counters([name]), [settled])
      })
    )
  })
})
