/** The fault of a trust store. */
import { Data } from "effect"

/**
 * The trust store cannot be read any more, so no card can be verified until it can. The store of the chain is not
 * affected. Spec: decision 0015.
 */
export class TrustStoreUnavailable extends Data.TaggedError("TrustStoreUnavailable")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `The trust store is unavailable: ${this.reason}. Nothing was written.`
  }
}
