import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { until } from "./given-database.ts"

it.effect("a wait for a fact ends once it holds, and dies and names it where it never does", () =>
  Effect.gen(function* () {
    let reads = 0
    const third = Effect.sync(() => ++reads === 3)
    yield* until("read three times", third)
    assert.strictEqual(reads, 3)
    const exit = yield* Effect.exit(until("a session waits", Effect.succeed(false), 1))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.include(String(exit), "Not so after 1 ms: a session waits")
  })
)
