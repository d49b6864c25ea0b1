/** All services of the library, wired. */
import { Layer } from "effect"
import { Permits } from "../admission/permits.ts"
import { Quotas } from "../admission/quotas.ts"
import { RateLimits } from "../admission/rate-limits.ts"
import type { Capability } from "../capability/capability.ts"
import { modulesOf } from "../capability/installed.ts"
import { BreakerWindows } from "../verdicts/breakers/keeper.ts"
import { breakerSteps } from "../verdicts/breakers/steps.ts"
import { Chain } from "../chain/chain.ts"
import { checkpointAtCommits, Checkpointer } from "../chain/checkpointer.ts"
import { keepFormerOrigins } from "../chain/former-origins.ts"
import { answeringStorage, Idempotency } from "../idempotency/idempotency.ts"
import { KeyRotation } from "../chain/rotate-key.ts"
import type { Guard } from "../chain/keys/guard.ts"
import type { Signer } from "../chain/keys/signer.ts"
import type { StartError as ChainStartError } from "../chain/keys/start-errors.ts"
import { envelopeTierEvidence } from "../verdicts/envelopes/tier-evidence.ts"
import { Erasure } from "../outward/erasure/service.ts"
import { sealAgentMembers } from "../registry/agents/seal-members.ts"
import { toolListSteps } from "../screens/mcp/service.ts"
import { killSteps } from "../verdicts/kill/steps.ts"
import { reviewSteps } from "../verdicts/reviews/steps.ts"
import { Lists } from "../storage/lists/service.ts"
import { Parts } from "../outward/parts/service.ts"
import { Packs } from "../outward/packs/service.ts"
import { Replay } from "../outward/replay/service.ts"
import { CommitFeed } from "../storage/commit-feed.ts"
import type { Storage } from "../storage/port.ts"
import { Tenant, type TenantRefused } from "../chain/tenant.ts"
import { modulesLayer, type ModuleServices } from "./modules.ts"
import { standingApprovalSteps } from "../verdicts/standing-approvals/steps.ts"
import type { WebhookSettingsInvalid } from "../outward/webhooks/settings-problem.ts"

/** Options of {@link governorLayer}. */
export interface GovernorLayerOptions {
  /** The chain's name; made up at the first start when left out, and fixed from then on. */
  readonly origin?: string
  /** `tenant_id` of every agent; fixed at the first start. */
  readonly tenantId?: string
  /** Writes nothing by itself: no genesis, no checkpoint, no tenant. For commands that read beside a running server. */
  readonly readOnly?: boolean
  /** With `readOnly`: opens a retired chain. */
  readonly retired?: boolean
  /** Products that are installed, over the same decorated store. Their services come beside the governor's. */
  readonly capabilities?: ReadonlyArray<Capability>
}

/** Errors that refuse the start of a governor. */
export type StartError = ChainStartError | TenantRefused | WebhookSettingsInvalid

/** All services of a governor. */
export type GovernorServices =
  | Replay
  | Chain
  | Checkpointer
  | KeyRotation
  | Erasure
  | Packs
  | Parts
  | Tenant
  | CommitFeed
  | Idempotency
  | Permits
  | Quotas
  | RateLimits
  | Lists
  | ModuleServices

/**
 * All services over one store, one signing key and one guard. Make it once and keep the value: two calls are two
 * governors.
 *
 * `Webhooks` takes a `WebhookSender` and a `SecretBox` where they are provided; without them it creates none.
 * `deliveryEngine` sends; a long-lived process adds it. Commits to the `Storage` that it answers reach webhooks,
 * breakers and checkpoints too.
 */
export const governorLayer = (
  options: GovernorLayerOptions = {}
): Layer.Layer<GovernorServices | Storage, StartError, Storage | Signer | Guard> => {
  const signing = Checkpointer.layer(options).pipe(Layer.provideMerge(Chain.layer(options)))
  const steps = breakerSteps.pipe(
    Layer.provide(killSteps),
    Layer.provide(reviewSteps),
    Layer.provide(standingApprovalSteps),
    Layer.provide(BreakerWindows.layer)
  )
  const governing = modulesLayer.pipe(
    Layer.provide(Layer.mergeAll(steps, toolListSteps, envelopeTierEvidence, BreakerWindows.layer))
  )
  return Layer.mergeAll(
    installed(options).pipe(Layer.provideMerge(governing)),
    checkpointAtCommits,
    sealAgentMembers(options),
    keepFormerOrigins(options),
    Replay.layer,
    Erasure.layer,
    Parts.layer,
    Packs.layer(options),
    RateLimits.layer,
    Permits.layer,
    Quotas.layer,
    Lists.layer,
    Idempotency.layer,
    KeyRotation.layer(options)
  ).pipe(
    Layer.provideMerge(Tenant.layer(options)),
    Layer.provideMerge(signing),
    Layer.provideMerge(CommitFeed.layer),
    Layer.provide(answeringStorage)
  )
}

/** The cast: a host names the products, so that no type here can say which services they bring or ask for. */
const installed = ({ capabilities = [] }: GovernorLayerOptions) =>
  modulesOf(capabilities).reduce<Layer.Layer<never, StartError, ModuleServices>>(
    (all, { layer }) => Layer.merge(all, layer as Layer.Layer<never, StartError, ModuleServices>),
    Layer.empty
  )
