/** The kill switch in the embedding API, derived from the contract. */
import type {
  KillAckIn,
  KillAckOut,
  KillActivateIn,
  KillActivation,
  KillCertificate,
  KillChanged,
  KillEvent,
  KillEventsQuery,
  KillReleaseIn,
  KillRequestIn,
  KillRequestOut,
  KillStatus
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** The kill state of a target. Spec: document 1 section 2, "Kill status"; decision 0047. */
export interface KillStatusInfo extends Info<typeof KillStatus> {}

/** An activation or a release, the state after it, and the agents that it reaches. */
export interface KillChangedInfo extends Info<typeof KillChanged> {}

/**
 * An activation, with the state of each expected instance. Spec: format 1 section 8, `kill.activated`; decision 0047.
 */
export interface KillActivationInfo extends Info<typeof KillActivation> {}

/** The stop certificate of an activation, and the first and last record that it was made from. */
export interface KillCertificateInfo extends Info<typeof KillCertificate> {}

/** Recorded acknowledgement of a halt by an instance. */
export interface KillAckInfo extends Info<typeof KillAckOut> {}

/** A request for a halt, and the activation that it caused, if any. */
export interface KillRequestInfo extends Info<typeof KillRequestOut> {}

/** An entry of the kill switch's log. Spec: document 1 section 6, kill events; decision 0047. */
export interface KillEventInfo extends Info<typeof KillEvent> {}

/** The kill switch. Spec: document 1 sections 3 and 4, `/bound/kill`; decision 0047. */
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
  /** Says that an instance saw an activation, and that it stopped. The first of each counts. */
  ack(input: Input<typeof KillAckIn>, options?: CallOptions): Promise<KillAckInfo>
  /** Asks that an agent be stopped: the response policy says whether it is. */
  request(input: Input<typeof KillRequestIn>, options?: ActOptions): Promise<KillRequestInfo>
  /** The log of the kill switch, newest first. `before`: the seq of the last one seen. */
  events(filter?: Filter<typeof KillEventsQuery>, options?: CallOptions): Promise<ReadonlyArray<KillEventInfo>>
  /**
   * The state of a target now, and with each change, whichever process makes it. Ends with the loop that reads it, or
   * by the signal. To stop what runs, abort a controller of your own at the first state that is `halted`.
   */
  watch(targetType: "agent" | "model", targetId: string, options?: CallOptions): AsyncIterable<KillStatusInfo>
  activation(id: string, options?: CallOptions): Promise<KillActivationInfo>
  /**
   * The recorded course of an activation: who acknowledged and stopped when, the last side effect of each instance,
   * every refusal. For the pack that proves it, request one of kind range with `from` and `to`.
   */
  certificate(id: string, options?: CallOptions): Promise<KillCertificateInfo>
}
