/** All services of the library, wired. */
import { Layer } from "effect"
import { AccessMapping } from "./access-mapping/service.ts"
import { Agents } from "./agents/service.ts"
import { Capture } from "./capture/service.ts"
import { Chain } from "./chain/chain.ts"
import { Checkpointer } from "./chain/checkpointer.ts"
import { KeyRotation } from "./chain/rotate-key.ts"
import type { Guard } from "./chain/guard.ts"
import type { Signer } from "./chain/signer.ts"
import type { StartError as ChainStartError } from "./chain/start-errors.ts"
import { Envelopes } from "./envelopes/service.ts"
import { envelopeTierEvidence } from "./envelopes/tier-evidence.ts"
import { Erasure } from "./erasure/service.ts"
import { Evaluations } from "./evaluations/service.ts"
import { IngestKeys } from "./ingest-keys/service.ts"
import { nudgingStorage } from "./nudging-storage.ts"
import { Models } from "./models/service.ts"
import { Packs } from "./packs/service.ts"
import { Principals } from "./principals/service.ts"
import { Provenance } from "./provenance/service.ts"
import { Replay } from "./replay/service.ts"
import type { Storage } from "./storage/port.ts"
import { Tenant, type TenantRefused } from "./tenant.ts"
import { Waivers } from "./waivers/service.ts"
import { OutboxBell, ringingStorage } from "./webhooks/outbox-bell.ts"
import { Webhooks } from "./webhooks/service.ts"
import type { WebhookSettingsInvalid } from "./webhooks/settings-problem.ts"

/** How a governor is opened. */
export interface GovernorLayerOptions {
  /** The chain's name; made up at the first start when left out, and fixed from then on. */
  readonly origin?: string
  /** `tenant_id` of every agent; fixed at the first start. */
  readonly tenantId?: string
  /** Writes nothing by itself: no genesis, no checkpoint, no tenant. For commands that read beside a running server. */
  readonly readOnly?: boolean
  /** With `readOnly`: opens a chain that a recovery put aside. */
  readonly retired?: boolean
}

/** Why a governor does not start. */
export type StartError = ChainStartError | TenantRefused | WebhookSettingsInvalid

/** Everything a governor offers. */
export type GovernorServices = AccessMapping | Agents | Models | Provenance | Principals | IngestKeys | Capture | Replay | Chain | Checkpointer | KeyRotation | Erasure | Packs | Tenant | Webhooks | OutboxBell | Envelopes | Evaluations | Waivers

/**
 * All services over one store, one signing key and one guard. Make it once and keep the value: two calls are two governors.
 *
 * `Webhooks` takes a `WebhookSender` and a `SecretBox` where they are provided; without them it creates none. Sending is `deliveryEngine`'s, which whoever stays adds.
 */
export const governorLayer = (options: GovernorLayerOptions = {}): Layer.Layer<GovernorServices, StartError, Storage | Signer | Guard> => {
  const signing = Checkpointer.layer(options).pipe(Layer.provideMerge(Chain.layer(options)))
  const writing = Layer.mergeAll(AccessMapping.layer, Agents.layer.pipe(Layer.provide(envelopeTierEvidence)), Envelopes.layer, Evaluations.layer, Waivers.layer, Models.layer, Provenance.layer, Principals.layer, IngestKeys.layer, Capture.layer, Webhooks.layer).pipe(Layer.provide(nudgingStorage))
  return Layer.mergeAll(writing, Replay.layer, Erasure.layer, Packs.layer(options), KeyRotation.layer(options)).pipe(
    Layer.provideMerge(Tenant.layer(options)),
    Layer.provideMerge(signing),
    Layer.provide(ringingStorage),
    Layer.provideMerge(OutboxBell.layer)
  )
}
