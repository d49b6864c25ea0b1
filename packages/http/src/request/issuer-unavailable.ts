/**
 * The identity provider cannot be reached. A fault outside the server, like those of storage: nobody is let in
 * meanwhile.
 */
import { Data } from "effect"

/** Tokens cannot be verified: the issuer's keys are not available. `reason` is for the log. */
export class IssuerUnavailable extends Data.TaggedError("IssuerUnavailable")<{ readonly reason: string }> {
  override get message(): string {
    return `The identity provider's keys cannot be fetched: ${this.reason}.`
  }
}
