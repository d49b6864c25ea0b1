/** The response policy in the embedding API, derived from the contract. */
import type { PolicyRow, PolicyRowIn } from "@flyball/contract"
import type { ActOptions, CallOptions } from "./call-options.ts"
import type { Info, Input } from "./plain.ts"

/** A row to be set. `target` is a tier, an org unit or an agent's id, and left out for the scope `default`. */
export interface PolicyRowInput extends Input<typeof PolicyRowIn> {}

/** A row in force. */
export interface PolicyRowInfo extends Info<typeof PolicyRow> {}

/** Response policy: the response to each trigger, the agents that it applies to, and who is notified. */
export interface ResponsePolicyClient {
  get(options?: CallOptions): Promise<ReadonlyArray<PolicyRowInfo>>
  /** Replaces all of it. */
  set(rows: ReadonlyArray<PolicyRowInput>, options?: ActOptions): Promise<ReadonlyArray<PolicyRowInfo>>
}
