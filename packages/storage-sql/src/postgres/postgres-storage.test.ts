import { describe, it } from "@effect/vitest"
import { layerOf } from "@flyball/core/storage"
import { CaseTime, storageCases } from "@flyball/testkit"
import type { FreshDatabase, RunningPostgres } from "@flyball/testkit/postgres"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"
import { postgresStorage } from "./postgres-choice.ts"
import { replacePostgresClock } from "./test-clock.ts"

let server: RunningPostgres
let database: FreshDatabase

beforeAll(async () => {
  server = await startPostgres()
  database = await freshDatabase(server.url)
})
afterAll(async () => {
  await database.drop()
  await server.stop()
})

describe("Postgres", () => {
  storageCases.forEach(({ name, run }, index) => {
    it.effect(name, () => Effect.gen(function*() {
      const schema = `case_${index}`
      const clock = yield* Effect.promise(() => replacePostgresClock(database.url, schema))
      const set = (atMs: number) => Effect.andThen(TestClock.setTime(atMs), Effect.promise(() => clock.set(atMs)))
      yield* run.pipe(
        Effect.provide(layerOf(postgresStorage({ url: database.url, schema, maxConnections: 4 }))),
        Effect.provideService(CaseTime, { set })
      )
    }))
  })
})
