/** What GET /register/_meta tells: the tables of the contract and of core, as they are. */
import {
  agentStatuses, attemptErrors, autonomyTiers, backtestMeters, BATCH_LIMIT_BYTES, BODY_LIMIT_BYTES, chainProblems, CLAIM_LIMIT, deciders, decisionKinds, decisionModes,
  decisionStatuses, deliveryStates, ENVELOPE_LIMIT, envelopeChanges, envelopeModes, envelopeStatuses, erasureReasons, evaluationOutcomes, gapReasons, identityReasons,
  identitySources, identityVerdicts, lintLevels, mappingClaims, MAX_BATCH, MAX_MAPPING_RULES, MAX_PAGE, type MetaOut, modelHostings, modelStatuses, packKinds,
  PART_LIMIT_BYTES, provenanceKinds, riskClasses, roles, settledStatuses, SIGNALS_LIMIT_BYTES, subscribableTypes, suspensionCauses, VERDICT_VALID_MS, versionStatuses,
  waiverStatuses, webhookCauses, webhookStatuses
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
    attempt_error: attemptErrors,
    backtest_meters: backtestMeters,
    capture_gap_reason: gapReasons,
    chain_problem: chainProblems,
    decided_by: deciders,
    decision_kind: decisionKinds,
    decision_mode: decisionModes,
    decision_status: decisionStatuses,
    delivery_state: deliveryStates,
    envelope_change: envelopeChanges,
    envelope_mode: envelopeModes,
    envelope_status: envelopeStatuses,
    envelope_version_status: versionStatuses,
    erasure_reason: erasureReasons,
    evaluation_outcome: evaluationOutcomes,
    identity_reason: identityReasons,
    identity_source: identitySources,
    identity_verdict: identityVerdicts,
    lint_level: lintLevels,
    mapping_claim: mappingClaims,
    model_hosting: modelHostings,
    model_status: modelStatuses,
    pack_kind: packKinds,
    provenance_kind: provenanceKinds,
    risk_class: riskClasses,
    server_signal: serverSignalNames,
    settled_status: settledStatuses,
    suspended_reason: suspensionCauses,
    waiver_status: waiverStatuses,
    webhook_cause: webhookCauses,
    webhook_status: webhookStatuses
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
