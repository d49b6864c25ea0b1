/** Decisions as they travel. Spec: api.md "decisions, chain, evidence". */
import { decisionKinds } from "@flyball/evidence/words"
import { Result, Schema } from "effect"
import { type Decoded, decode } from "./foundation/decode.ts"
import type { DetailItem } from "./foundation/detail.ts"
import { MAX_DETAILS } from "./foundation/details.ts"
import {
  anyJson,
  defaulted,
  foreignName,
  identifier,
  instant,
  integer,
  integerParam,
  leftOut,
  list,
  oneOf,
  optional
} from "./foundation/fields.ts"
import type { Filter, Info, Input } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_BATCH, MAX_PAGE } from "./foundation/limits.ts"
import { LocalVerdict, LocalVerdictOut } from "./local-verdicts.ts"
import { becomesRecord, computed, inBody, placesOf, showsRecords, wholePart } from "./foundation/place.ts"

export { decisionKinds }

/** One of {@link decisionKinds}. */
export type DecisionKind = (typeof decisionKinds)[number]

/** Statuses of a decision, as far as its writer knows. Spec: format 1 section 8, `decision.witnessed`. */
export const decisionStatuses = ["intended", "ok", "error", "denied", "unknown"] as const

/** One of {@link decisionStatuses}. */
export type DecisionStatus = (typeof decisionStatuses)[number]

/** Outcomes that a settlement can have: an intention is none. */
export const settledStatuses = ["ok", "error", "denied", "unknown"] as const

/** One of {@link settledStatuses}. */
export type SettledStatus = (typeof settledStatuses)[number]

/** Modes of a decision: the verdict bound the agent, or was only noted. */
export const decisionModes = ["enforced", "observed"] as const
/** Sources that let the agent continue: a verdict of the server or of a cached envelope, or a failure mode. */
export const deciders = ["server", "sdk_cache", "fail_open", "fail_closed"] as const
/**
 * How a decision was captured, as its writer states: by the agent itself, by a hook of its framework, or by a gateway
 * that the action passed. Only a key that was minted for a gateway may state `mediated`. Spec: format 1 section 8,
 * `decision.witnessed`.
 */
export const captureTiers = ["self_reported", "framework_hook", "mediated"] as const

/** One of {@link captureTiers}. */
export type CaptureTier = (typeof captureTiers)[number]
/** Why decisions were not witnessed. */
export const gapReasons = ["server_unreachable", "spool_full", "crash", "clock", "refused"] as const

/** Tokens and cost of a call. */
export const Usage = Schema.Struct({
  input_tokens: optional(integer()),
  output_tokens: optional(integer()),
  cost_micro_usd: optional(integer())
})
export type Usage = typeof Usage.Type

/** Tokens and cost of a call. */
export interface UsageInput extends Input<typeof Usage> {}

/** The same in a response, whose members are always there. */
export const UsageOut = Schema.Struct({
  input_tokens: Schema.NullOr(Schema.Int),
  output_tokens: Schema.NullOr(Schema.Int),
  cost_micro_usd: Schema.NullOr(Schema.Int)
})
export type UsageOut = typeof UsageOut.Type

/** Tokens and cost of a call in an answer: every member, null if it was not given. */
export interface UsageInfo extends Info<typeof UsageOut> {}

/**
 * One decision. `args`, `result`, `labels` and `signals` are any JSON and become parts. Only there absent and null
 * differ. Spec: format 1 section 8, `decision.witnessed`; decision 0009.
 */
