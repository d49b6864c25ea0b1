import type { StorageChoice } from "@flyball/core/storage"
import { layerOf, memoryStorage, Storage } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { CaseTime, seededEntropy } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
// Not promised by the package: nothing that ships may set a store's clock.
import { replacePostgresClock } from "../../../packages/storage-sql/src/postgres/test-clock.ts"
import type { Contestant, Step, Tally } from "./run-history.ts"
import { emptyTally, runHistory } from "./run-history.ts"
import { isLong, runs } from "../runs.ts"

/** Random histories. Each opens three stores, so they are few and long rather than many and short. */
const histories = runs(3, 12)
/** The same histories every time: a difference that was found once is found again. */
const seed = 20_260_501
/**
 * Unit: milliseconds. A difference is made small for at most this long; the histories themselves take a fraction of it.
 */
const patienceMs = 100_000

const numbers = fc.array(fc.nat(0xffff), { maxLength: 120, size: "max" })
const step: fc.Arbitrary<Step> = fc.record({
  clockMs: fc.integer({ min: -2000, max: 10_000 }),
  changes: fc.array(numbers, { maxLength: 6, size: "max" }),
  question: fc.array(fc.nat(0xffff), { maxLength: 12, size: "max" })
})
const steps = fc.array(step, { minLength: 6, maxLength: 18, size: "max" })

const database = givenDatabase({ afterAll, beforeAll })

/** Opens a store with the same randomness as all others, for as long as the scope lives. */
const open = (name: string, choice: StorageChoice) =>
  Effect.map(Layer.build(Layer.provide(layerOf(choice), seededEntropy(seed))), (context): Contestant => ({
    name,
    storage: Context.get(context, Storage)
  }))

/** One history on memory, SQLite and Postgres, all of them new, under one clock. */
const compete = (schema: string, history: ReadonlyArray<Step>, tally: Tally) =>
  Effect.gen(function* () {
    const clock = yield* Effect.promise(() => replacePostgresClock(database.url, schema))
    const contestants = yield* Effect.all([
      open("memory", memoryStorage()),
      open("SQLite", sqliteStorage({ file: ":memory:" })),
      open("Postgres", postgresStorage({ url: database.url, schema }))
    ])
    yield* runHistory(contestants, history, tally).pipe(
      Effect.provideService(CaseTime, {
        set: (atMs) =>
          Effect.andThen(
            TestClock.setTime(atMs),
            Effect.promise(() => clock.set(atMs))
          )
      })
    )
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)

describe("memory, SQLite and Postgres", () => {
  it(
    "return equal answers and store equal bytes, for any sequence of calls",
    async () => {
      const tally = emptyTally()
      let schemas = 0
      await fc.assert(
        fc.asyncProperty(steps, (history) => compete(`history_${++schemas}`, history, tally)),
        {
          numRuns: histories,
          seed,
          interruptAfterTimeLimit: patienceMs,
          markInterruptAsFailure: true
        }
      )
      // The histories must have met what they are about.
      expect(tally.done).toBeGreaterThan(histories * 5)
      if (isLong)
        expect([...tally.refusals.keys()].sort()).toEqual([
          "Count",
          "Empty",
          "IdempotencyKey",
          "NotEmpty",
          "Part",
          "Unique",
          "Version"
        ])
    },
    patienceMs + 20_000
  )
})
