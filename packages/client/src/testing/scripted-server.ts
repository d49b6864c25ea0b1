/** A `fetch` that a test scripts: what it answers is decided request by request. */

/** A request as the script sees it. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  // oxlint-disable-next-line no-explicit-any
  readonly json: any
}

/** A scripted answer, of JSON or other text; `hang`: none until the request is aborted; `cut`: the connection fails. */
export type Scripted =
  | { readonly status: number; readonly json?: unknown; readonly text?: string; readonly headers?: HeadersInit }
  | "hang"
  | "cut"

/** A `fetch` by this script, and the requests that it saw. */
export const scriptedFetch = (script: (sent: SentRequest) => Scripted) => {
  const seen: Array<SentRequest> = []
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input))
    const sent: SentRequest = {
      method: init.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: new Headers(init.headers),
      json: typeof init.body === "string" ? JSON.parse(init.body) : undefined
    }
    seen.push(sent)
    const answer = script(sent)
    if (answer === "cut") throw new TypeError("fetch failed", { cause: new Error("ECONNRESET") })
    if (answer === "hang")
      return new Promise((_, reject) => {
        const abort = (): void => reject(new DOMException("aborted", "AbortError"))
        if (init.signal?.aborted === true) abort()
        init.signal?.addEventListener("abort", abort)
      })
    const hasBody = answer.status !== 304 && answer.json !== undefined
    return new Response(answer.text ?? (hasBody ? JSON.stringify(answer.json) : null), {
      status: answer.status,
      ...(answer.headers === undefined ? {} : { headers: answer.headers })
    })
  }
  return { fetch: fetch as typeof globalThis.fetch, seen }
}
