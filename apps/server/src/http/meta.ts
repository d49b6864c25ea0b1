/** What GET /register/_meta tells: the tables of the contract and of core, as they are. */
import {
  agentStatuses, autonomyTiers, BATCH_LIMIT_BYTES, ENVELOPE_LIMIT, envelopeModes, envelopeStatuses, evaluationOutcomes, SIGNALS_LIMIT_BYTES, VERDICT_VALID_MS, BODY_LIMIT_BYTES, CLAIM_LIMIT, deciders, decisionKinds, decisionModes, decisionStatuses, erasureReasons, gapReasons, mappingClaims, MAX_BATCH,
  MAX_MAPPING_RULES, MAX_PAGE, type MetaOut, modelHostings, modelStatuses, PART_LIMIT_BYTES, provenanceKinds, riskClasses, roles, subscribableTypes
} from "@flyball/contract"
import { conditionsOf, MAX_WAIVER_MS, ORPHAN_GRACE_MS, serverSignalNames, transitions } from "@flyball/core"
import { recordKinds } from "@flyball/evidence"

/** The answer for a server of this version and its tenant. */
export const metaOut = (version: string, tenantId: string): MetaOut => ({
  version,
  tenant_id: tenantId,
  autonomy_tiers: autonomyTiers,
  tier_gate: Object.fromEntries(autonomyTiers.map((tier) => [tier, conditionsOf(tier)])),
  transitions,
  roles,
  enums: {
    agent_status: agentStatuses,
    capture_gap_reason: gapReasons,
    decided_by: deciders,
    decision_kind: decisionKinds,
    decision_mode: decisionModes,
    decision_status: decisionStatuses,
    envelope_mode: envelopeModes,
    envelope_status: envelopeStatuses,
    erasure_reason: erasureReasons,
    evaluation_outcome: evaluationOutcomes,
    mapping_claim: mappingClaims,
    model_hosting: modelHostings,
    model_status: modelStatuses,
    provenance_kind: provenanceKinds,
    risk_class: riskClasses,
    server_signal: serverSignalNames
  },
  limits: {
    batch_decisions: MAX_BATCH,
    batch_body_bytes: BATCH_LIMIT_BYTES,
    body_bytes: BODY_LIMIT_BYTES,
    claim_characters: CLAIM_LIMIT,
    envelope_characters: ENVELOPE_LIMIT,
    mapping_rules: MAX_MAPPING_RULES,
    name_characters: 200,
    orphan_grace_ms: ORPHAN_GRACE_MS,
    page_items: MAX_PAGE,
    part_bytes: PART_LIMIT_BYTES,
    signals_bytes: SIGNALS_LIMIT_BYTES,
    verdict_valid_ms: VERDICT_VALID_MS,
    waiver_ms: MAX_WAIVER_MS
  },
  record_kinds: recordKinds.map(({ kind }) => kind),
  event_kinds: subscribableTypes
})
