/** What `@flyball/core` promises. Everything not listed may change tomorrow. */

// The door for hosts without Effect
export { type Governor, type GovernorOptions, openGovernor } from "./governor.ts"
export type { AgentsDoor } from "./governor/agents-door-types.ts"
export { GovernorError } from "./governor/error.ts"
export type {
  AgentChange, AgentFilter, AgentInfo, AgentInput, CallOptions, CheckInfo, CheckpointInfo, ConsistencyInfo, DecisionFilter, DecisionInfo, DecisionInput, DecisionReceipt, ErasureInfo,
  ErasureInput, GapInput, GapReceipt, HeadInfo, IdentityInfo, IdentityInput, KeyInfo, OrphanInfo, OwnerInput, PackInput, ProofInfo, Receipts, RecordFilter, RecordInfo, RotationInfo, SettleInput, SettleReceipt, Tier, UsageInput, VerifyInfo
} from "./governor/types.ts"

export { recoverGovernor, type RecoveredInfo, recoveryNeeded, type RecoveryOptions } from "./recovery/recover-governor.ts"

// Everything as Effect services
export { governorLayer, type GovernorLayerOptions, type GovernorServices, type StartError } from "./governor-layer.ts"
export { governorJobs } from "./governor-jobs.ts"
export { covers, everyUnit, type Scope, unitScope } from "./scope.ts"
export { isWriterId, systemHost, type Writer } from "./writer.ts"
export { AccessMapping, type AccessMappingApi } from "./access-mapping/service.ts"
export { emptyMapping, type MappingDocument } from "./access-mapping/rules/document.ts"
export { mappedRules, resolvedOut } from "./access-mapping/document.ts"
export { type Claims, resolveClaims, type Resolved } from "./access-mapping/rules/resolve.ts"
export { Agents, type AgentsApi, type RegisterOptions } from "./agents/service.ts"
export type { AgentActs } from "./agents/acts.ts"
export { ORPHAN_GRACE_MS } from "./agents/rules/owner.ts"
export { conditionsOf, type TierCondition } from "./agents/rules/tier-gate.ts"
export { transitions } from "./agents/rules/transitions.ts"
export { suspendDue } from "./agents/clock.ts"
export { TierEvidence, type TierEvidenceApi } from "./agents/tier-evidence.ts"
export type { RegistrationLimits } from "./agents/plan-register.ts"
export { Models, type ModelsApi } from "./models/service.ts"
export { Provenance, type ProvenanceApi } from "./provenance/service.ts"
export { Capture, type CaptureApi } from "./capture/service.ts"
export { IngestKeys, type IngestKeysApi, type KeyHolder } from "./ingest-keys/service.ts"
export { Principals, type PrincipalsApi } from "./principals/service.ts"
export { Replay, type ReplayReport } from "./replay/service.ts"
export { defaultTenantId, Tenant, TenantRefused } from "./tenant.ts"
export { Chain, type ChainApi } from "./chain/chain.ts"
export { Checkpointer, type CheckpointerApi } from "./chain/checkpointer.ts"
export { type Checkpoint, latestCheckpoint } from "./chain/checkpoints.ts"
export { KeyRotation, type KeyRotationApi, type Rotated } from "./chain/rotate-key.ts"
export { RotationRefused } from "./chain/rotation-refusals.ts"
export { Erasure, type ErasureApi } from "./erasure/service.ts"
export { Packs, type PacksApi } from "./packs/service.ts"
export { recover, type Recovered, type RecoveryError, type RecoveryNeed, recoveryNeed, type RecoverySite } from "./recovery/recover.ts"
export type { RecoveryCommand } from "./recovery/plan.ts"
export { checkRetired, type RetiredChain, retiredChains, retiredChainsBeside, type RetiredCheck } from "./recovery/retired-chains.ts"
export type { Previous } from "@flyball/evidence"

// Ports and what stands behind them
export { EvidenceCrypto } from "./chain/crypto.ts"
export { ephemeralKeys } from "./chain/ephemeral-keys.ts"
export { Guard, type GuardApi, sameState, type SignedState } from "./chain/guard.ts"
export { type KeysChoice, keysChoice, type KeysLayer, keysLayerOf } from "./chain/keys.ts"
export { isOrigin, localOrigin } from "./chain/origin.ts"
export { type HeldKeys, Signer, type SignerApi, type SignerRotation, type SigningKey } from "./chain/signer.ts"
export { KeysUnreadable, OriginInvalid, OriginRefused } from "./chain/start-errors.ts"
export { TrustStore, type TrustStoreApi, type TrustStoreChoice, trustLayerOf, trustStoreChoice, type TrustStoreLayer, TrustStoreUnreadable } from "./identity/trust-store.ts"
export type { TrustedKey } from "./identity/rules/trusted-key.ts"
export { Entropy, type EntropySource } from "./entropy.ts"
export { newId } from "./ids.ts"
export {
  layerOf, memoryStorage, Storage, type StorageApi, type StorageChoice, StorageConflict, StorageCorrupt, StorageUnavailable, storageChoice
} from "./storage/index.ts"
