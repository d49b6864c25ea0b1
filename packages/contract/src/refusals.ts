/**
 * Refusals: every expected no of the service, as values.
 *
 * Each class states its HTTP `status`, its sentence (`message`) and an `example` for the interface description. The
 * wire code of a refusal is its tag in snake_case. Members beside `detail` and `code` stand in `http/problems.ts`. To
 * add a refusal, write its class here and list it in `refusals`. Spec: style section 5.
 */
import { Schema } from "effect"
import { tierConditionWords } from "./agents.ts"
import { detailItem } from "./detail.ts"
import { idPrefixes } from "./ids.ts"
import { BODY_LIMIT_BYTES, PART_LIMIT_BYTES } from "./limits.ts"

/** Ids in examples. */
const agentId = `${idPrefixes.agent}_${"0".repeat(26)}`
const modelId = `${idPrefixes.model}_${"0".repeat(26)}`

/**
 * Fields that help the caller to act are optional: a refusal carries what its origin knows, and its members go out
 * beside `detail` and `code`.
 */
const reported = Schema.optionalKey

/** The input is not what the contract describes. Every problem is listed. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  detail: Schema.Array(
    Schema.Struct({
      loc: Schema.Array(Schema.String),
      msg: Schema.String,
      type: Schema.String,
      input: Schema.Unknown,
      ctx: Schema.Record(Schema.String, Schema.Unknown)
    })
  )
}) {
  static readonly status = 422
  static get example(): InvalidInput {
    return new InvalidInput({ detail: [detailItem(["body", "name"], "missing", "Field required")] })
  }
  override get message(): string {
    const first = this.detail[0]
    return first === undefined
      ? "The input is not valid."
      : `The input is not valid: ${first.loc.join(".")}: ${first.msg.replace(/\.$/, "")}.`
  }
}

/** No token, or one that is not known, has run out or was revoked. One answer for all, so that nobody learns which. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}) {
  static readonly status = 401
  static get example(): Unauthorized {
    return new Unauthorized()
  }
  override get message(): string {
    return "A valid bearer token is needed: an ingest key or an OIDC session."
  }
}

/**
 * The caller's roles, or their org units, do not include this action. `need`: what it takes. `have`: what the caller
 * has instead.
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  need: reported(Schema.String),
  have: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): Forbidden {
    return new Forbidden({})
  }
  override get message(): string {
    if (this.need === undefined) return "The caller's role does not include this action."
    return `This action needs ${this.need}${this.have === undefined ? "" : `; you have ${this.have}`}.`
  }
}

/** An ingest key was used where a person is needed. The sentence is the specification's. */
export class KeyNotAllowed extends Schema.TaggedError<KeyNotAllowed>()("KeyNotAllowed", {}) {
  static readonly status = 403
  static get example(): KeyNotAllowed {
    return new KeyNotAllowed()
  }
  override get message(): string {
    return "This action needs an OIDC session."
  }
}

/** The caller may not act for this org unit. */
export class OrgUnitNotAllowed extends Schema.TaggedError<OrgUnitNotAllowed>()("OrgUnitNotAllowed", {}) {
  static readonly status = 403
  static get example(): OrgUnitNotAllowed {
    return new OrgUnitNotAllowed()
  }
  override get message(): string {
    return "The caller is bound to another org unit. Leave org_unit out, or use a caller of that unit."
  }
}

/** The autonomy tier is above what the ingest key may register. */
export class TierOverCap extends Schema.TaggedError<TierOverCap>()("TierOverCap", {
  tier: reported(Schema.String),
  cap: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): TierOverCap {
    return new TierOverCap({})
  }
  override get message(): string {
    return (
      "The autonomy tier is above what this ingest key may register. Register with a lower tier; a person " +
      "can raise it later."
    )
  }
}

/** There is no such agent, or the caller may not see it. */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  agentId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 404
  static get example(): AgentNotFound {
    return new AgentNotFound({})
  }
  override get message(): string {
    return "There is no such agent among those that the caller may see."
  }
}

