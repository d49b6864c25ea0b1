/** Port for requests to agents and models of others. Spec: platform section 8; decision 0020. */
import { Context, type Effect } from "effect"
import type { AttemptError } from "../storage/outbox/outbox.ts"

/** A request to send. */
export interface AgentCall {
  readonly url: string
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
  /** The longest for all of the answer. Unit: milliseconds. */
  readonly timeoutMs: number
  /** Bytes of the answer's body that are read. */
  readonly maxBytes: number
}

/** The result of a request. A failure is one too. */
export interface AgentCalled {
  /** Null where there was no answer. */
  readonly statusCode: number | null
  readonly errorCode: AttemptError | null
  readonly body: Uint8Array
  /** Media type that its answer states, without parameters; left out where it states none. */
  readonly mediaType?: string
  /** True when all of the body is there. */
  readonly isComplete: boolean
  /** True when it has more bytes than are read. */
  readonly isTooLarge: boolean
  /** Milliseconds, by a monotonic clock. */
  readonly durationMs: number
  /** Delay that `Retry-After` requests; null when it requests none. */
  readonly retryAfterMs: number | null
}

/** An answer that is read while it comes. A failure before its headers is a result; one behind them ends the body. */
export interface AgentStream {
  /** Null where there was no answer. */
  readonly statusCode: number | null
  readonly errorCode: AttemptError | null
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string }
  /** Throws where the answer is cut, or nothing of it came for too long. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes its connection. */
  readonly abort: () => void
}

/** Sends requests under the rules of egress, without following redirects. Spec: decision 0020. */
export interface EgressApi {
  readonly call: (request: AgentCall) => Effect.Effect<AgentCalled>
  /**
   * Sends a request whose answer is read while it comes. `timeoutMs`: the longest until its headers are there;
   * `idleMs`: the longest between two pieces of its body.
   */
  readonly stream: (request: Omit<AgentCall, "maxBytes"> & { readonly idleMs: number }) => Effect.Effect<AgentStream>
  /** Describes the problem with a URL by its form and literal address alone; null when there is none. */
  readonly urlProblem: (url: string) => string | null
  /** Describes the problem with headers; null when there is none. No value is shown. */
  readonly headersProblem: (headers: { readonly [name: string]: string }) => string | null
}

/** Service that sends requests to agents and models. `@flyball/node` has one. Spec: decision 0020. */
export class Egress extends Context.Service<Egress, EgressApi>()("flyball/core/Egress") {}
