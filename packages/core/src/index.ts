/** Public API of `@flyball/core`. Everything not listed may change tomorrow. */

// The client for hosts without Effect
export { type Governor, type GovernorOptions, openGovernor } from "./governor/governor.ts"
export type {
  AgentClient,
  AgentClientOptions,
  Guarded,
  GuardedAction,
  RunningAction
} from "./governor/clients/types/agent-client-types.ts"
export type {
  AgentChange,
  AgentFilter,
  AgentInfo,
  AgentInput,
  AutonomyTier as Tier,
  BacktestInfo,
  BreakerChange,
  BreakerInfo,
  BreakerInput,
  BreakerModeName,
  BreakerPreviewInfo,
  BreakerReading,
  BreakerRelease,
  BreakerResponseName,
  BreakerState,
  BreakerTrial,
  ClaimsInput,
  ConsistencyInfo,
  DecisionFilter,
  DecisionDetailInfo,
  DecisionInfo,
  DecisionInput,
  DecisionReceipt,
  DeliveryInfo,
  DiffInfo,
  DrillInfo,
  DrillInput,
  EnvelopeInfo,
  EnvelopeVersionInfo,
  ErasureInfo,
  ErasureInput,
  BehaviorChangeInfo,
  EvalRunInfo,
  EvalRunInput,
  EvaluationFilter,
  EvaluationInfo,
  EvaluationInput,
  ExplanationInfo,
  FairnessScreenInfo,
  FairnessScreenInput,
  GapInput,
  GapReceipt,
  HeadInfo,
  IdentityInfo,
  IdentityInput,
  IngestKeyInfo,
  IngestKeyInput,
  IngestKeyMintedInfo,
  PlatformKeyInfo,
  PlatformKeyInput,
  PlatformKeyMintedInfo,
  KeyInfo,
  KillAckInfo,
  KillActivationInfo,
  KillCertificateInfo,
  KillChangedInfo,
  KillEventInfo,
  KillRequestInfo,
  KillStatusInfo,
  LintInfo,
  MappingInfo,
  MappingInput,
  MappingRuleInput,
  FindingResolveInput,
  McpFindingInfo,
  McpManifestInput,
  McpPinInput,
  McpScreenInfo,
  McpServerInfo,
  ModelChange,
  ModelInfo,
  ModelInput,
  OrphanInfo,
  OwnerInput,
  PartInfo,
  PersonInfo,
  PersonInput,
  PolicyRowInfo,
  PolicyRowInput,
  ProofInfo,
  ProvenanceInfo,
  ProvenanceInput,
  ProvenanceKind,
  Receipts,
  RecordFilter,
  ResolvedInfo,
  ReviewDetailInfo,
  ReviewInfo,
  Role as RoleName,
  SafetyInfo,
  SettleInput,
  SettleReceipt,
  StandingApprovalInfo,
  StandingApprovalInput,
  TelemetryInfo,
  TimelineEntryInfo,
  TimelineFilter,
  UsageInfo,
  UsageInput,
  VerifyInfo,
  VoidInfo,
  WaiverInfo,
  WebhookInfo,
  WebhookInput,
  WebhookSecretInfo,
  WebhookTestInfo
} from "@flyball/contract"
export type {
  AccessMappingClient,
  AgentsClient,
  BehaviorClient,
  BreakersClient,
  ChainClient,
  DecisionsClient,
  DrillsClient,
  EvalsClient,
  EvaluationsClient,
  FairnessClient,
  IngestKeysClient,
  PlatformKeysClient,
  KillClient,
  McpClient,
  ModelsClient,
  PeopleClient,
  ProvenanceClient,
  ResponsePolicyClient,
  ReviewsClient,
  SafetyClient,
  StandingApprovalsClient,
  TelemetryClient,
  WebhooksClient
} from "./governor/governor.ts"
export type {
  EnsureOptions,
  EnvelopeInput,
  EnvelopesClient,
  LintInput,
  WaiverInput,
  WaiversClient
} from "./governor/clients/types/bound-client-types.ts"
export type { ConditionSource, EnvelopeSource, RuleSource } from "@flyball/envelope"
export type { Account } from "./capability/operation.ts"
export type { Capability } from "./capability/capability.ts"
export { type AnyModule, modulesOf } from "./capability/installed.ts"
export { defineModule, type Module, notInstalled, type Read } from "./capability/module.ts"
export { oneUnit, unitOfDocument } from "./capability/one-unit.ts"
export type {
  AnyOperation,
  LostAccess,
  OperationCaller,
  OperationFault,
  OperationsOf,
  PassedAnswer,
  ReceivedRequest,
  StreamStep,
  Tagged,
  Versioned
} from "./capability/operation.ts"
export { moduleReads, modules } from "./governor/modules.ts"
export { GovernorError } from "./foundation/governor-error.ts"
export type { LogLine } from "./governor/log-line.ts"
export type { ActOptions, CallOptions } from "./governor/clients/call-options.ts"
export type {
  CheckInfo,
  CheckpointInfo,
  PackInput,
  RecordInfo,
  RotationInfo
} from "./governor/clients/types/chain-types.ts"

