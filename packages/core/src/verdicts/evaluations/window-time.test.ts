import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Waivers } from "../waivers/service.ts"
import { ann, ask, ben, governedAgent, recomputed } from "./testing/refunds.ts"

/** A store whose clock can be set back. */
const setBack = () => {
  const clock = { backMs: 0 }
  return {
    clock,
    wrap: (storage: StorageApi): StorageApi => ({
      ...storage,
      asOf: Effect.map(storage.asOf, ({ ms, seq }) => ({ ms: ms - clock.backMs, seq }))
    })
  }
}

describe("an evaluation whose window demands a later time than the clock says", () => {
  it.effect("is made under what is in force at that time: a waiver that ended before it is over", () => {
    const { clock, wrap } = setBack()
    return Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const waivers = yield* Waivers
      const { ms } = yield* Storage.use((storage) => storage.asOf)
      const requested = yield* waivers.request(
        envelopeId,
        {
          rule_id: "large",
          unless: [{ signal: "amount", lte: 3_000 }],
          reason: "A busy day.",
          expires_at: new Date(ms + 60_000).toISOString()
        },
        ann
      )
      yield* waivers.grant(envelopeId, requested.id, ben)
      const before = yield* ask(agentId, { tool: "refund", amount: 2_500 })
      yield* TestClock.adjust(60_000)
      const last = yield* ask(agentId, { tool: "refund", amount: 100 })
      clock.backMs = 30_000
      const after = yield* ask(agentId, { tool: "refund", amount: 2_500 })
      assert.deepStrictEqual(
        [before.matched_rule, last.outcome, after.matched_rule],
        ["@default", "allow_with_notice", "large"]
      )
      assert.deepStrictEqual(
        (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
        []
      )
    }).pipe(Effect.provide(governorWorld(wrap)))
  })
})
