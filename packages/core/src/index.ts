/** What `@flyball/core` promises. Everything not listed may change tomorrow. */

// The door for hosts without Effect
export { type Governor, type GovernorOptions, openGovernor } from "./governor.ts"
export { GovernorError } from "./governor/error.ts"
export type {
  AgentFilter, AgentInfo, AgentInput, CallOptions, CheckInfo, CheckpointInfo, ConsistencyInfo, DecisionFilter, DecisionInfo, DecisionInput, DecisionReceipt, ErasureInfo,
  ErasureInput, GapInput, GapReceipt, HeadInfo, KeyInfo, PackInput, ProofInfo, Receipts, RecordFilter, RecordInfo, SettleInput, SettleReceipt, Tier, UsageInput, VerifyInfo
} from "./governor/types.ts"

// Everything as Effect services
export { governorLayer, type GovernorLayerOptions, type GovernorServices, type StartError } from "./governor-layer.ts"
export { everyUnit, type Scope } from "./scope.ts"
export { isWriterId, systemHost, type Writer } from "./writer.ts"
export { Agents, type AgentsApi, type RegisterOptions } from "./agents/service.ts"
export type { RegistrationLimits } from "./agents/plan-register.ts"
export { Capture, type CaptureApi } from "./capture/service.ts"
export { IngestKeys, type IngestKeysApi, type KeyHolder } from "./ingest-keys/service.ts"
export { Principals, type PrincipalsApi } from "./principals/service.ts"
export { Replay, type ReplayReport } from "./replay/service.ts"
export { defaultTenantId, Tenant, TenantRefused } from "./tenant.ts"
export { Chain, type ChainApi } from "./chain/chain.ts"
export { Checkpointer, type CheckpointerApi } from "./chain/checkpointer.ts"
export type { Checkpoint } from "./chain/checkpoints.ts"
export { Erasure, type ErasureApi } from "./erasure/service.ts"
export { Packs, type PacksApi } from "./packs/service.ts"

// Ports and what stands behind them
export { EvidenceCrypto } from "./chain/crypto.ts"
export { ephemeralKeys } from "./chain/ephemeral-keys.ts"
export { Guard, type GuardApi, sameState, type SignedState } from "./chain/guard.ts"
export { type KeysChoice, keysChoice, type KeysLayer, keysLayerOf } from "./chain/keys.ts"
export { isOrigin, localOrigin } from "./chain/origin.ts"
export { Signer, type SignerApi } from "./chain/signer.ts"
export { KeysUnreadable, OriginInvalid, OriginRefused } from "./chain/start-errors.ts"
export { Entropy, type EntropySource } from "./entropy.ts"
export { newId } from "./ids.ts"
export {
  layerOf, memoryStorage, Storage, type StorageApi, type StorageChoice, StorageConflict, StorageCorrupt, StorageUnavailable, storageChoice
} from "./storage/index.ts"