/** An agent has this name already. `agentId` is there when the caller may read that agent. */
export class AgentNameTaken extends Schema.TaggedError<AgentNameTaken>()("AgentNameTaken", {
  agentId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 409
  static get example(): AgentNameTaken {
    return new AgentNameTaken({ agentId })
  }
  override get message(): string {
    return "An agent with this name exists. Look it up by its exact name, or choose another name."
  }
}

/** The act is not taken in the status that the agent has; `why` says it where the status alone does not. */
export class InvalidTransition extends Schema.TaggedError<InvalidTransition>()("InvalidTransition", {
  status: reported(Schema.String),
  act: reported(Schema.String),
  why: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): InvalidTransition {
    return new InvalidTransition({ status: "decommissioned", act: "activate" })
  }
  override get message(): string {
    if (this.why !== undefined) return this.why
    return this.status === undefined || this.act === undefined
      ? "The agent's status does not allow this."
      : `An agent that is ${this.status} does not take ${this.act}.`
  }
}

/** The agent's identity is verified, and a declared identity does not replace it. */
export class IdentityAlreadyVerified extends Schema.TaggedError<IdentityAlreadyVerified>()(
  "IdentityAlreadyVerified",
  {}
) {
  static readonly status = 409
  static get example(): IdentityAlreadyVerified {
    return new IdentityAlreadyVerified()
  }
  override get message(): string {
    return (
      "The agent's identity is verified, and a declared identity does not replace it. " +
      "Send a signed card, or let a governor withdraw it: send the declaration with withdraw_verified."
    )
  }
}

/** The agent's tier needs what it does not have. `missing` names it. */
export class TierGateUnmet extends Schema.TaggedError<TierGateUnmet>()("TierGateUnmet", {
  tier: reported(Schema.String),
  missing: reported(Schema.Array(Schema.String))
}) {
  static readonly status = 409
  static get example(): TierGateUnmet {
    return new TierGateUnmet({ tier: "L3", missing: ["owner"] })
  }
  override get message(): string {
    return (
      `Tier ${this.tier ?? "of this agent"} needs what the agent does not have: ` +
      `${(this.missing ?? []).map((condition) => tierConditionWords[condition] ?? condition).join(", ")}.`
    )
  }
}

/** The agent was changed since it was read. `version` is the one that is there. */
export class AgentVersionConflict extends Schema.TaggedError<AgentVersionConflict>()("AgentVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): AgentVersionConflict {
    return new AgentVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The agent was changed since it was read. Read it again and send the change with its version."
  }
}

/** The access mapping was changed since it was read. `version` is the one that is there. */
export class MappingVersionConflict extends Schema.TaggedError<MappingVersionConflict>()("MappingVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): MappingVersionConflict {
    return new MappingVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The access mapping was changed since it was read. Read it again and send the change with its version."
  }
}

/** The response policy was changed since it was read. `version` is the one that is there. */
export class PolicyVersionConflict extends Schema.TaggedError<PolicyVersionConflict>()("PolicyVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): PolicyVersionConflict {
    return new PolicyVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The response policy was changed since it was read. Read it again and send the change with its ETag."
  }
}