export const DecisionIn = Schema.Struct({
  /**
   * Your own name for this decision, unique per agent: the same content again is a duplicate, other content is refused.
   * Best if it ascends in time.
   */
  client_ref: inBody(identifier(128)),
  action: inBody(foreignName(200)),
  tool_server: inBody(optional(foreignName(200))),
  run_id: inBody(optional(identifier(200))),
  /** Your own name for the process that acts: one agent may run in several. */
  instance_id: inBody(optional(identifier(128))),
  step: inBody(optional(integer())),
  evaluation_id: inBody(optional(identifier(200))),
  approval_id: inBody(optional(identifier(200))),
  model: inBody(optional(foreignName(200))),
  usage: inBody(optional(Usage)),
  latency_ms: inBody(optional(integer())),
  mode: inBody(optional(oneOf(decisionModes))),
  decided_by: inBody(optional(oneOf(deciders))),
  /**
   * A claim: the server checks only that a key may say `mediated`. The same decision with another claim is a
   * duplicate.
   */
  capture: inBody(optional(oneOf(captureTiers))),
  /**
   * Beside `decided_by: sdk_cache` alone: the verdict that the SDK gave. Replay gives it again; a decision of an SDK
   * without it is recorded, and withheld by replay.
   */
  local_verdict: inBody(optional(LocalVerdict)),
  writer_seq: inBody(optional(integer())),
  args: wholePart("args", Schema.optionalKey(anyJson)),
  result: wholePart("result", Schema.optionalKey(anyJson)),
  labels: wholePart("labels", Schema.optionalKey(anyJson)),
  /** With `local_verdict`: the signals that it was given on. */
  signals: wholePart("signals", Schema.optionalKey(anyJson)),
  kind: inBody(defaulted(oneOf(decisionKinds), "other")),
  status: inBody(defaulted(oneOf(decisionStatuses), "unknown")),
  /** When you saw it; RFC 3339, any offset. */
  observed_at: inBody(optional(instant))
}).annotate(becomesRecord("decision.witnessed"))
export type DecisionIn = typeof DecisionIn.Type

/**
 * A decision to be witnessed. `args`, `result`, `labels` and `signals` are any JSON, up to 1 MiB each; they can be
 * withheld and erased later. Spec: format 1 section 8, `decision.witnessed`; decisions 0002 and 0009.
 */
export interface DecisionInput extends Input<typeof DecisionIn> {}

/** Members of a decision that are kept as the bytes received where they have no exact form. Spec: decision 0009. */
export const rawMembers: ReadonlySet<string | number> = new Set(
  [...placesOf(DecisionIn)].flatMap(([name, place]) => (place?.in === "part" ? [name] : []))
)

/** 1 to 1,000 decisions, witnessed all or not at all. */
export const DecisionBatchIn = Schema.Struct({ decisions: list(DecisionIn, 1, MAX_BATCH) })
export type DecisionBatchIn = typeof DecisionBatchIn.Type

const decodeOne = decode(DecisionIn)
const decodeMany = decode(DecisionBatchIn)

/** Decodes the body of POST /agents/{agent_id}/decisions: one decision, or `{decisions: […]}`. */
export const decodeWitness = (input: unknown): Decoded<ReadonlyArray<DecisionIn>> => {
  const decoding = decodeWitnessInSlices(input)
  for (;;) {
    const { done, value } = decoding.next()
    if (done === true) return value
  }
}

/** {@link decodeWitness} in slices, because a thousand decisions hold the thread for several milliseconds. */
export function* decodeWitnessInSlices(input: unknown): Generator<void, Decoded<ReadonlyArray<DecisionIn>>, void> {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, "decisions"))
    return Result.map(decodeOne(input, "body"), (decision) => [decision])
  const { decisions } = input as { readonly decisions: unknown }
  const hasList = Array.isArray(decisions) && decisions.length >= 1 && decisions.length <= MAX_BATCH
  return hasList && hasOnlyDecisions(input)
    ? yield* decodeEach(decisions)
    : Result.map(decodeMany(input, "body"), (batch) => batch.decisions)
}

/** Decisions that one slice decodes. */
const PER_SLICE = 50

/** Decodes the decisions of a batch one by one. Equal to decoding the batch by its shape. */
function* decodeEach(decisions: ReadonlyArray<unknown>): Generator<void, Decoded<ReadonlyArray<DecisionIn>>, void> {
  const decoded: Array<DecisionIn> = []
  const detail: Array<DetailItem> = []
  for (let index = 0; index < decisions.length; index++) {
    if (index > 0 && index % PER_SLICE === 0) yield
    const one = decodeOne(decisions[index], "body", ["decisions", String(index)])
    if (Result.isSuccess(one)) decoded.push(one.success)
    else detail.push(...one.failure.slice(0, MAX_DETAILS - detail.length))
  }
  return detail.length > 0 ? Result.fail(detail) : Result.succeed(decoded)
}

