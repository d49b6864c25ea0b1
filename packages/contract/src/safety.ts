/** The safety view as it travels: every agent's halt state, and what guards it. Spec: api.md, GET /bound/safety. */
import { Schema } from "effect"
import { agentStatuses, autonomyTiers } from "./agents.ts"
import { breakerModes } from "./breakers.ts"
import { ChannelOut } from "./drills.ts"
import { instant } from "./foundation/fields.ts"
import { killResponses } from "./kill.ts"
import { pageQuery } from "./foundation/page.ts"
import type { Info } from "./foundation/plain.ts"

/** Query of GET /bound/safety: all agents, or a page of them by `limit` and `after`. */
export const SafetyQuery = pageQuery("agent")
export type SafetyQuery = typeof SafetyQuery.Type

/**
 * How far the instances of one agent are under the activation that is named for it. An instance that never answered is
 * in `expected` alone, and in `unconfirmed` once that was recorded: it is never counted as stopped.
 */
export const SafetyAcks = Schema.Struct({
  /** Null until it is read whom the activation expects. */
  expected: Schema.NullOr(Schema.Int),
  acknowledged: Schema.Int,
  stopped: Schema.Int,
  unconfirmed: Schema.Int
})

/** A breaker that is switched on. `tripped`: it is latched until a person releases it. */
export const SafetyBreaker = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  metric: Schema.String,
  mode: Schema.Literals(breakerModes),
  tripped: Schema.Boolean
})

/**
 * One agent. `halted`, `drill`, `response`, `since` and `activation_event` are those of its kill status. Spec: document
 * 1 section 4, GET /bound/safety.
 */
export const SafetyRow = Schema.Struct({
  agent_id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(agentStatuses),
  autonomy_tier: Schema.Literals(autonomyTiers),
  halted: Schema.Boolean,
  drill: Schema.Boolean,
  response: Schema.NullOr(Schema.Literals(killResponses)),
  effective_response: Schema.NullOr(Schema.Literals(killResponses)),
  epoch: Schema.Int,
  since: Schema.NullOr(instant),
  activation_event: Schema.NullOr(Schema.String),
  /** Null while nothing is active. */
  acks: Schema.NullOr(SafetyAcks),
  /** Its breakers that are switched on, by name. */
  breakers: Schema.Array(SafetyBreaker),
  /** When a drill of the agent itself was completed last. */
  last_drill_at: Schema.NullOr(instant),
  drill_attested_at: Schema.NullOr(instant),
  /** Its tier needs a drill attested within the last 30 days, and it has none. */
  drill_overdue: Schema.Boolean,
  /** Nobody with a name and an e-mail address answers for it. */
  orphan: Schema.Boolean,
  recert_overdue: Schema.Boolean
})
export type SafetyRow = typeof SafetyRow.Type

/**
 * Answer of GET /bound/safety. `epoch` and `as_of_seq` are those of the kill state that the rows show. Spec: document 1
 * section 4, GET /bound/safety.
 */
export const SafetyOut = Schema.Struct({
  as_of: instant,
  epoch: Schema.Int,
  as_of_seq: Schema.NullOr(Schema.Int),
  /** The last check of the kill switch's channel; null before the first. */
  channel: Schema.NullOr(ChannelOut),
  /** Oldest first. */
  agents: Schema.Array(SafetyRow)
})
export type SafetyOut = typeof SafetyOut.Type

/**
 * Kill state, breakers and drills of each agent, and the state of the kill switch's channel. Spec: document 1 section
 * 4, GET /bound/safety; decisions 0047 and 0048.
 */
export interface SafetyInfo extends Info<typeof SafetyOut> {}
