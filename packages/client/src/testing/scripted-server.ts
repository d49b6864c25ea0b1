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
    const answer = answerTo(sent, script(sent))
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

/** Completes an answer with the target of its status or the question of its evaluation, unless the script says so. */
export const answerTo = ({ json, path }: SentRequest, answer: Scripted): Scripted => {
  if (typeof answer === "string" || typeof answer.json !== "object" || answer.json === null) return answer
  const [called, query] = path.split("?")
  const { agent_id, client_ref } = json ?? {}
  const about = called!.endsWith("/kill/status")
    ? Object.fromEntries(new URLSearchParams(query))
    : called!.endsWith("/bound/evaluations")
      ? { agent_id, client_ref }
      : {}
  return Array.isArray(answer.json) ? answer : { ...answer, json: { ...about, ...answer.json } }
}
