/** The adapter for the web platform: a `Request` in, a `Response` out, both bodies as streams. */
import { NotFound } from "@flyball/contract"
import { problemOf } from "@flyball/contract/http"
import { requestId } from "../request/request-id.ts"
import type { Surface } from "../surface.ts"
import { writeProblem } from "../answer/write-answer.ts"
import { type GivenBody, type ReadBody, readBodyAgain } from "./given-body.ts"
import { belowPrefix } from "./prefix.ts"
import { webRequest } from "./web-request.ts"
import { WebResponse } from "./web-response.ts"

/**
 * Answers a request of the web platform.
 *
 * - Fails: rejects with the reason of the request's signal where that aborts before the answer begins.
 */
export const answerFetch = async (surface: Surface, request: Request, given?: GivenBody): Promise<Response> => {
  request.signal.throwIfAborted()
  const response = new WebResponse()
  const url = belowPrefix(request.url, surface.prefix)
  if (url === null) {
    const id = requestId(request.headers.get("x-request-id") ?? undefined)
    writeProblem(response, problemOf(new NotFound())!, { requestId: id, bodiless: request.method === "HEAD" })
    return response.response
  }
  const incoming = await webRequest(request, url, readBefore(request, given))
  const onAbort = (): void => {
    response.destroy(request.signal.reason)
    incoming.destroy()
  }
  request.signal.addEventListener("abort", onAbort, { once: true })
  response.once("close", () => request.signal.removeEventListener("abort", onAbort))
  if (request.signal.aborted) onAbort()
  else surface.serve(incoming, response)
  return response.response.catch((cause: unknown) => {
    // The body may break off before the signal is heard of.
    throw request.signal.aborted ? request.signal.reason : cause
  })
}

const readBefore = (request: Request, given: GivenBody | undefined): ReadBody | null =>
  given?.body !== undefined || request.bodyUsed ? readBodyAgain(given?.body) : null
