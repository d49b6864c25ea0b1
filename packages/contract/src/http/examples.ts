/** One of each refusal, as it can happen: what the interface description shows. */
import {
  AgentNameTaken, AgentNotFound, AgentVersionConflict, BodyTooLarge, ClientRefReused, DecisionAlreadySettled, DecisionNotFound, DecisionTooLarge, Draining, Forbidden, IngestKeyNotFound, InvalidInput,
  InvalidTransition, KeyNotAllowed, MappingVersionConflict, MethodNotAllowed, ModelNotFound, ModelTaken, NotFound, OrgUnitNotAllowed, PackNotFound, PartErased, PartNotFound, RecordNotFound, type Refusal,
  type RefusalTag, TierGateUnmet, TierOverCap, Unauthorized, UnsupportedMediaType
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
  TierGateUnmet: new TierGateUnmet({ tier: "L3", missing: ["owner"] }),
  AgentVersionConflict: new AgentVersionConflict({ version: 2 }),
  MappingVersionConflict: new MappingVersionConflict({ version: 2 }),
  ModelNotFound: new ModelNotFound({}),
  ModelTaken: new ModelTaken({ modelId }),
  DecisionNotFound: new DecisionNotFound({}),
  ClientRefReused: new ClientRefReused({ indexes: [0] }),
  DecisionAlreadySettled: new DecisionAlreadySettled({}),
  DecisionTooLarge: new DecisionTooLarge({ indexes: [0] }),
  RecordNotFound: new RecordNotFound({}),
  PartNotFound: new PartNotFound({}),
  PartErased: new PartErased({ erasedBy: 7 }),
  PackNotFound: new PackNotFound({}),
  IngestKeyNotFound: new IngestKeyNotFound({}),
  NotFound: new NotFound(),
  MethodNotAllowed: new MethodNotAllowed({ allow: ["GET", "HEAD", "OPTIONS"] }),
  UnsupportedMediaType: new UnsupportedMediaType(),
  BodyTooLarge: new BodyTooLarge({ limitBytes: BODY_LIMIT_BYTES }),
  Draining: new Draining()
}
