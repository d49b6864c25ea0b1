/** One of each refusal, as it can happen: what the interface description shows. */
import {
  EnvelopeExists, EnvelopeNotFound, EnvelopeNotInForce, EnvelopeNotPublishable, EnvelopeRevisionConflict, EnvelopeVersionNotFound, EvaluationEnded, EvaluationNotFound, NothingToPublish, NothingToVoid, SecondApproverRequired, SettleBelowReserved, WaiverNotFound, WaiverNotOpen,
  AgentNameTaken, AgentNotFound, AgentVersionConflict, BodyTooLarge, ClientRefReused, DecisionAlreadySettled, DecisionNotFound, DecisionTooLarge, DeliveryNotFound,
  DeliveryUnfinished, Draining, Forbidden, IdentityAlreadyVerified, IngestKeyNotFound, InvalidInput,
  InvalidTransition, KeyNotAllowed, MappingVersionConflict, MethodNotAllowed, ModelNotFound, ModelTaken, NotFound, NotWriting, OrgUnitNotAllowed, PackNotFound, PartErased, PartNotFound, RecordNotFound, type Refusal,
  type RefusalTag, RotationUnderWay, TierGateUnmet, TierOverCap, Unauthorized, UnsupportedMediaType, WebhookNotActive, WebhookNotFound, WebhookRevoked, WebhooksUnavailable
} from "../refusals.ts"
import { detailItem } from "../detail.ts"
import { idPrefixes } from "../ids.ts"
import { BODY_LIMIT_BYTES } from "../limits.ts"

const agentId = `${idPrefixes.agent}_${"0".repeat(26)}`
const modelId = `${idPrefixes.model}_${"0".repeat(26)}`

/** The examples. */
export const refusalExamples: { readonly [T in RefusalTag]: Extract<Refusal, { readonly _tag: T }> } = {
  InvalidInput: new InvalidInput({ detail: [detailItem(["body", "name"], "missing", "Field required")] }),
  Unauthorized: new Unauthorized(),
  Forbidden: new Forbidden({}),
  KeyNotAllowed: new KeyNotAllowed(),
  OrgUnitNotAllowed: new OrgUnitNotAllowed(),
  TierOverCap: new TierOverCap({}),
  AgentNotFound: new AgentNotFound({}),
  AgentNameTaken: new AgentNameTaken({ agentId }),
  InvalidTransition: new InvalidTransition({ status: "decommissioned", act: "activate" }),
  IdentityAlreadyVerified: new IdentityAlreadyVerified(),
  TierGateUnmet: new TierGateUnmet({ tier: "L3", missing: ["owner"] }),
  AgentVersionConflict: new AgentVersionConflict({ version: 2 }),
  MappingVersionConflict: new MappingVersionConflict({ version: 2 }),
  ModelNotFound: new ModelNotFound({}),
  ModelTaken: new ModelTaken({ modelId }),
  DecisionNotFound: new DecisionNotFound({}),
  ClientRefReused: new ClientRefReused({ indexes: [0] }),
  DecisionAlreadySettled: new DecisionAlreadySettled({}),
  SettleBelowReserved: new SettleBelowReserved({ meter: "spend_24h", reserved: 2_000 }),
  DecisionTooLarge: new DecisionTooLarge({ indexes: [0] }),
  RecordNotFound: new RecordNotFound({}),
  PartNotFound: new PartNotFound({}),
  PartErased: new PartErased({ erasedBy: 7 }),
  PackNotFound: new PackNotFound({}),
  IngestKeyNotFound: new IngestKeyNotFound({}),
  WebhookNotFound: new WebhookNotFound({}),
  DeliveryNotFound: new DeliveryNotFound({}),
  WebhookRevoked: new WebhookRevoked({}),
  WebhookNotActive: new WebhookNotActive({ status: "failed" }),
  RotationUnderWay: new RotationUnderWay({ overlapUntil: "2026-11-22T00:00:00.000Z" }),
  DeliveryUnfinished: new DeliveryUnfinished({ state: "in_flight" }),
  WebhooksUnavailable: new WebhooksUnavailable(),
  EnvelopeNotFound: new EnvelopeNotFound({}),
  EnvelopeVersionNotFound: new EnvelopeVersionNotFound({ version: 7 }),
  EnvelopeExists: new EnvelopeExists({ envelopeId: `${idPrefixes.envelope}_${"0".repeat(26)}` }),
  EnvelopeRevisionConflict: new EnvelopeRevisionConflict({ revision: 2 }),
  NothingToPublish: new NothingToPublish(),
  EnvelopeNotPublishable: new EnvelopeNotPublishable({
    findings: [{ code: "E101", level: "error", path: null, rules: ["small_refunds"], message: "The rule small_refunds holds for no input: its conditions exclude each other. Correct them or remove it.", example: null, volume: null, share: null, history_count: null }]
  }),
  SecondApproverRequired: new SecondApproverRequired({ change: "loosens", sentence: "Newly allowed: 12.50 % of the inputs." }),
  EnvelopeNotInForce: new EnvelopeNotInForce(),
  WaiverNotFound: new WaiverNotFound({}),
  WaiverNotOpen: new WaiverNotOpen({ status: "expired" }),
  EvaluationNotFound: new EvaluationNotFound({}),
  NothingToVoid: new NothingToVoid(),
  EvaluationEnded: new EvaluationEnded({ how: "settled" }),
  NotFound: new NotFound(),
  MethodNotAllowed: new MethodNotAllowed({ allow: ["GET", "HEAD", "OPTIONS"] }),
  UnsupportedMediaType: new UnsupportedMediaType(),
  BodyTooLarge: new BodyTooLarge({ limitBytes: BODY_LIMIT_BYTES }),
  Draining: new Draining(),
  NotWriting: new NotWriting()
}
