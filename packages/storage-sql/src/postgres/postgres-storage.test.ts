import { describe, it } from "@effect/vitest"
import { layerOf } from "@flyball/core/storage"
import { CaseTime, storageCases } from "@flyball/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { postgresStorage } from "./postgres-choice.ts"
import { replacePostgresClock } from "./test-clock.ts"
import { givenDatabase } from "./testing/given-database.ts"

const database = givenDatabase()

describe("Postgres", () => {
  storageCases.forEach(({ name, run }, index) => {
    it.effect(name, () =>
      Effect.gen(function* () {
        const schema = `case_${index}`
        const clock = yield* Effect.promise(() => replacePostgresClock(database.url, schema))
        const set = (atMs: number) =>
          Effect.andThen(
            TestClock.setTime(atMs),
            Effect.promise(() => clock.set(atMs))
          )
        yield* run.pipe(
          Effect.provide(layerOf(postgresStorage({ url: database.url, schema, maxConnections: 4 }))),
          Effect.provideService(CaseTime, { set })
        )
      })
    )
  })
})