export {
  recoverGovernor,
  type RecoveredInfo,
  recoveryNeeded,
  type RecoveryOptions
} from "./outward/recovery/recover-governor.ts"
export { readFormerOrigins } from "./chain/former-origins.ts"
export { isRecoveryReason, MAX_REASON } from "./outward/recovery/reason.ts"
export { renameKey, type RenamedKey } from "./outward/recovery/rename-key.ts"

// Everything as Effect services
export {
  governorLayer,
  type GovernorLayerOptions,
  type GovernorServices,
  type StartError
} from "./governor/governor-layer.ts"
export { capabilityJobs, governorJobs } from "./governor/governor-jobs.ts"
export { type Mount, mountOn } from "./governor/mount.ts"
export { FairLine } from "./foundation/fair-line.ts"
export { inSlices } from "./foundation/in-slices.ts"
export { Lane, MAX_PER_PRINCIPAL } from "./foundation/lane.ts"
export { covers, everyUnit, type Scope, unitScope } from "./foundation/scope.ts"
export { isWriterId, systemHost, type Writer } from "./foundation/writer.ts"
export { AccessMapping, type AccessMappingApi } from "./registry/access-mapping/service.ts"
export { emptyMapping, type MappingDocument } from "@flyball/rules"
export { DOCUMENTS_WRITER, GATEWAY_WRITER } from "@flyball/rules"
export { type Claims, type Grant, grantsOf, resolveClaims, type Resolved, summaryOf } from "@flyball/rules"
export { Drills, type DrillsApi } from "./verdicts/drills/service.ts"
export { ChannelPeriod, checkChannel } from "./verdicts/drills/channel-check.ts"
export { Telemetry, type TelemetryApi } from "./outward/telemetry/service.ts"
export { StandingApprovals, type StandingApprovalsApi } from "./verdicts/standing-approvals/service.ts"
export { Safety, type SafetyApi, type SafetyHealth } from "./verdicts/safety/service.ts"
export { ResponsePolicies, type ResponsePoliciesApi, type VersionedPolicy } from "./verdicts/response-policy/service.ts"
export { Agents, type AgentsApi, type RegisterOptions, type RegisterRefusal } from "./registry/agents/service.ts"
export type { AgentActs } from "./registry/agents/acts.ts"
export { ORPHAN_GRACE_MS } from "@flyball/rules"
export { conditionsOf, type TierCondition } from "@flyball/rules"
export { transitions } from "@flyball/rules"
export { suspendDue } from "./registry/agents/clock.ts"
export { TierEvidence, type TierEvidenceApi } from "./registry/agents/tier-evidence.ts"
export type { RegistrationLimits } from "./registry/agents/plan-register.ts"
export { driftAlarms } from "./screens/drift/alarms.ts"
export { Behavior, type BehaviorApi } from "./screens/drift/service.ts"
export { EvalRuns, type EvalRunsApi } from "./screens/evals/service.ts"
export { ToolServers, type ToolServersApi } from "./screens/mcp/service.ts"
export { FairnessScreens, type FairnessScreensApi } from "./screens/fairness/service.ts"
export { Models, type ModelsApi } from "./registry/models/service.ts"
export { Provenance, type ProvenanceApi } from "./registry/provenance/service.ts"
export { Capture, type CaptureApi } from "./verdicts/capture/service.ts"
export { Envelopes, type EnvelopesApi } from "./verdicts/envelopes/service.ts"
export { TrustsCanonicalRoles } from "./registry/access-mapping/trusts-canonical-roles.ts"
export { Examiner, type ExaminerApi } from "./verdicts/envelopes/examination/examiner.ts"
export { serverSignalNames } from "@flyball/rules"
export { breakerMetricNames } from "./verdicts/breakers/read-input.ts"
export { Breakers, type BreakersApi, MAX_BREAKERS } from "./verdicts/breakers/service.ts"
export { type ReviewingPerson, Reviews, type ReviewsApi } from "./verdicts/reviews/service.ts"
export type { ReviewChange, ReviewPlace, ReviewStep } from "./verdicts/reviews/review-changes.ts"
export { Evaluations, type EvaluationsApi } from "./verdicts/evaluations/service.ts"
export {
  type ApprovalOf,
  type Concluded,
  EvaluationSteps,
  type EvaluationStepsApi,
  type KillOf
} from "./verdicts/evaluations/ports.ts"
export { targetOf as killTargetOf } from "./verdicts/kill/module.ts"
export { Kill, type KillApi, type TaggedStatus } from "./verdicts/kill/service.ts"
export { recordExpected } from "./verdicts/kill/expected.ts"
export { MAX_WAIVER_MS, Waivers, type WaiversApi } from "./verdicts/waivers/service.ts"
export { KEY_PREFIX as INGEST_KEY_PREFIX } from "./registry/ingest-keys/key-text.ts"
export { PLATFORM_KEY_PREFIX } from "./registry/platform-keys/key-text.ts"
export { type PlatformKeyHolder, PlatformKeys, type PlatformKeysApi } from "./registry/platform-keys/service.ts"
export { IngestKeys, type IngestKeysApi, type KeyHolder } from "./registry/ingest-keys/service.ts"
export { Principals, type PrincipalsApi } from "./registry/principals/service.ts"
export { HOST_ISSUER } from "./registry/principals/service.ts"
export { deliveryEngine, type DeliveryEngineOptions } from "./outward/webhooks/delivery-engine.ts"
export { isMailAddress } from "@flyball/contract"
export { connectionHeaders } from "@flyball/rules"
export { exactSchedule, type FailedAttempt, nextAttemptAtMs, type ScheduleSettings } from "@flyball/rules"
export { rounds } from "./storage/leased-job.ts"
export { mailJob, sendDueMails } from "./outward/webhooks/mail-job.ts"
export { listedWebhook, shownWebhook } from "./outward/webhooks/document.ts"
export { type OwnedWebhooksApi, type ShowWebhook, Webhooks, type WebhooksApi } from "./outward/webhooks/service.ts"
export {
  claimSecretsKey,
  needsSecretsKey,
  type SecretsKeyTakeover,
  type WrongSecretsKey
} from "./outward/webhooks/secrets-key.ts"
export { literalWebhookSettings, WebhookSettings, type WebhookSettingsApi } from "./outward/webhooks/settings.ts"
export { WebhookSettingsInvalid } from "./outward/webhooks/settings-problem.ts"
export type { ReplayReport } from "./outward/replay/report.ts"
export { Replay } from "./outward/replay/service.ts"
export { defaultTenantId, Tenant, TenantRefused } from "./chain/tenant.ts"
export { Chain, type ChainApi } from "./chain/chain.ts"
export { Checkpointer, type CheckpointerApi } from "./chain/checkpointer.ts"
export { type Checkpoint, latestCheckpoint } from "./chain/check/checkpoints.ts"
export { KeyRotation, type KeyRotationApi, type Rotated } from "./chain/rotate-key.ts"
export { RotationRefused } from "./chain/keys/rotation-refusals.ts"
export { ROUTE_COURSES, ROUTE_PLANS, routePlanKeys } from "./outward/erasure/scrub-routes.ts"
export { ANALYSES, analysisKeys } from "./outward/erasure/scrub-analyses.ts"
export { EXTRACTIONS, extractionKeys, storedBytesOf } from "./registry/extractions/document.ts"
export { executionKeys, EXECUTIONS, workflowKeys, WORKFLOWS } from "./outward/erasure/scrub-executions.ts"
export { monitorKeys, MONITORS } from "./outward/erasure/scrub-monitors.ts"
export { Erasure, type ErasureApi } from "./outward/erasure/service.ts"
export { Parts, type PartsApi } from "./outward/parts/service.ts"
export { Packs, type PacksApi } from "./outward/packs/service.ts"
export {
  recover,
  type Recovered,
  type RecoveryError,
  type RecoveryNeed,
  recoveryNeed,
  type RecoverySite
} from "./outward/recovery/recover.ts"
export type { RecoveryCommand } from "./outward/recovery/plan-recover.ts"
export { type StoredChain, storedChain } from "./outward/recovery/stored-chain.ts"
export {
  checkRetired,
  type RetiredChain,
  retiredChains,
  retiredChainsBeside,
  type RetiredCheck
} from "./chain/retired-chains.ts"
export type { Previous } from "@flyball/evidence"

