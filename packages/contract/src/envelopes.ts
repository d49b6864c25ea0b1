/** Autonomy envelopes as they travel. Spec: api.md "bounded autonomy"; the language itself is `envelope/1` in core. */
import { outcomes as evaluationOutcomes } from "@flyball/evidence/words"
import { Schema } from "effect"
import { ahead } from "./foundation/ahead.ts"
import {
  id,
  identifier,
  instant,
  integer,
  integerParam,
  jsonObjectUpTo,
  list,
  name,
  oneOf,
  optional,
  orgUnit,
  reason
} from "./foundation/fields.ts"
import type { Info } from "./foundation/plain.ts"
import { pageOf } from "./foundation/page.ts"
import { becomesRecord, computed, inBody, inDocument, inPart, showsRecords, wholePart } from "./foundation/place.ts"

export { evaluationOutcomes }

/** Statuses of an envelope. `draft`: none of its versions was ever in force. */
export const envelopeStatuses = ["draft", "published", "withdrawn"] as const
/** Statuses of a version. `shadow`: on trial. */
export const versionStatuses = ["published", "shadow", "superseded", "withdrawn"] as const
/** Modes of a version: it binds agents, or is on trial. Spec: format 1 section 8, `envelope.published`. */
export const envelopeModes = ["enforced", "shadow"] as const
/**
 * Ways in which a version can change the one before it. Spec: format 1 section 8, `envelope.published`; decision 0022.
 */
export const envelopeChanges = ["equal", "tightening_only", "loosens", "unknown"] as const
/** Statuses of a waiver. */
export const waiverStatuses = ["requested", "granted", "expired"] as const
/** Severities of a finding. */
export const lintLevels = ["error", "warning", "info"] as const
/** Meters that a backtest counts with: as recorded, or as this version would have made them. */
export const backtestMeters = ["recorded", "counterfactual"] as const

/**
 * Characters of an envelope's JSON text.
 *
 * - Unit: UTF-16 units, as many as bytes are let into a record.
 * - Spec: `envelope/1` section 2.
 */
export const ENVELOPE_LIMIT = 262_144

const envelopeJson = jsonObjectUpTo(ENVELOPE_LIMIT)
const free = Schema.Record(Schema.String, Schema.Unknown)
const nullText = Schema.NullOr(Schema.String)
const nullInt = Schema.NullOr(Schema.Int)

/** Body of POST /bound/envelopes: an envelope for one agent, or for an org unit. Spec: decision 0025. */
export const EnvelopeCreate = Schema.Struct({
  name: inPart("profile", name(200)),
  agent_id: inBody(optional(id("agent"))),
  org_unit: inPart("profile", optional(orgUnit)),
  envelope: wholePart("envelope", envelopeJson)
}).annotate(becomesRecord("envelope.drafted"))
export type EnvelopeCreate = typeof EnvelopeCreate.Type

/**
 * Body of PATCH /bound/envelopes/{envelope_id}: the new draft. Refused if the envelope's revision is not `if_revision`.
 */
export const EnvelopeUpdate = Schema.Struct({ envelope: envelopeJson, if_revision: optional(integer()) })
export type EnvelopeUpdate = typeof EnvelopeUpdate.Type

/** The draft to be published. `authors` wrote it; none of them can approve what it newly allows. */
export const DraftOut = Schema.Struct({
  version: inBody(Schema.Int),
  digest: inBody(Schema.String),
  authors: inBody(Schema.Array(Schema.String)),
  envelope: wholePart("envelope", free)
}).annotate(
  showsRecords(["envelope.drafted"], { body: ["agent_id", "envelope_id", "revision", "writer"], parts: ["profile"] })
)
export type DraftOut = typeof DraftOut.Type

/** An envelope. `revision` counts its changes. Texts are null once their part was erased. Spec: decision 0025. */
export const EnvelopeOut = Schema.Struct({
  id: inBody(Schema.String, "envelope_id"),
  name: inPart("profile", nullText),
  agent_id: inBody(nullText),
  org_unit: inPart("profile", nullText),
  status: inDocument(oneOf(envelopeStatuses)),
  /** The reason of the last withdrawal; null where none was given, once it was erased, and after a publication. */
  withdrawal_reason: wholePart("reason", nullText),
  live_version: inDocument(nullInt),
  shadow_version: inDocument(nullInt),
  draft: inDocument(Schema.NullOr(DraftOut)),
  revision: inDocument(Schema.Int),
  created_at: computed(instant)
}).annotate(
  showsRecords(["envelope.drafted", "envelope.withdrawn"], {
    body: ["authors", "digest", "revision", "version", "writer"],
    parts: ["envelope"]
  })
)
export type EnvelopeOut = typeof EnvelopeOut.Type

