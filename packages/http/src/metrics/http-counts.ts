/**
 * Counts finished requests in the metrics of the process. Endpoints, methods, statuses and codes are those of our
 * tables, never what a caller sent, which bounds the number of series.
 *
 * A request costs a few look-ups in small maps; series are made at their first count.
 */
import { type Context, Metric } from "effect"
import { type TokenProblem, tokenProblems } from "../request/token-problem.ts"

/** A finished request, as far as it is counted. */
export interface Counted {
  /** Id of the endpoint; null when the request found none. */
  readonly endpoint: string | null
  readonly method: string
  /** 0 when the caller did not get a whole answer. */
  readonly status: number
  /** The code of a refusal; null for successes. */
  readonly code: string | null
  readonly durationMs: number
  /** Of answers 401 to a token: the check that it fails. */
  readonly tokenProblem?: TokenProblem
}

/** Counts one request. */
export type CountRequest = (request: Counted) => void

/** Upper bounds of durations. Unit: seconds. Captures take milliseconds; a pack of everything takes long. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const

/** Methods with a label of their own; any other is `other`. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"] as const
const OTHER = methods.length - 1

/** Statuses are below this. */
const STATUSES = 1_000

interface Row {
  /** By method and status in one number. */
  readonly requests: Map<number, Metric.Counter<number>>
  readonly refusals: Map<string, Metric.Counter<number>>
  readonly durations: Metric.Histogram<number>
}

const rowOf = (endpoint: string): Row => ({
  requests: new Map(),
  refusals: new Map(),
  durations: Metric.histogram("flyball_http_request_duration_seconds", {
    description: "Time from the head of a request to the end of its answer.",
    attributes: { endpoint },
    boundaries: BOUNDS
  })
})

const requestsOf = (endpoint: string, key: number): Metric.Counter<number> =>
  Metric.counter("flyball_http_requests_total", {
    description:
      "Finished requests by endpoint, method and status. Endpoint none: nothing at the path, or OPTIONS. " +
      "Status 0: the caller did not get a whole answer.",
    attributes: { endpoint, method: methods[Math.floor(key / STATUSES)]!, status: String(key % STATUSES) },
    incremental: true
  })

const refusalsOf = (endpoint: string, code: string): Metric.Counter<number> =>
  Metric.counter("flyball_http_refusals_total", {
    description: "Refused requests, by endpoint and the code of the answer.",
    attributes: { endpoint, code },
    incremental: true
  })

const refusedTokens = Object.fromEntries(
  tokenProblems.map((reason) => [
    reason,
    Metric.counter("flyball_http_refused_tokens_total", {
      description: "Tokens that were refused with 401, by the check that they failed.",
      attributes: { reason },
      incremental: true
    })
  ])
) as { readonly [P in TokenProblem]: Metric.Counter<number> }

/** Counts requests in the registry of `context`. */
export const httpCounts = (context: Context.Context<never>): CountRequest => {
  const rows = new Map<string, Row>()
  return ({ code, durationMs, endpoint, method, status, tokenProblem }) => {
    if (tokenProblem !== undefined) refusedTokens[tokenProblem].updateUnsafe(1, context)
    const name = endpoint ?? "none"
    let row = rows.get(name)
    if (row === undefined) rows.set(name, (row = rowOf(name)))
    const known = methods.indexOf(method as (typeof methods)[number])
    const key = (known < 0 ? OTHER : known) * STATUSES + status
    let requests = row.requests.get(key)
    if (requests === undefined) row.requests.set(key, (requests = requestsOf(name, key)))
    requests.updateUnsafe(1, context)
    row.durations.updateUnsafe(durationMs / 1_000, context)
    if (code === null) return
    let refusals = row.refusals.get(code)
    if (refusals === undefined) row.refusals.set(code, (refusals = refusalsOf(name, code)))
    refusals.updateUnsafe(1, context)
  }
}
