/** Circuit breakers in a random life: armed, changed, read, tripped and released, in turn and out of turn. */
import { Breakers } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ann, ben } from "../evaluations/governed-history.ts"
import { chosen, type Doing, type Lived } from "./lived.ts"

/** Arms a breaker that trips after few decisions, or does something with one that is there. */
export const breaker = ({ a, b, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  if (agentId === undefined) return Effect.void
  return Effect.gen(function* () {
    const breakers = yield* Breakers
    const one = chosen(yield* breakers.list(agentId), c)
    if (one === undefined && c % 4 === 1) {
      return yield* breakers.arm(
        agentId,
        {
          name: "calibrated",
          metric: "action_velocity",
          params: { window_ms: 3_600_000, per: "run" },
          enabled: true,
          mode: "warn",
          max_false_stop_bp: 5_000,
          good_runs: { from_seq: 0, to_seq: 8 * b + c, except: [`run-${b % 4}`] }
        },
        ann
      )
    }
    if (one === undefined || b % 5 === 0)
      return yield* breakers.arm(
        agentId,
        {
          name: `breaker_${c % 3}`,
          metric: "action_velocity",
          params: { window_ms: 3_600_000, max_count: 1 + (c % 3) },
          enabled: true,
          mode: chosen(["enforce", "enforce", "warn", "shadow"] as const, b)!,
          response: chosen(["notify", "step_down", "drain"] as const, c)!
        },
        ann
      )
    if (b % 5 === 1) return yield* breakers.update(one.id, { enabled: c % 4 > 0 }, ann)
    if (b % 5 === 2) return yield* breakers.release(one.id, c % 2 === 0 ? { reason: `since ${c}` } : {}, ben)
    return yield* breakers.check()
  })
}
