/** The kill switch in the embedding API, derived from the contract. */
import type { KillActivateIn, KillActivation, KillChanged, KillReleaseIn, KillStatus } from "@flyball/contract"
import type { ActOptions, CallOptions } from "./call-options.ts"
import type { Info, Input } from "./plain.ts"

/** The kill state of a target. */
export interface KillStatusInfo extends Info<typeof KillStatus> {}

/** An activation or a release, the state after it, and whom it reaches. */
export interface KillChangedInfo extends Info<typeof KillChanged> {}

/** An activation, and the truth about stopping. */
export interface KillActivationInfo extends Info<typeof KillActivation> {}

/** The kill switch. */
export interface KillClient {
  /** Stops an agent, or every agent that uses a model. With `dryRun` it answers whom it would reach. */
  activate(
    input: Input<typeof KillActivateIn>,
    options?: ActOptions & { readonly dryRun?: boolean | undefined }
  ): Promise<KillChangedInfo>
  /** Releases one activation. A real halt of an agent at L3 or above needs another writer than its activator's. */
  release(input: Input<typeof KillReleaseIn>, options?: ActOptions): Promise<KillChangedInfo>
  /** The state of a target now. With a nonce it is signed. */
  status(
    targetType: "agent" | "model",
    targetId: string,
    options?: CallOptions & { readonly nonce?: string | undefined }
  ): Promise<KillStatusInfo>
  activation(id: string, options?: CallOptions): Promise<KillActivationInfo>
}