const hasOnlyDecisions = (input: object): boolean => {
  for (const name in input) if (name !== "decisions") return false
  return true
}

/** Place of a witnessed decision in the chain. `duplicate`: it was there already. */
export const Receipt = Schema.Struct({
  client_ref: Schema.String,
  decision_id: Schema.String,
  seq: Schema.Int,
  record_hash: Schema.String,
  duplicate: Schema.Boolean
})
export type Receipt = typeof Receipt.Type

/** Receipt of a decision. `duplicate`: it was already recorded. */
export interface DecisionReceipt extends Info<typeof Receipt> {}

/** Answer of POST /agents/{agent_id}/decisions. */
export const ReceiptsOut = Schema.Struct({
  receipts: Schema.Array(Receipt),
  head: Schema.Struct({ seq: Schema.Int, record_hash: Schema.String })
})
export type ReceiptsOut = typeof ReceiptsOut.Type

/** One receipt per decision, in order, and the head of the chain after them. */
export interface Receipts extends Info<typeof ReceiptsOut> {}

/** Body of POST /decisions/{decision_id}/settle. Spec: format 1 section 8, `decision.settled`; decision 0002. */
export const SettleIn = Schema.Struct({
  status: inBody(oneOf(settledStatuses)),
  result: wholePart("result", Schema.optionalKey(anyJson)),
  usage: inBody(optional(Usage)),
  latency_ms: inBody(optional(integer())),
  /**
   * Final amounts for the meters of its evaluation, in place of the reserved ones. A writer `key_…` may not state less
   * (`settle_below_reserved`).
   */
  actual: inBody(optional(list(Schema.Struct({ meter: identifier(64), amount: integer() }), 1, 16)))
}).annotate(becomesRecord("decision.settled"))
export type SettleIn = typeof SettleIn.Type

/** The outcome of a decision. Spec: format 1 section 8, `decision.settled`. */
export interface SettleInput extends Input<typeof SettleIn> {}

/** Answer of a settlement. */
export const SettleOut = Schema.Struct({
  decision_id: Schema.String,
  seq: Schema.Int,
  record_hash: Schema.String,
  duplicate: Schema.Boolean
})
export type SettleOut = typeof SettleOut.Type

/** Receipt of an outcome. */
export interface SettleReceipt extends Info<typeof SettleOut> {}

/**
 * Body of POST /agents/{agent_id}/capture-gaps. `count` is how many decisions are known to be missing. Spec: format 1
 * section 8, `capture.gap`.
 */
export const CaptureGapIn = Schema.Struct({
  from: inBody(instant),
  to: inBody(instant),
  count: inBody(integer()),
  reason: inBody(oneOf(gapReasons))
}).annotate(becomesRecord("capture.gap"))
export type CaptureGapIn = typeof CaptureGapIn.Type

/** A period in which decisions were made and not witnessed. Spec: format 1 section 8, `capture.gap`. */
export interface GapInput extends Input<typeof CaptureGapIn> {}

/** Answer of a capture gap. */
export const CaptureGapOut = Schema.Struct({ agent_id: Schema.String, seq: Schema.Int, record_hash: Schema.String })
export type CaptureGapOut = typeof CaptureGapOut.Type

/** Receipt of a reported capture gap. */
export interface GapReceipt extends Info<typeof CaptureGapOut> {}

/**
 * Body of POST /agents/{agent_id}/instances/end. A repetition adds a record and changes nothing. Spec: format 1 section
 * 8, `instance.ended`.
 */
export const InstanceEndIn = Schema.Struct({
  /** The name of the process in its decisions and evaluations. */
  instance_id: inBody(identifier(128))
}).annotate(becomesRecord("instance.ended"))
export type InstanceEndIn = typeof InstanceEndIn.Type

/** Answer to the end of an instance. */
export const InstanceEndOut = Schema.Struct({
  agent_id: Schema.String,
  instance_id: Schema.String,
  seq: Schema.Int,
  record_hash: Schema.String
})
export type InstanceEndOut = typeof InstanceEndOut.Type

