/** Bounds the agents of the demo: an envelope with verdicts and reviews, a breaker, and a halt. */
import {
  Agents,
  Breakers,
  Envelopes,
  Evaluations,
  everyUnit,
  HOST_ISSUER,
  Kill,
  Principals,
  Reviews,
  type Writer
} from "@flyball/core"
import { Effect } from "effect"

/** A tool call of the traces. */
export interface DemoCall {
  readonly ref: string
  readonly tool: string
  readonly args: unknown
}

const lookups = [
  "calculate",
  "find_user_id_by_email",
  "find_user_id_by_name_zip",
  "get_order_details",
  "get_product_details",
  "get_user_details"
]
const changes = ["exchange_delivered_order_items", "modify_pending_order_items"]
const refunds = ["cancel_pending_order", "return_delivered_order_items"]
const tools = [...lookups, ...changes, ...refunds, "modify_user_address"]

/** Reads and changes orders alone, gives money back with a person's approval, and does nothing else. */
export const demoEnvelope = {
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: tools, source: "caller" } },
  effects: Object.fromEntries(
    tools.map((tool) => [tool, lookups.includes(tool) ? "read" : refunds.includes(tool) ? "money" : "write_reversible"])
  ),
  rules: [
    { id: "read", outcome: "allow", when: [{ signal: "tool", in: lookups }] },
    { id: "change", outcome: "allow", when: [{ signal: "tool", in: changes }] },
    { id: "refund", outcome: "require_review", when: [{ signal: "tool", in: refunds }] }
  ],
  default: { outcome: "deny" }
}

const breaker = {
  name: "failing tools",
  metric: "error_rate",
  mode: "enforce",
  enabled: true,
  params: { window_ms: 86_400_000, min_samples: 20, threshold_bp: 5_000 }
} as const

/**
 * Bounds an active agent and evaluates its calls. Of the reviews that open, the first is approved and used, the second
 * is rejected, and the others stay open.
 */
export const boundAgent = (agentId: string, calls: ReadonlyArray<DemoCall>, writer: Writer) =>
  Effect.gen(function* () {
    const envelopes = yield* Envelopes
    const evaluations = yield* Evaluations
    const reviews = yield* Reviews
    const principals = yield* Principals
    const author = yield* principals.writerFor(HOST_ISSUER, "author")
    const reviewer = yield* principals.writerFor(HOST_ISSUER, "reviewer")
    const person = { writer: reviewer, grants: "any", email: null } as const
    const { id } = yield* envelopes.create(
      { name: "Orders and refunds", agent_id: agentId, envelope: demoEnvelope },
      author
    )
    yield* envelopes.publish(id, {}, reviewer)
    yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, writer))
    yield* Breakers.use((breakers) => breakers.arm(agentId, breaker, writer))

    let answered = 0
    for (const { args, ref, tool } of calls) {
      const intent = { agent_id: agentId, action: tool, signals: { tool }, args }
      const { review_id: reviewId } = yield* evaluations.evaluate({ ...intent, client_ref: `intent/${ref}` }, writer)
      if (reviewId === null) continue
      answered += 1
      if (answered === 1) {
        yield* reviews.detail(reviewId, reviewer, everyUnit)
        yield* reviews.resolve(reviewId, { resolution: "approve", reason: "The customer may cancel." }, person)
        yield* evaluations.evaluate({ ...intent, client_ref: `approved/${ref}`, approval_id: reviewId }, writer)
      } else if (answered === 2)
        yield* reviews.resolve(reviewId, { resolution: "reject", reason: "It has been sent already." }, person)
    }
  })

/** Halts an agent; the activation stays in force. */
export const haltAgent = (agentId: string, writer: Writer): Effect.Effect<void, unknown, Kill> =>
  Effect.gen(function* () {
    const kill = yield* Kill
    const reason = "Booked a flight that nobody wanted."
    yield* kill.activate({ target_type: "agent", target_id: agentId, response: "halt", reason }, writer)
  })
