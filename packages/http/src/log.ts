/**
 * Log entry of a finished request. No path, query, header (but for the address that a trusted proxy tells) or body:
 * those can hold secrets and people's data.
 */

import type { TokenProblem } from "./request/token-problem.ts"

/** One finished request. */
export interface RequestLog {
  readonly requestId: string
  readonly method: string
  /** The path as the table writes it; null when there is nothing at the path. */
  readonly route: string | null
  /** 0 when the caller did not get a whole answer: it left, or a stream failed. */
  readonly status: number
  readonly durationMs: number
  /** `key_…` for ingest keys, `user` for people, null for nobody. */
  readonly caller: string | null
  /** The client's address, past proxies that are trusted; null when it was gone already. */
  readonly client: string | null
  /** The trace that it belongs to, where spans are made. */
  readonly traceId?: string
  /** Of answers 401 to a token: the check that it fails. The caller is not shown it. */
  readonly tokenProblem?: TokenProblem
  /** Of answers 403: claims of the token that lack values, such as `groups: overage`. */
  readonly incompleteClaims?: ReadonlyArray<string>
  /**
   * Of answers 500 and 503: what happened, for the operator. Null where the server drains, which needs no action.
   */
  readonly problem: string | null
}

/** Takes the log of each request. */
export type LogRequest = (entry: RequestLog) => void