/** Query of GET /agents/{agent_id}/decisions, newest first. `before` is the seq of the last decision seen. */
export const DecisionListQuery = Schema.Struct({
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  /** Seq of the last decision seen. */
  before: Schema.optionalKey(integerParam()),
  run_id: Schema.optionalKey(identifier(200)),
  action: Schema.optionalKey(foreignName(200))
})
export type DecisionListQuery = typeof DecisionListQuery.Type

/** Which decisions to list, newest first. */
export interface DecisionFilter extends Filter<typeof DecisionListQuery> {}

/** The outcome of a decision in a list. */
const settled = Schema.Struct({
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String),
  recorded_at: computed(instant),
  status: inBody(oneOf(settledStatuses)),
  usage: inBody(Schema.NullOr(UsageOut)),
  latency_ms: inBody(Schema.NullOr(Schema.Int)),
  writer: inBody(Schema.String)
}).annotate(
  showsRecords(["decision.settled"], {
    body: ["actual", "agent_id", "decision_seq", "evaluation_seq"],
    parts: ["result"]
  })
)

/**
 * A decision in a list: what its record's body says, and its outcome where it was settled. Parts stay in the record.
 * Spec: format 1 section 8, `decision.witnessed`.
 */
export const DecisionOut = Schema.Struct({
  id: computed(Schema.String),
  agent_id: inBody(Schema.String),
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String),
  recorded_at: computed(instant),
  client_ref: inBody(Schema.String),
  kind: inBody(oneOf(decisionKinds)),
  action: inBody(Schema.String),
  tool_server: inBody(Schema.NullOr(Schema.String)),
  run_id: inBody(Schema.NullOr(Schema.String)),
  instance_id: inBody(Schema.NullOr(Schema.String)),
  step: inBody(Schema.NullOr(Schema.Int)),
  observed_at: inBody(Schema.NullOr(instant)),
  status: inBody(oneOf(decisionStatuses)),
  evaluation_id: inBody(Schema.NullOr(Schema.String)),
  approval_id: inBody(Schema.NullOr(Schema.String)),
  model: inBody(Schema.NullOr(Schema.String)),
  usage: inBody(Schema.NullOr(UsageOut)),
  latency_ms: inBody(Schema.NullOr(Schema.Int)),
  mode: inBody(Schema.NullOr(oneOf(decisionModes))),
  decided_by: inBody(Schema.NullOr(oneOf(deciders))),
  capture: inBody(Schema.NullOr(oneOf(captureTiers))),
  local_verdict: inBody(Schema.NullOr(LocalVerdictOut)),
  writer_seq: inBody(Schema.NullOr(Schema.Int)),
  writer: inBody(Schema.String),
  agent_status: inBody(Schema.String),
  /** Names of its parts. */
  parts: computed(Schema.Array(Schema.String)),
  settled: computed(Schema.NullOr(settled))
}).annotate(showsRecords(["decision.witnessed"], { parts: ["args", "labels", "result", "signals"] }))
export type DecisionOut = typeof DecisionOut.Type

/**
 * A witnessed decision, with its outcome where it was settled. Spec: format 1 section 8, `decision.witnessed` and
 * `decision.settled`.
 */
export interface DecisionInfo extends Info<typeof DecisionOut> {}

/**
 * One decision, with what was sent beside it. `args`, `result` (of the settlement, where it has one) and `labels` are
 * null where nothing was sent, where they have no exact JSON form, where they are `withheld` (the caller does not read
 * parts), and where they are `erased`, which lists those by name. Spec: api.md, GET /decisions/{id}.
 */
export const DecisionDetail = Schema.Struct({
  ...DecisionOut.fields,
  args: Schema.Unknown,
  result: Schema.Unknown,
  labels: Schema.Unknown,
  withheld: Schema.Boolean,
  erased: Schema.Array(oneOf(["args", "result", "labels"]))
})
export type DecisionDetail = typeof DecisionDetail.Type

/** One decision, with what was sent beside it. */
export interface DecisionDetailInfo extends Info<typeof DecisionDetail> {}
