/** Sends one request to the server and classifies the answer. Never throws and never retries. */
import type { ClientClock } from "../clock.ts"
import type { Json } from "../wire.ts"

/**
 * Result of a request. `body` is undefined where the answer is no JSON, and so none of a Flyball server; `excerpt` is
 * how it begins. `sentAtMs`: monotonic time at which it was sent. `isSlow`: it was given up for the time alone.
 */
export type Answer =
  | {
      readonly kind: "answer"
      readonly status: number
      readonly body: unknown
      readonly excerpt: string
      readonly headers: Headers
      readonly sentAtMs: number
    }
  | {
      readonly kind: "unreachable"
      readonly reason: string
      readonly retryAfterMs: number | null
      readonly isSlow: boolean
    }

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

/** Characters of an answer that a message shows. */
const EXCERPT_CHARS = 200

/**
 * Makes a caller. 429, every 5xx and every redirect count as unreachable: the request may be repeated with the same
 * reference. Redirects are never followed, since the key would go along.
 */
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
          // Workers know no "error".
          redirect: "manual",
          signal: ending.signal
        })
        if (isRedirect(response)) {
          await response.body?.cancel()
          return away(redirected(response))
        }
        if (response.status === 429 || response.status >= 500) {
          await response.body?.cancel()
          return {
            kind: "unreachable",
            reason: `status ${response.status}`,
            retryAfterMs: retryAfterOf(response.headers),
            isSlow: false
          }
        }
        const text = await textOf(response)
        if (text === null) return away("an answer of over 16 MiB")
        return {
          kind: "answer",
          status: response.status,
          body: text === "" ? null : jsonIn(text),
          excerpt: text.slice(0, EXCERPT_CHARS),
          headers: response.headers,
          sentAtMs
        }
      } catch (cause) {
        if (signal?.aborted === true) return away("the request was aborted")
        return ending.signal.aborted ? away(`no answer within ${timeoutMs} ms`, true) : away(reasonOf(cause))
      } finally {
        cancel()
        signal?.removeEventListener("abort", end)
      }
    },
    open: async (path, headers, signal) => {
      try {
        const response = await fetch(`${base}${path}`, { headers: headersOf(headers), redirect: "manual", signal })
        if (response.status === 200 && response.body !== null) return response
        await response.body?.cancel()
        return null
      } catch {
        return null
      }
    }
  }
}

const away = (reason: string, isSlow = false): Answer => ({ kind: "unreachable", reason, retryAfterMs: null, isSlow })

/** A browser hides the status of a redirect that is not followed. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304)

const redirected = ({ headers, status }: Response): string =>
  `a redirect (status ${status}) to ${headers.get("location") ?? "elsewhere"}, which is not followed: ` +
  "the client needs the address of the server itself"

/** The body as text; null where it is longer than what is read. It is read no further than that. */
const textOf = async (response: Response): Promise<string | null> => {
  if (response.body === null) return ""
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel().catch(() => undefined)
      return null
    }
    text += decoder.decode(value, { stream: true })
  }
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `Retry-After` in seconds; a date is not used. Unit: milliseconds, at most an hour. */
const retryAfterOf = (headers: Headers): number | null => {
  const seconds = Number(headers.get("retry-after") ?? "")
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1_000 : null
}

const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message : String(inner)
}