/** An envelope. `revision` counts its changes. */
export interface EnvelopeInfo extends Info<typeof EnvelopeOut> {}

/** Query of GET /bound/envelopes. */
export const EnvelopeListQuery = Schema.Struct({ agent_id: Schema.optionalKey(id("agent")), ...pageOf("envelope") })
export type EnvelopeListQuery = typeof EnvelopeListQuery.Type

/**
 * One finding. `path` is a JSON pointer into the envelope; `example` an input that shows it. Spec: `envelope/1` section
 * 14.
 */
export const EnvelopeFinding = Schema.Struct({
  code: Schema.String,
  level: oneOf(lintLevels),
  path: nullText,
  rules: Schema.Array(Schema.String),
  message: Schema.String,
  example: Schema.NullOr(free),
  volume: nullText,
  share: nullText,
  history_count: nullInt
})
export type EnvelopeFinding = typeof EnvelopeFinding.Type

/**
 * A version, which never changes; only its status does. Digests are `sha256:<hex>`. `envelope` is null once it was
 * erased. `warnings` is what lint warns about, in the answer of publish; null in others. Spec: format 1 section 8,
 * `envelope.published`; decision 0025.
 */
export const EnvelopeVersionOut = Schema.Struct({
  envelope_id: inBody(Schema.String),
  version: inBody(Schema.Int),
  digest: inBody(Schema.String),
  mode: inBody(oneOf(envelopeModes)),
  status: inDocument(oneOf(versionStatuses)),
  change: inBody(oneOf(envelopeChanges)),
  authors: inBody(Schema.Array(Schema.String)),
  published_by: inBody(Schema.String, "writer"),
  lint_digest: inBody(Schema.String),
  diff_digest: inBody(Schema.String),
  backtest_digest: inBody(Schema.String),
  envelope: wholePart("envelope", Schema.NullOr(free)),
  warnings: computed(Schema.NullOr(Schema.Array(EnvelopeFinding)))
}).annotate(
  showsRecords(["envelope.published"], { body: ["agent_id", "approver"], parts: ["backtest", "diff", "lint"] })
)
export type EnvelopeVersionOut = typeof EnvelopeVersionOut.Type

/** A published version. Spec: format 1 section 8, `envelope.published`; decision 0025. */
export interface EnvelopeVersionInfo extends Info<typeof EnvelopeVersionOut> {}

const openQuestion = Schema.Struct({ code: Schema.String, rules: Schema.Array(Schema.String), reason: Schema.String })

/** Body of POST …/lint: a text to lint in place of the draft. */
export const LintIn = Schema.Struct({
  envelope: optional(envelopeJson),
  acknowledge_partial: optional(list(identifier(8), 0, 32))
})
export type LintIn = typeof LintIn.Type

/**
 * Answer of POST …/lint. `proved`: codes that are certainly not there where no finding names them. Spec: `envelope/1`
 * section 14; decision 0022.
 */
export const LintOut = Schema.Struct({
  publishable: Schema.Boolean,
  complete: Schema.Boolean,
  findings: Schema.Array(EnvelopeFinding),
  proved: Schema.Array(Schema.String),
  open: Schema.Array(openQuestion),
  not_checked: Schema.Array(openQuestion),
  domain: nullText,
  decides: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  table: nullText,
  sentences: Schema.Array(Schema.String)
})
export type LintOut = typeof LintOut.Type

/**
 * Result of lint. `proved`: codes that are proved absent unless a finding names them. Spec: `envelope/1` section 14;
 * decision 0022.
 */
export interface LintInfo extends Info<typeof LintOut> {}

/** One kind of change in a diff. Volumes are decimal digits. */
export const TransitionOut = Schema.Struct({
  from: oneOf(evaluationOutcomes),
  to: oneOf(evaluationOutcomes),
  direction: oneOf(["loosens", "tightens"]),
  volume: nullText,
  share: nullText,
  example: free,
  decided_by: Schema.Struct({ from: Schema.String, to: Schema.String }),
  history_count: nullInt
})

/** Query of GET …/diff. `from` 0 is before the first version; `to` 0, or left out, is the draft. */
export const DiffQuery = Schema.Struct({
  from: Schema.optionalKey(integerParam()),
  to: Schema.optionalKey(integerParam())
})
export type DiffQuery = typeof DiffQuery.Type

