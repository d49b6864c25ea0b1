/** Governance rules that the live service and the verifier both run. Pure: no Effect, no clock, no storage. */
export { emptyMapping, type MappedRule, type MappingDocument } from "./access-mapping/document.ts"
export { partMembers, partValue } from "./records/part-json.ts"
export { DOCUMENTS_WRITER, GATEWAY_WRITER, isMediator, serviceWriters } from "./records/writers-of-kinds.ts"
export { costMicroUsd } from "./models/price.ts"
export { ACCESS_MAPPING, MAPPING_ID } from "./access-mapping/fold.ts"
export {
  type Claims,
  type Grant,
  grantsOf,
  type MatchedGrant,
  matchedGrants,
  resolveClaims,
  type Resolved,
  strongestFirst,
  summaryOf
} from "./access-mapping/resolve.ts"
export { ancestorsOf, MAX_ANCESTORS, type ParentProblem, parentProblem } from "./agents/ancestry.ts"
export {
  type AgentDocument,
  type AgentOwner,
  type AgentProfile,
  agentStatuses,
  type AutonomyTier,
  autonomyTiers,
  erasedIdentity,
  erasedProfile,
  noOwner,
  profileMembers,
  type SuspendedReason,
  suspensionCauses
} from "./agents/document.ts"
export {
  type Annotation,
  annotationKinds,
  type ChangeAnswer,
  changeOf,
  type ChangeQuestion,
  MAX_ANNOTATIONS
} from "./drift/change.ts"
export {
  type DocumentPage,
  type DocumentType,
  documentTypes,
  type DocumentWarning,
  documentWarnings,
  type ExtractedDocument,
  type ExtractedField,
  type ExtractionFailure,
  extractionFailures,
  type FieldEvidence,
  isKnownField,
  maskedFields,
  type ReadDocument,
  type TextItem
} from "./documents/document.ts"
export { maskField } from "./documents/mask.ts"
export { MAX_SAID, type ModelQuestion, modelQuestion, type ModelSaid } from "./documents/model.ts"
export {
  documentFacts,
  type DocumentFacts,
  documentSignalNames,
  documentSignals,
  maskFields,
  maskWarnings
} from "./documents/facts.ts"
export { EXTRACT_ACTION, EXTRACTION_SCOPE, EXTRACTION_WRITER, fieldNames } from "./recompute/checks/extractions.ts"
export { extractFields, LEAST_CONFIDENCE, requiredFields } from "./documents/extract.ts"
export { type DriftDecision, driftDecision } from "./drift/decision.ts"
export { type DriftAlarm, DriftFollower } from "./drift/follower.ts"
export {
  compareRuns,
  type EvalCase,
  type EvalComparison,
  evalClusters,
  evalCounts,
  readEvalCases
} from "./evals/compare-runs.ts"
export type { Known, ManifestDiff } from "./mcp/diff.ts"
export {
  digestsOut,
  type Manifest,
  type ManifestDigests,
  MAX_MANIFEST_BYTES,
  MAX_MANIFEST_TOOLS,
  readDigests,
  readManifest,
  toolDigest
} from "./mcp/manifest.ts"
export { changesOut, type PlacedList, placeList } from "./mcp/place.ts"
export { draftEnvelope, type EnvelopeDraft } from "./mcp/draft-envelope.ts"
export { shownText } from "./mcp/signals.ts"
export {
  baselineOf,
  FINDINGS,
  findingOf,
  findingResolved,
  isTrustedRoot,
  MCP_SERVERS,
  type McpFindingDocument,
  type McpServerDocument,
  mcpServerId,
  type McpTransport,
  mcpTransports,
  serverAfter,
  serverPinned
} from "./mcp/state.ts"
export { checkPlan } from "./routing/check.ts"
export { replayRoutes, type SolveOptions, solveRoutes } from "./routing/anneal.ts"
export { type RoutingMatrix, routingMatrix } from "./routing/matrix.ts"
export { unassignedReason } from "./routing/plan.ts"
export {
  type Distances,
  type Route,
  type RoutePlan,
  type RouteStop,
  type RoutingJob,
  type RoutingProblem,
  type RoutingVehicle,
  type SolveTrace,
  type UnassignedReason,
  unassignedReasons,
  type Window
} from "./routing/problem.ts"
export { ROUTES_WRITER, totalsOf } from "./recompute/checks/routes.ts"
export { MAX_PLACES, planBytes, problemBytes, readPlan, readProblem, type Solved } from "./routing/part-forms.ts"
export { ANALYSIS_WRITER } from "./recompute/checks/analyses.ts"
export { TRACKING_WRITER } from "./recompute/checks/positions.ts"
export {
  analyse,
  type Analysed,
  differenceOf,
  type Estimate,
  estimateInterval,
  estimateOf,
  type GroupDifference,
  hasMetric,
  type MetricName,
  metricNames,
  PERMUTATIONS,
  pOf,
  type RateName,
  type UndefinedMetric
} from "./fairness/analysis.ts"
export {
  type AttributeCounts,
  codeDataSet,
  type CodedDataSet,
  columnsOf,
  countDataSet,
  type DataSet,
  dataSetBytes,
  type DataSetInput,
  type DataSetProblem,
  type GroupCounts,
  PPM,
  readDataSet
} from "./fairness/data-set.ts"
export {
  compareGroups,
  fisherOf,
  type GroupRates,
  type GroupVerdict,
  MAX_GROUPS,
  type RateVerdict,
  type UndefinedRatio,
  zOfGroups
} from "./fairness/group-rates.ts"
export {
  type LabelValue,
  MAX_GROUP_LENGTH,
  MAX_SCREENED,
  type OutcomeSource,
  readScreenPart,
  type ScreenCounts,
  type Screened,
  type ScreenedDecision,
  Screening,
  type ScreenQuestion
} from "./fairness/screen-decisions.ts"
export { CHANNEL_CHECK_ID, CHANNEL_CHECKS, type ChannelDocument, isChannelOverdue } from "./drills/channel.ts"
export {
  type AttestProblem,
  attestProblem,
  type DrillDocument,
  drillKeys,
  DRILLS,
  type DrillStatus,
  drillStatus,
  hasAttestedDrill,
  isDrillOverdue
} from "./drills/document.ts"
export { type DrillAck, type DrillResult, drillResult, type Measured } from "./drills/result.ts"
export { dueSuspension } from "./agents/due.ts"
export {
  canBeLowered,
  effectiveTier,
  lostCondition,
  type LostCondition,
  type TierFacts,
  unmetConditions
} from "./agents/effective-tier.ts"
export { agentFolds } from "./agents/fold.ts"
export { agentKeys, agentUnique } from "./agents/look-up.ts"
export { isCompleteOwner, ORPHAN_GRACE_MS, orphanedSinceMs, orphanSuspendAtMs } from "./agents/owner.ts"
export { lacksSealedMembers, orgUnitDigest, sealedBody, withSealedMembers } from "./agents/sealed-members.ts"
export { conditionsOf, DRILL_AGE_MS, type TierCondition, tierGate } from "./agents/tier-gate.ts"
export { type AgentAct, type AgentStatus, statusAfter, transitions } from "./agents/transitions.ts"
export {
  BREAKERS,
  type BreakerDocument,
  breakerKeys,
  type BreakerMode,
  breakerModes,
  type BreakerTrip,
  breakerUnique,
  isWatching,
  windowKinds
} from "./breakers/document.ts"
export {
  type AgentFacts,
  haltKinds,
  type Metric,
  type MetricRecord,
  type Params,
  type ReadAt,
  type Reading,
  type UnavailableMetric
} from "./breakers/metric.ts"
export {
  calibrate,
  type Calibration,
  CALIBRATION_MARGIN,
  type GoodRuns,
  MAX_CALIBRATION_RECORDS,
  runKinds
} from "./breakers/calibration.ts"
export { breakerMetrics, metricOf, unavailableMetrics } from "./breakers/metrics.ts"
export { type ParamProblem, paramsToBody, readParams } from "./breakers/params.ts"
export { type Preview, previewBreaker, type Tried } from "./breakers/preview.ts"
export { AgentBreakers, carriedStart, type DueBreaker, READ_BACK_MS } from "./breakers/watch.ts"
export { confidenceLevels } from "./breakers/wilson.ts"
export {
  agentTarget,
  type DraftDocument,
  ENVELOPE_VERSIONS,
  type EnvelopeDocument,
  ENVELOPES,
  envelopeUnique,
  unitTarget,
  type VersionDocument,
  versionId
} from "./envelopes/document.ts"
export { EnvelopeNumbers, type WrongNumber } from "./envelopes/numbers.ts"
export { actingSignals } from "./recompute/acting-tier.ts"
export { adviceOf } from "./evaluations/advice.ts"
export { numberedBefore } from "./evaluations/carried-records.ts"
export { EVALUATION_SCOPE, evaluationId, VOID_SCOPE } from "./evaluations/evaluation-id.ts"
export { EXECUTION_WRITER } from "./executions/known-executions.ts"
export {
  fillTemplate,
  type SealedForm,
  sealedForm,
  type TemplateValues,
  unknownPlaceholder
} from "./executions/template.ts"
export {
  type MonitorRule,
  SCORE_UNITS,
  shareMetrics,
  valueOf,
  type Verdict,
  verdictOf,
  wagerOf,
  WINDOW_SLOTS,
  type WindowCounts,
  windowFrom
} from "./monitors/reading.ts"
export { dueOf, MONITOR_WRITER, type MonitorAct, type MonitorState, newState, stepMonitor } from "./monitors/step.ts"
export { foldMeters, mayGiveBack, meterKinds, reservationsOf } from "./evaluations/fold-meters.ts"
export { GovernedState } from "./evaluations/governed-state.ts"
export { type GateView, judgePublication } from "./evaluations/judge-publication.ts"
export { reportedOf } from "./evaluations/known-agents.ts"
export {
  bind,
  type Binding,
  hasLatches,
  latchesOf,
  type Layer,
  type LayerRef,
  longestWindowOf,
  readsArgs,
  unbound
} from "./evaluations/layers.ts"
export { longestWindowMs } from "./evaluations/longest-window.ts"
export type { RecomputedPublication } from "./recompute/checks/publication.ts"
export {
  type OpenReason,
  ranked,
  type Recomputed,
  type RecomputeVerdict,
  recomputeVerdicts
} from "./recompute/recompute-verdict.ts"
export { Recomputation, type RecomputeOptions } from "./recompute/recomputation.ts"
export { CLOCK_STEP_MS, LATE_MS } from "./recompute/tolerances.ts"
export { isOfDecisions, isRecomputed, isRecomputedPart, recomputedParts } from "./recompute/recomputed-records.ts"
export { decisionOf, readSide, recordedSide, type RecordedSide, sideBody } from "./evaluations/recorded-side.ts"
export { References } from "./recompute/checks/references.ts"
export { serverSignalNames, serverSignals } from "./evaluations/server-signals.ts"
export { argsOf, shownSignals, signalsOf } from "./evaluations/signals-part.ts"
export { inactiveRuleOf, isActive } from "./evaluations/may-act.ts"
export { fromBase64url, toBase64url } from "./identity/base64url.ts"
export { type CardAlg, type Claim, type KeyChoice, readCard, sentBytes, type SentCard } from "./identity/read-card.ts"
export { cardSources, sourceWord } from "./identity/sources.ts"
export { screen, type TrustedKey } from "./identity/trusted-key.ts"
export { cardVerdict, type CardVerdict, type CheckedClaim, type ReasonCode } from "./identity/verdict.ts"
export { erasedPlatformKeyProfile, type PlatformKeyDocument } from "./platform-keys/document.ts"
export { erasedKeyProfile, type IngestKeyDocument } from "./ingest-keys/document.ts"
export {
  type BoundMet,
  type CertifiedInstance,
  certifiedKinds,
  certifiedParts,
  type CertifiedRefusal,
  MAX_REFUSALS,
  STOP_BOUND_MS,
  type StopCertificate,
  StopCertifier
} from "./kill/certificate.ts"
export {
  type AckDocument,
  ackId,
  ackKeys,
  instancesByAgent,
  KILL_WRITER,
  MAX_EXPECTED,
  SEEN_MS,
  type ActivationDocument,
  activationKeys,
  CONFIRM_MS,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  KILL_REACH,
  type KillInstance,
  type KillTarget
} from "./kill/document.ts"
export { type KillInstanceState, killInstanceState } from "./kill/instance-state.ts"
export { type AgentReach, agentReach, reaches } from "./kill/reach.ts"
export { DRILL_WRITER, FOUR_EYES_TIER, isRule, needsSecondPerson, releaseProblem } from "./kill/release.ts"
export {
  CHANNEL_TARGET,
  DEPLOYMENT_TARGET,
  type DrillMode,
  drillModes,
  halts,
  type KillResponse,
  killResponses,
  type KillTargetType,
  killTargetTypes,
  type KillVia,
  killVias,
  severityOfResponse
} from "./kill/response.ts"
export {
  activationsBody,
  byPrecedence,
  higherTier,
  type KillStateOf,
  killStateOf,
  readActivations,
  type ReachingActivation,
  tierUnder
} from "./kill/state.ts"
export { type ModelDocument, modelUnique } from "./models/document.ts"
export { MODELS } from "./models/fold.ts"
export { isSameModel, type NamedModel, namesOfModel, noModels, type RegisteredModels } from "./models/names.ts"
export type { PrincipalDocument } from "./principals/document.ts"
export { identityDigest } from "./principals/identity-digest.ts"
export { erasedProvenance, type ProvenanceDocument } from "./provenance/document.ts"
export { PROVENANCE } from "./provenance/fold.ts"
export { readMembers, wireName, writeMembers } from "./records/part-members.ts"
export type { Difference, ExpectedDocument, Json, JsonMap, PartContent, ReplayRecord } from "./records/record.ts"
export { catalogueDifference } from "./replay/catalogue.ts"
export { compareDocument } from "./replay/compare.ts"
export {
  type AgentCounts,
  emptyReplay,
  foldRecord,
  governedCollections,
  kindsWithParts,
  type ReplayState
} from "./replay/fold.ts"
export { RULES } from "./records/rules-version.ts"
export {
  besideSuspension,
  emptyResponsePolicy,
  type PolicyFacts,
  type PolicyRow,
  type PolicyScope,
  policyScopes,
  type PolicyTrigger,
  policyTriggers,
  RESPONSE_POLICY,
  RESPONSE_POLICY_ID,
  type ResponsePolicyDocument,
  suspendingTriggers
} from "./response-policy/document.ts"
export {
  type ApprovalState,
  approvalState,
  questionOf,
  isSameLayers,
  isWaiting,
  type Presenting
} from "./reviews/approval.ts"
export { consumption } from "./reviews/consume.ts"
export {
  approvalsNeeded,
  canServe,
  isApproved,
  PRESENTED_SCOPE,
  REVIEW_LEASE_MS,
  REVIEW_SCOPE,
  type ReviewApproval,
  type ReviewCancelCause,
  reviewCancelCauses,
  type ReviewDocument,
  reviewIdOf,
  type ReviewNeed,
  type ReviewResolution,
  reviewResolutions,
  type ReviewRole,
  answeringRoles,
  reviewRoles,
  REVIEWS,
  type ReviewTerms,
  reviewTerms,
  rolesHeld
} from "./reviews/document.ts"
export { openedReview, reviewAfter } from "./reviews/fold.ts"
export {
  type ReviewEnd,
  questionKey,
  REVIEW_KEYS,
  reviewKeys,
  reviewUnique,
  type ReviewRange,
  reviewsOfAction,
  reviewsClaimed,
  reviewsEnded,
  reviewsPastEnd
} from "./reviews/keys.ts"
export { isPastEnd, type ReviewStatus, reviewStatus, reviewStatuses } from "./reviews/status.ts"
export { type PolicyAnswer, responseFor } from "./response-policy/response-for.ts"
export { type Awaiting, type NotApproved, whyNotApproved } from "./standing-approvals/approves.ts"
export {
  boxOf,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  standingKeys,
  type StandingStatus,
  standingStatus
} from "./standing-approvals/document.ts"
export {
  type ActionInputs,
  holds,
  liesInBox,
  type Pin,
  pinnedAxes,
  type PinValue,
  shapeOf
} from "./standing-approvals/pins.ts"
export { measuredStanding, proveStanding, type StandingProof } from "./standing-approvals/prove.ts"
export {
  foldUsage,
  settledDecision,
  type StatedUsage,
  telemetryKinds,
  UnsettledDecisions,
  UsageState
} from "./telemetry/usage-fold.ts"
export {
  type AgentUsage,
  type IncidentFigures,
  type ModelUsage,
  onsetSeqs,
  type ReviewFigures,
  usageReport,
  type UsageReport,
  type UsageWindow
} from "./telemetry/usage-report.ts"
export { UsageTotals } from "./telemetry/usage-totals.ts"
export { type WaiverDocument, WAIVERS } from "./waivers/document.ts"
export {
  afterAttempt,
  type AfterAttempt,
  type DeliveryAct,
  deliveryAfter,
  type DeliveryState,
  deliveryTransitions,
  type EndedAttempt
} from "./webhooks/delivery-states.ts"
export { type ChangeCause, erasedEndpoint, ownerOf, type WebhookDocument, webhookKeys } from "./webhooks/document.ts"
export {
  type EndpointAct,
  endpointAfter,
  endpointFails,
  type EndpointFailureRule,
  type EndpointStatus,
  endpointTransitions
} from "./webhooks/endpoint-states.ts"
export { renderEvent, type SentEvent } from "./webhooks/event-bytes.ts"
export { hmac, type HmacKey, hmacKey, type Sha256 } from "./webhooks/hmac.ts"
export {
  delaysMs,
  exactSchedule,
  type FailedAttempt,
  MAX_ATTEMPTS,
  MAX_JITTER,
  nextAttemptAtMs,
  type ScheduleSettings
} from "./webhooks/retry-schedule.ts"
export { SECRET_BYTES, SECRET_PREFIX, secretBytes, secretKeys, type SecretKeys, secretText } from "./webhooks/secret.ts"
export { connectionHeaders, signatureHeaderProblem } from "./webhooks/signature-header.ts"
export {
  addSignatures,
  platformSignature,
  SIGNATURE_HEADER,
  signatureHeaders,
  type Signed,
  type SigningKeys,
  standardSignature
} from "./webhooks/signature.ts"
export { MAX_URL_CHARACTERS, urlFormProblem } from "./webhooks/url.ts"
export {
  type Received,
  TOLERANCE_MS,
  verifyDelivery,
  verifyPlatformSignature,
  type VerifyProblem
} from "./webhooks/verify.ts"
