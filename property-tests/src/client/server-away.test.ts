/** A server that is away. An hour of it, with memory and delay of the event loop: `npm run slow -- client`. */
import { memorySpool } from "@flyball/client"
import { assert, describe, it } from "vitest"
import { awayRound } from "./server-away.ts"

describe("an unreachable server", () => {
  it("leaves a full spool, with each loss counted and few requests sent", async () => {
    const spool = memorySpool({ maxBytes: 1_048_576, maxEntries: 100 })
    const round = { awayMs: 120_000, speed: 60, perSecond: 500, argumentBytes: 200, spool }
    const outcome = await awayRound(round)
    assert.isAbove(outcome.offered, 200)
    assert.strictEqual(outcome.pending, 100)
    assert.strictEqual(outcome.lost, outcome.offered - outcome.pending)
    assert.strictEqual(
      spool.gaps().reduce((sum, { count }) => sum + count, 0),
      outcome.lost
    )
    // Two minutes: a stream that is opened again after 1 s to 2 s, polls after 5 s, retries less and less often.
    assert.isBelow(outcome.requests, 180)
  })
})
