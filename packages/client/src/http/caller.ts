/** Sends one request to the server and classifies the answer. Never throws and never retries. */
import type { ClientClock } from "../clock.ts"
import type { Json } from "../wire.ts"

/** Result of a request. `sentAtMs`: monotonic time at which it was sent. */
export type Answer =
  | {
      readonly kind: "answer"
      readonly status: number
      readonly body: unknown
      readonly headers: Headers
      readonly sentAtMs: number
    }
  | { readonly kind: "unreachable"; readonly reason: string; readonly retryAfterMs: number | null }

/** One request. `timeoutMs` bounds the whole exchange, the body included. */
export interface Sending {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly json?: Json | object
  readonly headers?: { readonly [name: string]: string }
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Sends requests of one key to one server. */
export interface Caller {
  readonly send: (sending: Sending) => Promise<Answer>
  /** Opens a stream and hands over its response; null where there is none. The caller ends it by its signal. */
  readonly open: (
    path: string,
    headers: { readonly [name: string]: string },
    signal: AbortSignal
  ) => Promise<Response | null>
}

/** Options of a caller. */
export interface CallerOptions {
  readonly url: string
  readonly key: string
  readonly fetch: typeof globalThis.fetch
  readonly clock: ClientClock
}

/** Longest answer that is read. Unit: bytes. A server of ours answers with less. */
const MAX_ANSWER_BYTES = 16 * 1_048_576

/** Makes a caller. 429 and every 5xx count as unreachable: the request may be repeated with the same reference. */
export const makeCaller = ({ clock, fetch, key, url }: CallerOptions): Caller => {
  const base = url.replace(/\/+$/, "")
  const headersOf = (extra: { readonly [name: string]: string } = {}): Record<string, string> => ({
    authorization: `Bearer ${key}`,
    accept: "application/json",
    ...extra
  })
  return {
    send: async ({ headers, json, method, path, signal, timeoutMs }) => {
      const ending = new AbortController()
      const end = (): void => ending.abort()
      const cancel = clock.after(timeoutMs, end)
      signal?.addEventListener("abort", end)
      if (signal?.aborted === true) end()
      const sentAtMs = clock.monotonicMs()
      try {
        const response = await fetch(`${base}${path}`, {
          method,
          headers: headersOf({ ...(json === undefined ? {} : { "content-type": "application/json" }), ...headers }),
          ...(json === undefined ? {} : { body: JSON.stringify(json) }),
          redirect: "error",
          signal: ending.signal
        })
        if (response.status === 429 || response.status >= 500) {
          await response.body?.cancel()
          return {
            kind: "unreachable",
            reason: `status ${response.status}`,
            retryAfterMs: retryAfterOf(response.headers)
          }
        }
        const text = await response.text()
        if (text.length > MAX_ANSWER_BYTES) return away("an answer of over 16 MiB")
        return {
          kind: "answer",
          status: response.status,
          body: text === "" ? null : (JSON.parse(text) as unknown),
          headers: response.headers,
          sentAtMs
        }
      } catch (cause) {
        return away(ending.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause))
      } finally {
        cancel()
        signal?.removeEventListener("abort", end)
      }
    },
    open: async (path, headers, signal) => {
      try {
        const response = await fetch(`${base}${path}`, { headers: headersOf(headers), redirect: "error", signal })
        if (response.status === 200 && response.body !== null) return response
        await response.body?.cancel()
        return null
      } catch {
        return null
      }
    }
  }
}

const away = (reason: string): Answer => ({ kind: "unreachable", reason, retryAfterMs: null })

/** `Retry-After` in seconds; a date is not used. Unit: milliseconds, at most an hour. */
const retryAfterOf = (headers: Headers): number | null => {
  const seconds = Number(headers.get("retry-after") ?? "")
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1_000 : null
}

const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message : String(inner)
}
