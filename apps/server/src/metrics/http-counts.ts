/**
 * Counts finished requests. Names of endpoints, methods, statuses and codes are those of our tables, never what a
 * caller sent, so that there are only so many lines.
 *
 * A request costs a few look-ups in small maps; everything else happens when somebody reads.
 */
import type { Family, Sample } from "./exposition.ts"

/** A finished request, as far as it is counted. */
export interface Counted {
  /** Id of the endpoint; null when the request found none. */
  readonly endpoint: string | null
  readonly method: string
  /** 0 when the caller did not get a whole answer. */
  readonly status: number
  /** The word of a refusal; null for successes. */
  readonly code: string | null
  readonly durationMs: number
}

/** The counts of a server. */
export interface HttpCounts {
  readonly count: (request: Counted) => void
  readonly families: () => ReadonlyArray<Family>
}

/**
 * Upper bounds of the durations that are told apart. Unit: milliseconds. Captures take a few; a pack of everything
 * takes long.
 */
const BUCKETS_MS = [5, 25, 100, 500, 2_500, 10_000] as const

/** Methods that are told apart; any other is `other`. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"] as const
const OTHER = methods.length - 1

/** Statuses are below this. */
const STATUSES = 1_000

interface Row {
  /** By method and status in one number. */
  readonly requests: Map<number, number>
  readonly refusals: Map<string, number>
  /** As many as there are bounds, and one for what is above them. */
  readonly buckets: Array<number>
  sumMs: number
}

/** Counts from nothing. */
export const httpCounts = (): HttpCounts => {
  const rows = new Map<string, Row>()
  return {
    count: ({ code, durationMs, endpoint, method, status }) => {
      const name = endpoint ?? "none"
      let row = rows.get(name)
      if (row === undefined)
        rows.set(
          name,
          (row = {
            requests: new Map(),
            refusals: new Map(),
            buckets: Array.from({ length: BUCKETS_MS.length + 1 }, () => 0),
            sumMs: 0
          })
        )
      const known = methods.indexOf(method as (typeof methods)[number])
      add(row.requests, (known < 0 ? OTHER : known) * STATUSES + status)
      if (code !== null) add(row.refusals, code)
      let at = 0
      while (at < BUCKETS_MS.length && durationMs > BUCKETS_MS[at]!) at += 1
      row.buckets[at]! += 1
      row.sumMs += durationMs
    },
    families: () => {
      const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
      return [
        {
          name: "flyball_http_requests_total",
          type: "counter",
          help:
            "Finished requests by endpoint, method and status. Endpoint none: nothing at the path, or " +
            "OPTIONS. Status 0: the caller did not get a whole answer.",
          samples: sorted.flatMap(([endpoint, { requests }]) =>
            [...requests]
              .sort(([a], [b]) => a - b)
              .map(([key, value]) => ({
                labels: { endpoint, method: methods[Math.floor(key / STATUSES)]!, status: String(key % STATUSES) },
                value
              }))
          )
        },
        {
          name: "flyball_http_refusals_total",
          type: "counter",
          help: "Requests that were not done, by endpoint and the code of the answer.",
          samples: sorted.flatMap(([endpoint, { refusals }]) =>
            [...refusals]
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([code, value]) => ({ labels: { endpoint, code }, value }))
          )
        },
        {
          name: "flyball_http_request_duration_seconds",
          type: "histogram",
          help: "Time from the head of a request to the end of its answer.",
          samples: sorted.flatMap(([endpoint, row]) => durations(endpoint, row))
        }
      ]
    }
  }
}

const add = <K>(counts: Map<K, number>, key: K): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

const durations = (endpoint: string, { buckets, sumMs }: Row): ReadonlyArray<Sample> => {
  let below = 0
  const samples: Array<Sample> = buckets.map((count, index) => {
    below += count
    return {
      suffix: "_bucket",
      labels: { endpoint, le: index < BUCKETS_MS.length ? String(BUCKETS_MS[index]! / 1_000) : "+Inf" },
      value: below
    }
  })
  return [
    ...samples,
    { suffix: "_sum", labels: { endpoint }, value: sumMs / 1_000 },
    { suffix: "_count", labels: { endpoint }, value: below }
  ]
}
