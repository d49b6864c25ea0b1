import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { interruptedBefore } from "../../testing/interrupted-before.ts"
import { METERS, meterKeeper } from "./meter-keeper.ts"
import { ask, governedAgent } from "./testing/refunds.ts"

const DAY_MS = 86_400_000

it.effect("meters count each record once, before whichever step an interrupt comes", () =>
  Effect.gen(function* () {
    const { agentId } = yield* governedAgent()
    for (const amount of [5, 7, 11]) yield* ask(agentId, { tool: "refund", amount })
    const storage = yield* Storage
    const [window] = yield* storage.list(METERS)
    const asOf = yield* storage.asOf
    let interrupts = 0
    for (let step = 1, more = true; more; step++) {
      const keeper = meterKeeper(storage, () => Effect.void)
      more = yield* interruptedBefore(step, keeper.catchUp(asOf, DAY_MS))
      if (more) interrupts++
      yield* keeper.catchUp(asOf, DAY_MS)
      const found = keeper.window(window!.id, DAY_MS, asOf.ms)
      assert.deepStrictEqual(found, { count: 3, value: 23 }, `interrupted before step ${step}`)
    }
    assert.isAbove(interrupts, 10)
  }).pipe(Effect.provide(governorWorld()))
)
