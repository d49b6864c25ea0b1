/** Sends spans to a collector by OTLP/HTTP with JSON. */
import { Data, Effect } from "effect"
import { type EndedSpan, otlpJson, type Resource } from "./span.ts"

/**
 * A collector did not take spans. `again`: it may take them later. The reason is for the log; it names no address and
 * no header.
 */
export class SpansRefused extends Data.TaggedError("SpansRefused")<{
  readonly reason: string
  readonly again: boolean
}> {}

/** Sends a batch. */
export type SendSpans = (spans: ReadonlyArray<EndedSpan>) => Effect.Effect<void, SpansRefused>

/** The address of a collector, and the headers it requires. */
export interface Collector {
  /** Without the path of a signal: `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** They may hold a token: they go to the collector and nowhere else. */
  readonly headers: { readonly [name: string]: string }
}

/** Statuses after which OTLP lets a client try again. */
const later: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Sends to this collector. A redirect is a refusal: the headers are meant for the address that was set. */
export const sendTo = ({ endpoint, headers }: Collector, resource: Resource): SendSpans => {
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`
  return (spans) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: otlpJson(resource, spans),
          redirect: "manual",
          signal
        })
        // What it says beside the status is not read: it may be of any length.
        await response.body?.cancel()
        return response.status
      },
      catch: (cause) => new SpansRefused({ reason: `the collector cannot be reached: ${wordOf(cause)}`, again: true })
    }).pipe(
      Effect.flatMap((status) =>
        status >= 200 && status < 300
          ? Effect.void
          : Effect.fail(new SpansRefused({ reason: `the collector answered ${status}`, again: later.has(status) }))
      )
    )
}

/** The system's word for what went wrong, such as ECONNREFUSED. */
const wordOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error
    ? "code" in inner && typeof inner.code === "string"
      ? inner.code
      : inner.name
    : "an unknown failure"
}
