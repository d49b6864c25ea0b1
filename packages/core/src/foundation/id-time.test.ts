import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { idAtMs } from "./id-time.ts"
import { newId } from "./ids.ts"

describe("the time inside an id", () => {
  it.effect("is the time it was made", () =>
    Effect.gen(function* () {
      for (const ms of [0, 1, 1_795_230_000_123, 2 ** 48 - 1]) {
        yield* TestClock.setTime(ms)
        assert.strictEqual(idAtMs(yield* newId("agt")), ms)
      }
    })
  )
})
