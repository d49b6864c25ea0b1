/** The server over HTTP, for commands of a person who has signed in. */

/** Requests to a server with a person's token. */
export interface Remote {
  /** Fails: with a sentence, for any answer but a good one. */
  readonly get: (path: string) => Promise<unknown>
  readonly post: (path: string) => Promise<unknown>
}

/** The server's answer is not a good one. */
export class RemoteRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The server at `url`, for the bearer of `token`. */
export const remoteOf = (url: string, token: string): Remote => {
  const ask = async (method: string, path: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: "error",
      headers: { authorization: `Bearer ${token}`, accept: "application/json" },
      signal: AbortSignal.timeout(REQUEST_MS)
    }).catch((cause: unknown) => {
      const { message } = cause instanceof Error && cause.cause instanceof Error ? cause.cause : (cause as Error)
      throw new Error(`${url} cannot be reached: ${message}`)
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok) return answer
    const detail = (answer as { readonly detail?: unknown } | null)?.detail
    throw new RemoteRefused(
      response.status,
      `${url} answers ${response.status}${typeof detail === "string" ? `: ${detail}` : ""}`
    )
  }
  return { get: (path) => ask("GET", path), post: (path) => ask("POST", path) }
}

/** Unit: milliseconds. */
const REQUEST_MS = 30_000
