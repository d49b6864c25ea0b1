/** An envelope and a governed agent for tests: refunds, bounded singly and by the day. */
import type { EvaluationIn } from "@flyball/contract"
import { Effect } from "effect"
import { Agents } from "../../../registry/agents/service.ts"
import { readRecords } from "../../../outward/replay/read-records.ts"
import { Chain } from "../../../chain/chain.ts"
import { EvidenceCrypto } from "../../../foundation/crypto.ts"
import { Envelopes } from "../../envelopes/service.ts"
import { registered } from "../../../testing/governor-world.ts"
import { Storage } from "../../../storage/port.ts"
import { Recomputation, type Recomputed, type ReplayRecord } from "@flyball/rules"
import { Evaluations } from "../service.ts"

/** Two governors and the host of an agent. */
export const ann = { id: `usr_${"0".repeat(25)}1` }

/** A second governor. */
export const ben = { id: `usr_${"0".repeat(25)}2` }

/** The ingest key of the agent. */
export const key = { id: `key_${"0".repeat(25)}3` }

/** Refunds up to 2,000 by itself, up to `dayCap` a day; searches freely. */
export const refunds = (
  more: { readonly [member: string]: unknown } = {},
  dayCap = 10_000
): { readonly [member: string]: unknown } => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["search", "refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller", on_missing: 0 }
  },
  effects: { search: "read", refund: "write_reversible" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "search", outcome: "allow", when: [{ signal: "tool", in: ["search"] }] },
    {
      id: "refund",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", lte: 2_000 }
      ]
    },
    {
      id: "large",
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", gt: 2_000 }
      ],
      obligations: [{ type: "reviewers", role: "treasury", approvals: 1, ttl_ms: 3_600_000 }]
    },
    {
      id: "cap",
      outcome: "deny",
      reason: "The day's budget is spent.",
      when: [
        { signal: "tool", in: ["refund"] },
        { meter: "spent", after_gt: dayCap }
      ]
    }
  ],
  default: { outcome: "deny" },
  ...more
})

/** An active agent at L3 and its envelope in force. */
export const governedAgent = (envelope: { readonly [member: string]: unknown } = refunds(), name = "refund bot") =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const envelopes = yield* Envelopes
    const agent = yield* registered(name)
    const drafted = yield* envelopes.create({ name: "Refunds", agent_id: agent.id, envelope }, ann)
    yield* envelopes.publish(drafted.id, {}, ben)
    yield* agents.update(agent.id, { autonomy_tier: "L2" }, ben)
    yield* agents.activate(agent.id, ben)
    return { agentId: agent.id, envelopeId: drafted.id }
  })

const digested = { action_digest: `sha256:${"0a".repeat(32)}` }
let refs = 0
/** Asks for leave, each time under a new reference. */
export const ask = (agentId: string, signals: { readonly [name: string]: unknown }, more: Partial<EvaluationIn> = {}) =>
  Evaluations.use((evaluations) =>
    evaluations.evaluate(
      { agent_id: agentId, client_ref: `r${refs++}`, signals, ...(more.args === undefined ? digested : {}), ...more },
      key
    )
  )

/**
 * Makes every evaluation of the store again out of its records, from the genesis record on, with all parts.
 *
 * - `change`: changes a record before that, as somebody who forges it would.
 */
export const recomputedWith = (change: (record: ReplayRecord) => ReplayRecord) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const again = new Recomputation({ fromGenesis: true, origin: (yield* Chain).origin })
    const found: Array<Recomputed> = []
    const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
    yield* readRecords(
      storage,
      yield* EvidenceCrypto,
      { from: 0, to: (yield* storage.head)?.seq ?? -1 },
      (record) => {
        const one = again.take(change(record), times.get(record.seq))
        if (one !== null) found.push(one)
      },
      () => {},
      "every part"
    )
    return found
  })

/** Makes every evaluation of the store again out of its records. */
export const recomputed = recomputedWith((record) => record)

/** Answers what recomputation finds not to be in order, once each record was changed. */
export const findingsWith = (change: (record: ReplayRecord) => ReplayRecord) =>
  Effect.map(recomputedWith(change), (found) => found.filter(({ verdict }) => verdict !== "ok"))