// Ports and what stands behind them
export { EvidenceCrypto } from "./foundation/crypto.ts"
export { ephemeralKeys } from "./chain/keys/ephemeral-keys.ts"
export {
  Guard,
  type GuardApi,
  type GuardChoice,
  guardChoice,
  guardLayerOf,
  sameState,
  type SignedState
} from "./chain/keys/guard.ts"
export { type KeysChoice, keysChoice, type KeysLayer, keysLayerOf } from "./chain/keys/keys.ts"
export { isOrigin, localOrigin } from "./chain/keys/origin.ts"
export { type HeldKeys, Signer, type SignerApi, type SignerRotation, type SigningKey } from "./chain/keys/signer.ts"
export { KeysUnreadable, OriginInvalid, OriginRefused } from "./chain/keys/start-errors.ts"
export { Identities, type IdentitiesApi } from "./registry/identity/service.ts"
export {
  TrustStore,
  type TrustStoreApi,
  type TrustStoreChoice,
  trustLayerOf,
  trustStoreChoice,
  type TrustStoreLayer,
  TrustStoreUnreadable
} from "./registry/identity/trust-store.ts"
export { TrustStoreUnavailable } from "./foundation/trust-store-unavailable.ts"
export type { TrustedKey } from "@flyball/rules"
export {
  type WebhooksChoice,
  webhooksChoice,
  type WebhooksLayer,
  webhooksLayerOf
} from "./outward/webhooks/webhooks-choice.ts"
export { Entropy, type EntropySource } from "./foundation/entropy.ts"
export type { MetricDistribution, MetricFamily, MetricLabels, MetricValue } from "./foundation/metric-family.ts"
export { metricsNow, ownMetrics, readMetrics } from "./foundation/metrics.ts"
export { beside } from "./storage/commit-claim.ts"
export {
  answeringStorage,
  commitAnswered,
  Idempotency,
  type IdempotencyApi,
  idempotencyJob,
  type KeptAnswer,
  type Repeat,
  type Repeatable
} from "./idempotency/idempotency.ts"
export { type Permit, Permits, type PermitsApi } from "./admission/permits.ts"
export {
  type MonthlyUse,
  quotaCounts,
  quotaExceeded,
  quotaJob,
  type QuotaReservation,
  Quotas,
  type QuotasApi,
  type QuotaUse,
  type Reserved
} from "./admission/quotas.ts"
export { type PolicyStanding, type RateLimited, RateLimits, type RateLimitsApi } from "./admission/rate-limits.ts"
export { CommitFeed, type CommitFeedApi } from "./storage/commit-feed.ts"
export { countedStorage } from "./storage/counted-storage.ts"
export { orgUnitDigestOf, platformEvent, unitOwner } from "./storage/event.ts"
export { type ListEntry, listKeys, sortable } from "./storage/lists/keys.ts"
export { type ListPage, type ListRequest, Lists, type ListsApi, type ListSource } from "./storage/lists/service.ts"
export { idAtMs } from "./foundation/id-time.ts"
export { newId } from "./foundation/ids.ts"
export {
  type Attempted,
  type Mail,
  Mailer,
  type MailerApi,
  MailFailed,
  type OutgoingRequest,
  WebhookSender,
  type WebhookSenderApi
} from "./outward/webhooks/ports.ts"
export { type AgentCall, type AgentCalled, type AgentStream, Egress, type EgressApi } from "./outward/egress.ts"
export { commitWithRetry } from "./storage/commit-with-retry.ts"
export { SecretBox, type SecretBoxApi, SecretUnreadable } from "./foundation/secret-box.ts"
export {
  costProblem,
  layerOf,
  type LimitPolicy,
  type LimitRow,
  memoryStorage,
  Storage,
  type StorageApi,
  type StorageChoice,
  StorageConflict,
  StorageCorrupt,
  StorageUnavailable,
  storageChoice
} from "./storage/index.ts"
