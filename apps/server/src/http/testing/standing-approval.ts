/** A standing approval that was proposed: an agent whose payment people reviewed and approved. */
import { Envelopes, Evaluations, Reviews, StandingApprovals, Agents } from "@flyball/core"
import { Effect } from "effect"
import type { World } from "../http-world.ts"
import { paymentsUpTo } from "./payments.ts"

const author = { id: `usr_${"0".repeat(25)}6` }
const approver = { id: `usr_${"0".repeat(25)}7` }
const reviewer = { id: `usr_${"0".repeat(25)}8` }
const host = { id: `key_${"0".repeat(25)}9` }

/** Every payment is reviewed. */
const envelope = paymentsUpTo(900, "require_review")

/** Answers its id. `agentId`: registered, and of no other envelope. */
export const proposedStanding = (world: World, agentId: string): Promise<string> =>
  world.runtime.runPromise(
    Effect.gen(function* () {
      const agents = yield* Agents
      const envelopes = yield* Envelopes
      const signals = { tool: "pay", amount: 3 }
      const { id: envelopeId } = yield* envelopes.create({ name: "Payments", agent_id: agentId, envelope }, author)
      yield* envelopes.publish(envelopeId, {}, approver)
      yield* agents.update(agentId, { autonomy_tier: "L2" }, approver)
      yield* agents.activate(agentId, approver)
      const { review_id: reviewId } = yield* Evaluations.use((evaluations) =>
        evaluations.evaluate({ agent_id: agentId, client_ref: "reviewed", signals, args: signals }, host)
      )
      yield* Reviews.use((reviews) =>
        reviews.resolve(
          reviewId!,
          { resolution: "approve", reason: "Seen." },
          { writer: reviewer, grants: "any", email: null }
        )
      )
      const { id } = yield* StandingApprovals.use((approvals) =>
        approvals.propose(
          {
            review_id: reviewId!,
            pins: [{ path: "/signals/amount", at_most: 10 }],
            count: 3,
            expires_at: new Date(Date.now() + 86_400_000).toISOString(),
            reason: "Small payments"
          },
          reviewer
        )
      )
      return id
    })
  )
