/** The response policy in the embedding API, derived from the contract. */
import type { PolicyRow, PolicyRowIn } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Info, Input } from "../plain.ts"

/** A row to be set. `target` is a tier, an org unit or an agent's id, and left out for the scope `default`. */
export interface PolicyRowInput extends Input<typeof PolicyRowIn> {}

/** A row in force. */
export interface PolicyRowInfo extends Info<typeof PolicyRow> {}

/**
 * Response policy: the response to each trigger, the agents that it applies to, and who is notified. Spec: document 1
 * section 5, item 8; decision 0046.
 */
export interface ResponsePolicyClient {
  get(options?: CallOptions): Promise<ReadonlyArray<PolicyRowInfo>>
  /** The version in force; 0 where none was ever set. */
  version(options?: CallOptions): Promise<number>
  /** Replaces all of it; with `ifVersion` only where that is the version in force. */
  set(
    rows: ReadonlyArray<PolicyRowInput>,
    options?: ActOptions & { readonly ifVersion?: number | undefined }
  ): Promise<ReadonlyArray<PolicyRowInfo>>
}