/** There is no such model. */
export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()("ModelNotFound", {
  modelId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ModelNotFound {
    return new ModelNotFound({})
  }
  override get message(): string {
    return "There is no such model."
  }
}

/** This provider, name and version are registered. `modelId` is that model. */
export class ModelTaken extends Schema.TaggedError<ModelTaken>()("ModelTaken", { modelId: reported(Schema.String) }) {
  static readonly status = 409
  static get example(): ModelTaken {
    return new ModelTaken({ modelId })
  }
  override get message(): string {
    return "This provider, name and version are registered. Change that model, or name another version."
  }
}

/** There is no such decision, or the caller may not see it. */
export class DecisionNotFound extends Schema.TaggedError<DecisionNotFound>()("DecisionNotFound", {
  decisionId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DecisionNotFound {
    return new DecisionNotFound({})
  }
  override get message(): string {
    return "There is no such decision among those that the caller may see."
  }
}

/** These decisions repeat a `client_ref` with other content. `indexes` are positions in the batch. */
export class ClientRefReused extends Schema.TaggedError<ClientRefReused>()("ClientRefReused", {
  indexes: reported(Schema.Array(Schema.Int))
}) {
  static readonly status = 409
  static get example(): ClientRefReused {
    return new ClientRefReused({ indexes: [0] })
  }
  override get message(): string {
    return (
      "A client_ref was used before with other content. Nothing of this request was recorded; use a new " +
      "client_ref for a new decision."
    )
  }
}

/** These decisions claim `capture: mediated`, and their writer is no key of a gateway. */
export class CaptureNotMediated extends Schema.TaggedError<CaptureNotMediated>()("CaptureNotMediated", {
  indexes: reported(Schema.Array(Schema.Int))
}) {
  static readonly status = 403
  static get example(): CaptureNotMediated {
    return new CaptureNotMediated({ indexes: [0] })
  }
  override get message(): string {
    return (
      "Only an ingest key that was minted with capture mediated may witness decisions as mediated. Nothing of this " +
      "request was recorded; leave capture out, or use the gateway's key."
    )
  }
}

/** The decision was settled before with another outcome. */
export class DecisionAlreadySettled extends Schema.TaggedError<DecisionAlreadySettled>()("DecisionAlreadySettled", {
  decisionId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): DecisionAlreadySettled {
    return new DecisionAlreadySettled({})
  }
  override get message(): string {
    return "The decision is settled already, with another outcome. An outcome is recorded once."
  }
}

/** An ingest key said less of a meter than its evaluation reserved. `reserved` is what it may say at least. */
export class SettleBelowReserved extends Schema.TaggedError<SettleBelowReserved>()("SettleBelowReserved", {
  meter: reported(Schema.String),
  reserved: reported(Schema.Int)
}) {
  static readonly status = 403
  static get example(): SettleBelowReserved {
    return new SettleBelowReserved({ meter: "spend_24h", reserved: 2_000 })
  }
  override get message(): string {
    return (
      "An ingest key may settle a meter at what its evaluation reserved, or above. What was reserved too " +
      "much is given back by a person: settle it in a session, or void the evaluation."
    )
  }
}

/** `args`, `result` or `labels` of these decisions are over their limit. */
export class DecisionTooLarge extends Schema.TaggedError<DecisionTooLarge>()("DecisionTooLarge", {
  indexes: reported(Schema.Array(Schema.Int)),
  limitBytes: reported(Schema.Int)
}) {
  static readonly status = 413
  static get example(): DecisionTooLarge {
    return new DecisionTooLarge({ indexes: [0] })
  }
  override get message(): string {
    return (
      `args, result and labels may have ${PART_LIMIT_BYTES} bytes each. Nothing of this request was ` +
      "recorded; shorten them, or record a digest."
    )
  }
}

/** There is no record with this seq. */
export class RecordNotFound extends Schema.TaggedError<RecordNotFound>()("RecordNotFound", {
  seq: reported(Schema.Int)
}) {
  static readonly status = 404
  static get example(): RecordNotFound {
    return new RecordNotFound({})
  }
  override get message(): string {
    return "There is no record with this seq."
  }
}

/** The record has no part of this name. */
export class PartNotFound extends Schema.TaggedError<PartNotFound>()("PartNotFound", {
  seq: reported(Schema.Int),
  name: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PartNotFound {
    return new PartNotFound({})
  }
  override get message(): string {
    return "The record has no part of this name, or none that may be erased."
  }
}

/** The part was erased before. `erasedBy` is the record that says so. */
export class PartErased extends Schema.TaggedError<PartErased>()("PartErased", {
  seq: reported(Schema.Int),
  name: reported(Schema.String),
  erasedBy: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): PartErased {
    return new PartErased({ erasedBy: 7 })
  }
  override get message(): string {
    return "This part was erased before; erased_by is the record that says so."
  }
}

/** There is no such evidence pack, or the caller may not see it. */
export class PackNotFound extends Schema.TaggedError<PackNotFound>()("PackNotFound", {
  packId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PackNotFound {
    return new PackNotFound({})
  }
  override get message(): string {
    return "There is no such evidence pack among those that the caller may see."
  }
}

/** There is no such ingest key, or the caller may not see it. */
export class IngestKeyNotFound extends Schema.TaggedError<IngestKeyNotFound>()("IngestKeyNotFound", {
  keyId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): IngestKeyNotFound {
    return new IngestKeyNotFound({})
  }
  override get message(): string {
    return "There is no such ingest key among those that the caller may see."
  }
}

/** There is no such webhook, or the caller may not see it. */
export class WebhookNotFound extends Schema.TaggedError<WebhookNotFound>()("WebhookNotFound", {
  webhookId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): WebhookNotFound {
    return new WebhookNotFound({})
  }
  override get message(): string {
    return "There is no such webhook among those that the caller may see."
  }
}

/** No record names this person. */
export class PrincipalNotFound extends Schema.TaggedError<PrincipalNotFound>()("PrincipalNotFound", {
  principalId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PrincipalNotFound {
    return new PrincipalNotFound({})
  }
  override get message(): string {
    return "There is no such principal."
  }
}

/** The webhook is at its end. */
export class WebhookRevoked extends Schema.TaggedError<WebhookRevoked>()("WebhookRevoked", {
  webhookId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WebhookRevoked {
    return new WebhookRevoked({})
  }
  override get message(): string {
    return "The webhook is revoked, and stays so. Create another one."
  }
}

/** Nothing is sent to this webhook. `status` says how it stands. */
export class WebhookNotActive extends Schema.TaggedError<WebhookNotActive>()("WebhookNotActive", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WebhookNotActive {
    return new WebhookNotActive({ status: "failed" })
  }
  override get message(): string {
    return (
      `Nothing is sent to a webhook that is ${this.status ?? "not active"}. Enable it first; a revoked ` +
      "one stays revoked."
    )
  }
}

/** A webhook has at most two secrets that sign, and this one has two. */
export class RotationUnderWay extends Schema.TaggedError<RotationUnderWay>()("RotationUnderWay", {
  overlapUntil: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): RotationUnderWay {
    return new RotationUnderWay({ overlapUntil: "2026-11-22T00:00:00.000Z" })
  }
  override get message(): string {
    return (
      "The last rotation is under " +
      `way${this.overlapUntil === undefined ? "" : ` until ${this.overlapUntil}`}. Complete it first, or ` +
      "wait for its end."
    )
  }
}

/** There is no such delivery of this webhook. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>()("DeliveryNotFound", {
  deliveryId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DeliveryNotFound {
    return new DeliveryNotFound({})
  }
  override get message(): string {
    return "There is no such delivery of this webhook."
  }
}

/** An attempt at the delivery is under way. `state` says how it stands. */
export class DeliveryUnfinished extends Schema.TaggedError<DeliveryUnfinished>()("DeliveryUnfinished", {
  state: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): DeliveryUnfinished {
    return new DeliveryUnfinished({ state: "in_flight" })
  }
  override get message(): string {
    return (
      `The delivery is ${this.state ?? "unfinished"}: an attempt is under way. Read its state in a few ` +
      "seconds, and deliver it again then."
    )
  }
}

/** This host cannot send, or cannot keep a secret. */
export class WebhooksUnavailable extends Schema.TaggedError<WebhooksUnavailable>()("WebhooksUnavailable", {}) {
  static readonly status = 503
  static get example(): WebhooksUnavailable {
    return new WebhooksUnavailable()
  }
  override get message(): string {
    return (
      "This host sends no webhooks: it was started without a sender or without a key to keep their " +
      "secrets with, or its key is another one."
    )
  }
}

/** There is no such envelope, or the caller may not see it. */
export class EnvelopeNotFound extends Schema.TaggedError<EnvelopeNotFound>()("EnvelopeNotFound", {
  envelopeId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): EnvelopeNotFound {
    return new EnvelopeNotFound({})
  }
  override get message(): string {
    return "There is no such envelope among those that the caller may see."
  }
}

/** The envelope has no such version. */
export class EnvelopeVersionNotFound extends Schema.TaggedError<EnvelopeVersionNotFound>()("EnvelopeVersionNotFound", {
  version: reported(Schema.Int)
}) {
  static readonly status = 404
  static get example(): EnvelopeVersionNotFound {
    return new EnvelopeVersionNotFound({ version: 7 })
  }
  override get message(): string {
    return "The envelope has no such version. List its versions; a draft is none until it is published."
  }
}

/** There is an envelope for this agent or org unit. `envelopeId` is that one. */
export class EnvelopeExists extends Schema.TaggedError<EnvelopeExists>()("EnvelopeExists", {
  envelopeId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 409
  static get example(): EnvelopeExists {
    return new EnvelopeExists({ envelopeId: `${idPrefixes.envelope}_${"0".repeat(26)}` })
  }
  override get message(): string {
    return "There is an envelope for this agent or org unit. Change its draft; each has one envelope, with versions."
  }
}

/** The envelope was changed since it was read. `revision` is the one that is there. */
export class EnvelopeRevisionConflict extends Schema.TaggedError<EnvelopeRevisionConflict>()(
  "EnvelopeRevisionConflict",
  { revision: reported(Schema.Int) }
) {
  static readonly status = 409
  static get example(): EnvelopeRevisionConflict {
    return new EnvelopeRevisionConflict({ revision: 2 })
  }
  override get message(): string {
    return "The envelope was changed since it was read. Read it again and send the change with its revision."
  }
}

/** There is neither a draft nor a version on trial. */
export class NothingToPublish extends Schema.TaggedError<NothingToPublish>()("NothingToPublish", {}) {
  static readonly status = 409
  static get example(): NothingToPublish {
    return new NothingToPublish()
  }
  override get message(): string {
    return "There is nothing to publish: the envelope has neither a draft nor a version on trial. Write a draft first."
  }
}

/** Whether an item of `findings` is an error with a code and a sentence. */
const isErrorFinding = (
  finding: unknown
): finding is { readonly code: string; readonly message: string; readonly path?: unknown } =>
  typeof finding === "object" &&
  finding !== null &&
  "level" in finding &&
  finding.level === "error" &&
  "code" in finding &&
  typeof finding.code === "string" &&
  "message" in finding &&
  typeof finding.message === "string"

/**
 * Errors were found about the draft. `findings` are all that was found; the message names the first error and the
 * number of the others.
 */
export class EnvelopeNotPublishable extends Schema.TaggedError<EnvelopeNotPublishable>()("EnvelopeNotPublishable", {
  findings: reported(Schema.Array(Schema.Unknown))
}) {
  static readonly status = 409
  static get example(): EnvelopeNotPublishable {
    return new EnvelopeNotPublishable({
      findings: [
        {
          code: "E101",
          level: "error",
          path: null,
          rules: ["small_refunds"],
          message:
            "The rule small_refunds holds for no input: its conditions exclude each other. Correct them or remove it.",
          example: null,
          volume: null,
          share: null,
          history_count: null
        }
      ]
    })
  }
  override get message(): string {
    const errors = (this.findings ?? []).filter(isErrorFinding)
    const [first] = errors
    if (first === undefined)
      return "The draft has errors, so it cannot be published. Correct what the findings of level error say."
    const { code, message, path } = first
    const where = typeof path === "string" && path !== "" ? ` at ${path}` : ""
    const more = errors.length - 1
    return (
      `The draft has errors, so it cannot be published. ${code}${where}: ${message}` +
      (more === 0 ? "" : ` There ${more === 1 ? "is 1 more error" : `are ${more} more errors`}; findings names each.`)
    )
  }
}

/**
 * The draft newly allows something, and its publisher wrote it. `change` is what was proved, `sentence` says what is
 * new.
 */
export class SecondApproverRequired extends Schema.TaggedError<SecondApproverRequired>()("SecondApproverRequired", {
  change: reported(Schema.String),
  sentence: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): SecondApproverRequired {
    return new SecondApproverRequired({
      change: "loosens",
      sentence: "Newly allowed: 12.50 % of the inputs."
    })
  }
  override get message(): string {
    return this.change === "attest"
      ? "Somebody else than the person who started the drill attests it. Ask another governor."
      : "This loosens what agents may do, so somebody who did not write it must do it. Ask another governor."
  }
}

/** The caller has as many lints, diffs, backtests or publications under way as it may. `limit` is that number. */
export class ExaminationQueueFull extends Schema.TaggedError<ExaminationQueueFull>()("ExaminationQueueFull", {
  limit: reported(Schema.Int)
}) {
  static readonly status = 429
  static get example(): ExaminationQueueFull {
    return new ExaminationQueueFull({ limit: 8 })
  }
  override get message(): string {
    const limit = this.limit === undefined ? "as many" : `${this.limit}`
    return (
      `The caller has ${limit} requests to examine envelopes waiting or running, which is the most. ` +
      "Send this one again after one of them ends."
    )
  }
}

/** No version of the envelope is in force. */
export class EnvelopeNotInForce extends Schema.TaggedError<EnvelopeNotInForce>()("EnvelopeNotInForce", {}) {
  static readonly status = 409
  static get example(): EnvelopeNotInForce {
    return new EnvelopeNotInForce()
  }
  override get message(): string {
    return "No version of this envelope is in force."
  }
}

/** There is no such waiver of this envelope. */
export class WaiverNotFound extends Schema.TaggedError<WaiverNotFound>()("WaiverNotFound", {
  waiverId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): WaiverNotFound {
    return new WaiverNotFound({})
  }
  override get message(): string {
    return "There is no such waiver of this envelope."
  }
}

/** The waiver cannot be granted any more. `status` says why. */
export class WaiverNotOpen extends Schema.TaggedError<WaiverNotOpen>()("WaiverNotOpen", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WaiverNotOpen {
    return new WaiverNotOpen({ status: "expired" })
  }
  override get message(): string {
    return `The waiver is ${this.status ?? "not open"}, or its version is not in force any more. Ask for a new one.`
  }
}

/** The review was not approved, or what was reviewed is not all there. */
export class ReviewNotApproved extends Schema.TaggedError<ReviewNotApproved>()("ReviewNotApproved", {}) {
  static readonly status = 409
  static get example(): ReviewNotApproved {
    return new ReviewNotApproved()
  }
  override get message(): string {
    return (
      "A standing approval is made from a review that people approved and whose evaluation is all there: nothing of " +
      "it redacted or erased. Choose such a review."
    )
  }
}

/** The caller is none of those who approved the review. */
export class NotTheApprover extends Schema.TaggedError<NotTheApprover>()("NotTheApprover", {}) {
  static readonly status = 409
  static get example(): NotTheApprover {
    return new NotTheApprover()
  }
  override get message(): string {
    return "Only a person who approved the review proposes a standing approval from it. Ask that person."
  }
}

/** There is no such standing approval, or the caller may not see it. */
export class StandingApprovalNotFound extends Schema.TaggedError<StandingApprovalNotFound>()(
  "StandingApprovalNotFound",
  { standingApprovalId: reported(Schema.String) }
) {
  static readonly status = 404
  static get example(): StandingApprovalNotFound {
    return new StandingApprovalNotFound({})
  }
  override get message(): string {
    return "There is no such standing approval."
  }
}

/** The standing approval is past this act. `status` says why. */
export class StandingApprovalNotOpen extends Schema.TaggedError<StandingApprovalNotOpen>()("StandingApprovalNotOpen", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): StandingApprovalNotOpen {
    return new StandingApprovalNotOpen({ status: "revoked" })
  }
  override get message(): string {
    return `The standing approval is ${this.status ?? "not open"}, or its box was erased. Propose a new one.`
  }
}

/**
 * The box holds inputs for which another rule asks for a review than the one that people answered; or that could not be
 * decided. `rule` and `example` name one; both are absent where it is open.
 */
export class StandingApprovalTooWide extends Schema.TaggedError<StandingApprovalTooWide>()("StandingApprovalTooWide", {
  rule: reported(Schema.String),
  example: reported(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])))
}) {
  static readonly status = 409
  static get example(): StandingApprovalTooWide {
    return new StandingApprovalTooWide({ rule: "large", example: { tool: "refund", amount: 20_000 } })
  }
  override get message(): string {
    return this.rule === undefined
      ? "Whether the box is within what was reviewed was not proved in time. Pin more of the signals."
      : `In this box the rule ${this.rule} requires a review too, and nobody answered that. Pin more of the signals.`
  }
}

/** There is no such breaker, or the caller may not see it. */
export class BreakerNotFound extends Schema.TaggedError<BreakerNotFound>()("BreakerNotFound", {
  breakerId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): BreakerNotFound {
    return new BreakerNotFound({})
  }
  override get message(): string {
    return "There is no such breaker among those that the caller may see."
  }
}

/** The agent has a breaker of this name. */
export class BreakerNameTaken extends Schema.TaggedError<BreakerNameTaken>()("BreakerNameTaken", {
  breakerId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): BreakerNameTaken {
    return new BreakerNameTaken({})
  }
  override get message(): string {
    return "The agent has a breaker of this name. Change that one, or choose another name."
  }
}

/** Only a tripped breaker can be released. */
export class BreakerNotTripped extends Schema.TaggedError<BreakerNotTripped>()("BreakerNotTripped", {}) {
  static readonly status = 409
  static get example(): BreakerNotTripped {
    return new BreakerNotTripped()
  }
  override get message(): string {
    return "The breaker is armed: it has not tripped, so there is nothing to release."
  }
}

/** The metric has a name, and nothing that it could be computed from yet. `lacks` says what. */
export class MetricNotAvailable extends Schema.TaggedError<MetricNotAvailable>()("MetricNotAvailable", {
  metric: reported(Schema.String),
  lacks: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): MetricNotAvailable {
    return new MetricNotAvailable({ metric: "drift_score", lacks: "behavioural drift" })
  }
  override get message(): string {
    const named = this.metric === undefined ? "This metric" : `The metric ${this.metric}`
    return `${named} is not available in this version${this.lacks === undefined ? "" : `: it needs ${this.lacks}`}.`
  }
}

/** There is no such evaluation, or the caller may not see it. */
export class EvaluationNotFound extends Schema.TaggedError<EvaluationNotFound>()("EvaluationNotFound", {
  evaluationId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): EvaluationNotFound {
    return new EvaluationNotFound({})
  }
  override get message(): string {
    return "There is no such evaluation among those that the caller may see."
  }
}

/** There is no such review, or the caller may not see it. */
export class ReviewNotFound extends Schema.TaggedError<ReviewNotFound>()("ReviewNotFound", {
  reviewId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ReviewNotFound {
    return new ReviewNotFound({})
  }
  override get message(): string {
    return "There is no such review."
  }
}

/** The review is over. `status` says how it ended. */
export class ReviewClosed extends Schema.TaggedError<ReviewClosed>()("ReviewClosed", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReviewClosed {
    return new ReviewClosed({ status: "resolved" })
  }
  override get message(): string {
    return `The review is ${this.status ?? "over"}: nobody can answer it any more. The agent can ask again.`
  }
}

/** Another person has the review until the lease ends, or gives it back. */
export class ReviewClaimed extends Schema.TaggedError<ReviewClaimed>()("ReviewClaimed", {
  claimedBy: reported(Schema.String),
  leaseUntil: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReviewClaimed {
    return new ReviewClaimed({ leaseUntil: "2026-11-26T12:15:00.000Z" })
  }
  override get message(): string {
    return `Another person has the review until ${this.leaseUntil ?? "the lease ends"}, or gives it back.`
  }
}

/** Why a person may not answer a review. */
export const reviewerProblems = ["requester_or_author", "owner", "answered_before", "role", "not_a_person"] as const

const reviewerWords: { readonly [K in (typeof reviewerProblems)[number]]: string } = {
  requester_or_author: "Neither the requester nor an author of an envelope in force answers a review of the action.",
  owner: "The review needs two people beside the agent's owner.",
  answered_before: "This person answered before. The approvals must come from different people.",
  role: "The review needs a role that this person does not have in the agent's org unit.",
  not_a_person: "Only people answer reviews."
}

/** This person may not answer this review; another may. */
export class ReviewerNotEligible extends Schema.TaggedError<ReviewerNotEligible>()("ReviewerNotEligible", {
  why: reported(Schema.Literals(reviewerProblems)),
  sentence: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): ReviewerNotEligible {
    return new ReviewerNotEligible({ why: "requester_or_author" })
  }
  override get message(): string {
    const words = this.why === undefined ? "This person may not answer this review." : reviewerWords[this.why]
    return `${this.sentence === undefined ? words : `${words} ${this.sentence}`} Ask another reviewer.`
  }
}

/** The evaluation added nothing to any meter. */
export class NothingToVoid extends Schema.TaggedError<NothingToVoid>()("NothingToVoid", {}) {
  static readonly status = 409
  static get example(): NothingToVoid {
    return new NothingToVoid()
  }
  override get message(): string {
    return "The evaluation added nothing to any meter, so there is nothing to take away."
  }
}

/** The evaluation ended for its meters before: a decision said what it came to, or it was voided. It ends once. */
export class EvaluationEnded extends Schema.TaggedError<EvaluationEnded>()("EvaluationEnded", {
  how: reported(Schema.Literals(["settled", "void"]))
}) {
  static readonly status = 409
  static get example(): EvaluationEnded {
    return new EvaluationEnded({ how: "settled" })
  }
  override get message(): string {
    return this.how === "void"
      ? "The evaluation is void, and its meters are free of it."
      : "A decision has settled this evaluation already: what it came to stays counted."
  }
}

/** There is no such activation of the kill switch, or not in the caller's org units. */
export class ActivationNotFound extends Schema.TaggedError<ActivationNotFound>()("ActivationNotFound", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ActivationNotFound {
    return new ActivationNotFound({})
  }
  override get message(): string {
    return "There is no such activation of the kill switch."
  }
}

/** The activation holds no more. */
export class ActivationReleased extends Schema.TaggedError<ActivationReleased>()("ActivationReleased", {
  releasedAt: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationReleased {
    return new ActivationReleased({})
  }
  override get message(): string {
    return "The activation was released before. Others of the same target hold on until each is released."
  }
}

/** The records of an activation lie in a chain that a recovery put aside. */
export class ActivationPutAside extends Schema.TaggedError<ActivationPutAside>()("ActivationPutAside", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationPutAside {
    return new ActivationPutAside({ activationId: `kil_${"0".repeat(26)}` })
  }
  override get message(): string {
    return (
      "A recovery put aside the chain that has the record of this activation. Export that chain on the host " +
      "(flyball export --chain), and have the verifier make the certificate from it."
    )
  }
}

/** A halt of an agent at L3 or above is released by somebody else than who made it, and never by a rule. */
export class ReleaseNotAllowed extends Schema.TaggedError<ReleaseNotAllowed>()("ReleaseNotAllowed", {
  sentence: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReleaseNotAllowed {
    return new ReleaseNotAllowed({})
  }
  override get message(): string {
    return (
      this.sentence ??
      "This halt reaches an agent at L3 or above, so somebody else than its activator releases it. Ask another " +
        "operator."
    )
  }
}

/** There is no such drill. */
export class DrillNotFound extends Schema.TaggedError<DrillNotFound>()("DrillNotFound", {
  drillId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DrillNotFound {
    return new DrillNotFound({})
  }
  override get message(): string {
    return "There is no such drill."
  }
}

/** The drill was completed before. */
export class DrillCompleted extends Schema.TaggedError<DrillCompleted>()("DrillCompleted", {}) {
  static readonly status = 409
  static get example(): DrillCompleted {
    return new DrillCompleted()
  }
  override get message(): string {
    return "The drill was completed before; what it measured stands. Start another one."
  }
}

/** Nobody can vouch for the drill as it stands. `why` is one of the words of {@link attestWords}. */
export class DrillNotAttestable extends Schema.TaggedError<DrillNotAttestable>()("DrillNotAttestable", {
  why: reported(Schema.Literals(["not_completed", "attested", "nobody_acknowledged", "too_old"]))
}) {
  static readonly status = 409
  static get example(): DrillNotAttestable {
    return new DrillNotAttestable({ why: "nobody_acknowledged" })
  }
  override get message(): string {
    return attestWords[this.why ?? "not_completed"]
  }
}

/** Why a drill cannot be attested. */
const attestWords = {
  not_completed: "The drill runs. Complete it, then attest what it measured.",
  attested: "The drill was attested before.",
  nobody_acknowledged: "No instance acknowledged, so the drill shows nothing about stopping. Start another one.",
  too_old: "The drill was completed more than 30 days ago. Start another one."
} as const

/** The agent is quarantined: its keys may read its kill status and acknowledge, and nothing else. */
export class AgentQuarantined extends Schema.TaggedError<AgentQuarantined>()("AgentQuarantined", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): AgentQuarantined {
    return new AgentQuarantined({})
  }
  override get message(): string {
    return (
      "The agent is quarantined. Until that is released an ingest key may read its kill status and acknowledge it, " +
      "and nothing else. Keep what happened, and report the gap afterwards."
    )
  }
}

/** There is nothing at this path. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}) {
  static readonly status = 404
  static get example(): NotFound {
    return new NotFound()
  }
  override get message(): string {
    return "There is nothing at this path."
  }
}

/** The path exists, with other methods. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  allow: Schema.Array(Schema.String)
}) {
  static readonly status = 405
  static get example(): MethodNotAllowed {
    return new MethodNotAllowed({ allow: ["GET", "HEAD", "OPTIONS"] })
  }
  override get message(): string {
    return `This path takes ${this.allow.join(", ")}.`
  }
}

/** The body is not JSON by its content type. */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {}) {
  static readonly status = 415
  static get example(): UnsupportedMediaType {
    return new UnsupportedMediaType()
  }
  override get message(): string {
    return "The body must be sent as application/json in UTF-8, without a content encoding."
  }
}

/** The body has more bytes than this route takes. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {
  limitBytes: reported(Schema.Int)
}) {
  static readonly status = 413
  static get example(): BodyTooLarge {
    return new BodyTooLarge({ limitBytes: BODY_LIMIT_BYTES })
  }
  override get message(): string {
    return (
      `The body is over ${this.limitBytes === undefined ? "its limit" : `${this.limitBytes} bytes`}. Send ` +
      "less at once."
    )
  }
}

/** Earlier records are still being summed up. `segments`: how many stretches of the chain are missing. */
export class TelemetryBehind extends Schema.TaggedError<TelemetryBehind>()("TelemetryBehind", {
  segments: reported(Schema.Int)
}) {
  static readonly status = 503
  static get example(): TelemetryBehind {
    return new TelemetryBehind({ segments: 12 })
  }
  override get message(): string {
    return (
      `The usage of ${this.segments ?? "some"} stretches of the chain is still being summed up. ` +
      "Send the request again in some seconds."
    )
  }
}

/** The server is shutting down. */
export class Draining extends Schema.TaggedError<Draining>()("Draining", {}) {
  static readonly status = 503
  static get example(): Draining {
    return new Draining()
  }
  override get message(): string {
    return "The server is shutting down. Send requests to another one, or later."
  }
}

/** The store answers, but takes no writes: what /healthz says of a full disk. */
export class NotWriting extends Schema.TaggedError<NotWriting>()("NotWriting", {}) {
  static readonly status = 503
  static get example(): NotWriting {
    return new NotWriting()
  }
  override get message(): string {
    return "The store is read but takes no writes now. Send requests to another server, or later."
  }
}

/** Every refusal by its tag: the one list of them. */
export const refusals = {
  InvalidInput,
  Unauthorized,
  Forbidden,
  KeyNotAllowed,
  OrgUnitNotAllowed,
  TierOverCap,
  AgentNotFound,
  AgentNameTaken,
  InvalidTransition,
  IdentityAlreadyVerified,
  TierGateUnmet,
  AgentVersionConflict,
  MappingVersionConflict,
  PolicyVersionConflict,
  ModelNotFound,
  ModelTaken,
  DecisionNotFound,
  ClientRefReused,
  CaptureNotMediated,
  DecisionAlreadySettled,
  SettleBelowReserved,
  DecisionTooLarge,
  RecordNotFound,
  PartNotFound,
  PartErased,
  PackNotFound,
  IngestKeyNotFound,
  PrincipalNotFound,
  WebhookNotFound,
  WebhookRevoked,
  WebhookNotActive,
  RotationUnderWay,
  DeliveryNotFound,
  DeliveryUnfinished,
  EnvelopeNotFound,
  EnvelopeVersionNotFound,
  EnvelopeExists,
  EnvelopeRevisionConflict,
  NothingToPublish,
  EnvelopeNotPublishable,
  SecondApproverRequired,
  ExaminationQueueFull,
  EnvelopeNotInForce,
  WaiverNotFound,
  WaiverNotOpen,
  ReviewNotApproved,
  NotTheApprover,
  StandingApprovalNotFound,
  StandingApprovalNotOpen,
  StandingApprovalTooWide,
  BreakerNotFound,
  BreakerNameTaken,
  BreakerNotTripped,
  MetricNotAvailable,
  EvaluationNotFound,
  ReviewNotFound,
  ReviewClosed,
  ReviewClaimed,
  ReviewerNotEligible,
  NothingToVoid,
  EvaluationEnded,
  ActivationNotFound,
  ActivationReleased,
  ActivationPutAside,
  ReleaseNotAllowed,
  AgentQuarantined,
  DrillCompleted,
  DrillNotAttestable,
  DrillNotFound,
  WebhooksUnavailable,
  NotFound,
  MethodNotAllowed,
  UnsupportedMediaType,
  BodyTooLarge,
  Draining,
  TelemetryBehind,
  NotWriting
}

/** Every refusal. */
export type Refusal = InstanceType<(typeof refusals)[keyof typeof refusals]>

/** The tag of a refusal. */
export type RefusalTag = Refusal["_tag"]

/** The wire code of a tag: the same words in snake_case. */
export const codeOf = (tag: string): string =>
  tag.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? "" : "_") + letter.toLowerCase())
