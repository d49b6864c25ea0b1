/**
 * Ranges that begin inside the windows of meters, or behind an agent's registration: what is known of them all the
 * same, and by whose word.
 */
import { openPack } from "@flyball/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { activeAgent, ask, exported, inBoundedWorld, publish, refunds, republish } from "./bounded-world.ts"
import { replayed } from "./replayed.ts"

const {
  rules,
  signals: { amount, tool }
} = refunds() as {
  readonly signals: { readonly amount: object; readonly tool: object }
  readonly rules: ReadonlyArray<{ readonly id: string }>
}
/** Without latches, which reach back on their own. */
const bounds = (unused: number) =>
  refunds({ params: { unused }, signals: { amount, tool }, rules: rules.filter(({ id }) => id !== "tainted") })

const life = Effect.gen(function* () {
  const agentId = yield* activeAgent("refund bot")
  const envelopeId = yield* publish({ agent_id: agentId }, bounds(0))
  const spend = Effect.andThen(TestClock.adjust(60_000), ask(agentId, { tool: "refund", amount: 2_000 }))
  for (let time = 0; time < 4; time++) yield* spend
  yield* republish(envelopeId, bounds(1))
  for (let time = 0; time < 3; time++) yield* spend
})

describe("a range that begins after record 0", () => {
  it("knows the windows of an envelope first drafted in it, even when they reach back farther", async () => {
    const { pack, vkey } = await inBoundedWorld(Effect.andThen(life, exported({ kind: "range", from: 1 })))
    const { replay } = await replayed(pack, vkey)
    expect(replay).toMatchObject({ evaluations: 7, verdicts: { ok: 7 }, withheld: [] })
  })

  it("recomputes evaluations under a version published in it, but not as ok for an earlier agent", async () => {
    const range = await inBoundedWorld(
      Effect.gen(function* () {
        yield* life
        const full = openPack((yield* exported({ kind: "full" })).pack)
        return yield* exported({
          kind: "range",
          from: full.records.findLastIndex(({ kind }) => kind === "envelope.drafted")
        })
      })
    )
    const { notChecked, replay, status, text } = await replayed(range.pack, range.vkey)
    expect([status, replay!.verdicts, replay!.mismatches]).toEqual([2, { as_recorded: 3 }, []])
    expect(replay!.withheld.map(({ reason, verdict }) => [verdict, reason])).toEqual(
      Array.from({ length: 3 }, () => [
        "as_recorded",
        expect.stringContaining("which are not proved. The agent was registered before the first record here.")
      ])
    )
    expect(notChecked[0]).toBe(
      "3 judged records were recomputed only with the tier, status, versions and sums that their records state, " +
        "because the records that prove them are before this pack. Request a full pack."
    )
    expect(replay!.statement).toMatch(/^0 of 3 judged records follow from the envelopes in force/)
    expect(text).toContain("3 recomputed: 3 as_recorded.")
  })
})