/** The changes of one version against another. Spec: decision 0022. */
export const DiffOut = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  change: oneOf(envelopeChanges),
  complete: Schema.Boolean,
  domain: nullText,
  notes: Schema.Array(Schema.String),
  transitions: Schema.Array(TransitionOut),
  history_total: nullInt,
  sentence: Schema.String
})
export type DiffOut = typeof DiffOut.Type

/** Differences between two versions. Spec: decision 0022. */
export interface DiffInfo extends Info<typeof DiffOut> {}

/** Body of POST …/backtest. */
export const BacktestIn = Schema.Struct({
  from_seq: optional(integer()),
  to_seq: optional(integer()),
  meters: optional(oneOf(backtestMeters))
})
export type BacktestIn = typeof BacktestIn.Type

const classes = ["unchanged", "newly_allowed", "newly_reviewed", "newly_denied", "newly_halted"] as const

/**
 * Outcomes that recorded evaluations would have under a draft. It is read-only, and authorises nothing.
 * `not_replayable` counts by reason. Spec: decision 0022.
 */
export const BacktestOut = Schema.Struct({
  from_seq: Schema.Int,
  to_seq: Schema.Int,
  meters: oneOf(backtestMeters),
  total: Schema.Int,
  classes: Schema.Struct(
    Object.fromEntries(classes.map((name) => [name, Schema.Int])) as {
      readonly [C in (typeof classes)[number]]: typeof Schema.Int
    }
  ),
  not_replayable: Schema.Record(Schema.String, Schema.Int),
  transitions: Schema.Array(
    Schema.Struct({
      from: oneOf(evaluationOutcomes),
      to: oneOf(evaluationOutcomes),
      count: Schema.Int,
      evaluation_ids: Schema.Array(Schema.String)
    })
  ),
  from_at: Schema.NullOr(instant),
  to_at: Schema.NullOr(instant)
})
export type BacktestOut = typeof BacktestOut.Type

/**
 * Outcomes of recorded evaluations under a draft. It authorises nothing; `not_replayable` counts by reason. Spec:
 * decision 0022.
 */
export interface BacktestInfo extends Info<typeof BacktestOut> {}

/**
 * Body of POST …/publish: with `if_revision` only the text that was read there. `enforced` takes the draft, or the
 * version on trial where there is no draft. Spec: decision 0025.
 */
export const PublishIn = Schema.Struct({
  mode: optional(oneOf(envelopeModes)),
  if_revision: optional(integer()),
  acknowledge_partial: optional(list(identifier(8), 0, 32))
})
export type PublishIn = typeof PublishIn.Type

/** Body of POST …/withdraw. */
export const WithdrawIn = Schema.Struct({ reason: wholePart("reason", optional(reason(2_000))) }).annotate(
  becomesRecord("envelope.withdrawn")
)
export type WithdrawIn = typeof WithdrawIn.Type

/** Body of POST …/waivers: an exception to one rule of the version in force, for a time. Spec: decision 0025. */
export const WaiverCreate = Schema.Struct({
  rule_id: inBody(identifier(64)),
  unless: inPart("waiver", list(Schema.Unknown, 1, 64)),
  expires_at: ahead(inBody(instant)),
  reason: inPart("waiver", reason(2_000))
}).annotate(becomesRecord("waiver.requested"))
export type WaiverCreate = typeof WaiverCreate.Type

/**
 * A waiver. It holds while it is granted, before `expires_at`, and while its version is in force. Spec: decision 0025.
 */
export const WaiverOut = Schema.Struct({
  id: inBody(Schema.String, "waiver_id"),
  envelope_id: inBody(Schema.String),
  version: inBody(Schema.Int),
  rule_id: inBody(Schema.String),
  status: inDocument(oneOf(waiverStatuses)),
  unless: inPart("waiver", Schema.NullOr(Schema.Array(Schema.Unknown))),
  reason: inPart("waiver", nullText),
  requested_by: inBody(Schema.String),
  granted_by: inBody(nullText, "writer"),
  expires_at: inBody(instant)
}).annotate(showsRecords(["waiver.requested", "waiver.granted"]))
export type WaiverOut = typeof WaiverOut.Type

/**
 * An exception to one rule, for a time. `unless` and `reason` are null once their part was erased. Spec: format 1
 * section 8, `waiver.requested`; decision 0025.
 */
export interface WaiverInfo extends Info<typeof WaiverOut> {}
