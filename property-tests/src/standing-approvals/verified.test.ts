/** Evaluations that a standing approval let through replay from a pack, and are withheld where it is not disclosed. */
import { Agents, Evaluations, Reviews, StandingApprovals } from "@flyball/core"
import { Effect } from "effect"
import { expect, it } from "vitest"
import {
  activeAgent,
  beginMs,
  ben,
  exported,
  host,
  inBoundedWorld,
  publish,
  refunds
} from "../replay-verdicts/bounded-world.ts"
import { replayed } from "../replay-verdicts/replayed.ts"

const reviewer = { id: `usr_${"0".repeat(25)}4` }

const life = Effect.gen(function* () {
  const agentId = yield* activeAgent("refund bot")
  const rules = (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).filter(({ id }) => id !== "cap")
  yield* publish({ agent_id: agentId }, refunds({ rules, meters: {} }))
  yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))
  const ask = (client_ref: string, amount: number) => {
    const args = { amount, to: "c-1" }
    const signals = { tool: "refund", amount, untrusted: false }
    return Evaluations.use((evaluations) =>
      evaluations.evaluate({ agent_id: agentId, client_ref, signals, action: "refund", args, run_id: "run" }, host)
    )
  }
  const { review_id: reviewId } = yield* ask("first", 5_000)
  yield* Reviews.use((reviews) =>
    reviews.resolve(
      reviewId!,
      { resolution: "approve", reason: "Seen." },
      { writer: reviewer, grants: "any", email: null }
    )
  )
  const approvals = yield* StandingApprovals
  const { id } = yield* approvals.propose(
    {
      review_id: reviewId!,
      pins: [
        { path: "/signals/amount", at_most: 6_000 },
        { path: "/args/to", eq: "c-1" }
      ],
      count: 2,
      expires_at: new Date(beginMs + 3_600_000).toISOString(),
      reason: "Refunds of one customer"
    },
    reviewer
  )
  yield* approvals.grant(id, ben)
  const outcomes = [yield* ask("second", 6_000), yield* ask("third", 5_500), yield* ask("fourth", 5_500)].map(
    ({ outcome }) => outcome
  )
  return {
    outcomes,
    all: yield* exported({ kind: "full" }),
    withoutBox: yield* exported({
      kind: "full",
      disclose: ["action", "advice", "args", "envelope", "owner", "profile", "signals"]
    }),
    withoutArgs: yield* exported({
      kind: "full",
      disclose: ["action", "advice", "box", "envelope", "owner", "profile", "signals"]
    })
  }
})

it("replays with its parts, and is withheld without them", { timeout: 60_000 }, async () => {
  const { all, outcomes, withoutArgs, withoutBox } = await inBoundedWorld(life)
  expect(outcomes).toEqual(["allow", "allow", "require_review"])
  const whole = await replayed(all.pack, all.vkey)
  expect({ status: whole.status, verdicts: whole.replay!.verdicts, mismatches: whole.replay!.mismatches }).toEqual({
    status: 0,
    verdicts: { ok: 4 },
    mismatches: []
  })
  for (const { pack, vkey } of [withoutBox, withoutArgs])
    expect((await replayed(pack, vkey)).replay!.verdicts).toEqual({ ok: 2, withheld: 2 })
})
