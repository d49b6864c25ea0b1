/** A halt over lines that break. 100 instances at the client's own times: `npm run slow -- client`. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { haltRound } from "./halt-in-time.ts"

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

describe("a halt over lines that break", () => {
  for (const seed of [1, 2])
    it(`lets no side effect begin later than the maximum status age (seed ${seed})`, async () => {
      const round = { instances: 12, maxStaleMs: 800, pollMs: 200, beforeMs: 1_600, seed }
      const outcome = await haltRound(world, round)
      assert.isAtMost(outcome.lastMs, round.maxStaleMs)
      assert.strictEqual(outcome.acted, round.instances)
      assert.isAbove(outcome.before, round.instances)
      assert.isAbove(outcome.breaks, 20)
    })
})
