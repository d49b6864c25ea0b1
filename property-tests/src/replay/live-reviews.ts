/** Reviews and standing approvals in a random life: opened, seen, answered, used, and ended in each way. */
import { Agents, Envelopes, Evaluations, Reviews, StandingApprovals } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Act, ann, ben, host } from "../evaluations/governed-history.ts"
import type { Doing } from "./lived.ts"

/** A person who is neither author nor requester. */
const carla = { writer: { id: `usr_${"0".repeat(25)}8` }, grants: "any", email: null } as const
/** How long the review of a large payment waits. Unit: milliseconds. */
const SHORT_MS = 1_000

/** Every payment is reviewed; a large one waits for a second. */
const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "caller" }
  },
  effects: { pay: "write_reversible" },
  rules: [
    { id: "small", outcome: "require_review", when: [{ signal: "amount", lte: 500 }] },
    {
      id: "large",
      outcome: "require_review",
      when: [{ signal: "amount", gt: 500 }],
      obligations: [{ type: "reviewers", role: "reviewer", approvals: 1, ttl_ms: SHORT_MS }]
    }
  ],
  default: { outcome: "deny" }
}

/** An agent of its own, whose payments people answer. */
export const reviewed = ({ a, b, c }: Act): Doing =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const agents = yield* Agents
    const envelopes = yield* Envelopes
    const reviews = yield* Reviews
    const standing = yield* StandingApprovals
    const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
    const { agent } = yield* agents.register({ name: `payer ${a} ${b} ${c}`, org_unit: "ops", ...owner }, ann)
    const { id: envelopeId } = yield* envelopes.create({ name: "Payments", agent_id: agent.id, envelope }, ann)
    yield* envelopes.publish(envelopeId, {}, ben)
    yield* agents.update(agent.id, { autonomy_tier: "L2" }, ben)
    yield* agents.activate(agent.id, ben)
    let refs = 0
    const pay = (amount: number, approval_id: string | null = null) =>
      Effect.flatMap(Evaluations, (evaluations) =>
        evaluations.evaluate(
          {
            agent_id: agent.id,
            client_ref: `pay-${refs++}`,
            action: "pay",
            args: { amount, to: "Ben" },
            signals: { tool: "pay", amount },
            ...(approval_id === null ? {} : { approval_id })
          },
          host
        )
      )
    // A halt may reach the agent: then no review opens.
    const opened = (amount: number) =>
      Effect.flatMap(pay(amount), ({ review_id }) =>
        review_id === null ? Effect.fail({ _tag: "NoReview" }) : Effect.succeed(review_id)
      )

    const used = yield* opened(7)
    yield* reviews.detail(used, carla.writer)
    yield* reviews.resolve(used, { resolution: "approve", reason: "It is due." }, carla)
    yield* pay(7, used)
    const { id } = yield* standing.propose(
      {
        review_id: used,
        pins: [{ path: "/signals/amount", at_most: 10 }],
        count: 1 + (a % 3),
        expires_at: new Date((yield* storage.asOf).ms + 86_400_000 * 30).toISOString(),
        reason: "Small payments"
      },
      carla.writer
    )
    yield* standing.grant(id, ben)
    yield* pay(8)
    if (c % 2 === 0) yield* standing.revoke(id, { reason: `since ${c}` }, ann)

    const second = yield* opened(400)
    yield* reviews.claim(second, { give_back: false }, carla)
    if (b % 3 === 0) yield* reviews.resolve(second, { resolution: "reject", reason: `not ${b}` }, carla)
    if (b % 3 === 1) yield* reviews.withdraw(second, { reason: `paid ${b}` }, host)
    yield* opened(600)
    yield* TestClock.adjust(2 * SHORT_MS)
    yield* reviews.sweep
  })
