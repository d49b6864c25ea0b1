/**
 * The bundle with which an agent's SDK decides while the service is unreachable, and its later report of the verdict.
 * Spec: envelopes.md 3.12; `envelope/1` section 15; decision 0055.
 */
import { Schema } from "effect"
import { autonomyTiers } from "./agents.ts"
import { id, identifier, integer, list, oneOf, patterned } from "./foundation/fields.ts"

/** Verdicts that an SDK gives alone. Everything else it leaves undecided, which is a denial. */
export const localOutcomes = ["allow", "deny"] as const

const digest = patterned(/^sha256:[0-9a-f]{64}$/, 71)

/**
 * A verdict that an SDK gave by itself, of a decision with `decided_by: sdk_cache`. `layers`, `origin`, `as_of_ms` and
 * `as_of_seq` are those of the answer that it decided under; `age_ms` is how long before the verdict the request was
 * sent that confirmed it last. Spec: `envelope/1` section 15; decision 0055.
 */
export const LocalVerdict = Schema.Struct({
  age_ms: integer(),
  as_of_ms: integer(),
  as_of_seq: integer(),
  effective_tier: oneOf(autonomyTiers),
  layers: list(Schema.Struct({ digest, envelope_id: id("envelope"), version: integer(1, 1_000_000) }), 1, 15),
  matched_rule: identifier(128),
  origin: patterned(/^[\x21-\x2a\x2c-\x7e]+$/, 255),
  outcome: oneOf(localOutcomes)
})
export type LocalVerdict = typeof LocalVerdict.Type

/** The same in a response. */
export const LocalVerdictOut = Schema.Struct({
  age_ms: Schema.Int,
  as_of_ms: Schema.Int,
  as_of_seq: Schema.Int,
  effective_tier: Schema.String,
  layers: Schema.Array(Schema.Struct({ digest: Schema.String, envelope_id: Schema.String, version: Schema.Int })),
  matched_rule: Schema.String,
  origin: Schema.String,
  outcome: oneOf(localOutcomes)
})
export type LocalVerdictOut = typeof LocalVerdictOut.Type

/** Why no verdict may be given without the service. */
export const localObstacles = [
  "agent_not_active",
  "kill_switch",
  "no_envelope",
  "not_offered",
  "metered",
  "latched",
  "waived"
] as const

/** One of {@link localObstacles}. */
export type LocalObstacleWord = (typeof localObstacles)[number]

/**
 * Answer of GET /bound/agents/{agent_id}/envelopes-in-force: outermost layer first. `obstacle` is the first reason why
 * no verdict may be given without the service; null where one may, and only then `envelope` shows the documents.
 * `effective_tier` is the tier whose floor counts; `server_signals` are the values of source `server` at that tier.
 * Spec: `envelope/1` section 15; decision 0055.
 */
export const EnvelopesInForce = Schema.Struct({
  agent_id: Schema.String,
  origin: Schema.String,
  as_of_ms: Schema.Int,
  as_of_seq: Schema.Int,
  /** How long an SDK may decide under it after the sending of the request that confirmed it. Milliseconds. */
  max_age_ms: Schema.Int,
  obstacle: Schema.NullOr(oneOf(localObstacles)),
  effective_tier: Schema.String,
  server_signals: Schema.Record(Schema.String, Schema.Unknown),
  layers: Schema.Array(
    Schema.Struct({
      envelope_id: Schema.String,
      version: Schema.Int,
      digest: Schema.String,
      on_unavailable: oneOf(["deny", "allow_cached"]),
      /** Ids of its meters: with any, nothing is decided without the service. */
      meters: Schema.Array(Schema.String),
      /** Names of its signals of source `caller`: what an agent sends, and nothing else. Shown to keys always. */
      caller_signals: Schema.Array(Schema.String),
      envelope: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
    })
  )
})
export type EnvelopesInForce = typeof EnvelopesInForce.Type
