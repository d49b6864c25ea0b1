/** The adapter for Node: `(req, res)`, and `next` where a framework has it. For Express, Fastify, Nest, Connect. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { NotFound } from "@flyball/contract"
import { problemOf } from "@flyball/contract/http"
import { requestId } from "../request/request-id.ts"
import type { Surface } from "../surface.ts"
import { writeProblem } from "../answer/write-answer.ts"
import { type GivenBody, type ReadBody, readBodyAgain } from "./given-body.ts"
import { type FrameworkRequest, nodeRequest } from "./node-request.ts"
import { belowPrefix } from "./prefix.ts"

/** Goes on with the host's next handler. */
export type Next = (error?: unknown) => void

/** Answers a request of Node's, or hands it on where it is not the API's. */
export const answerNode = (
  surface: Surface,
  request: IncomingMessage,
  response: ServerResponse,
  then?: Next | GivenBody
): void => {
  // Gone while other handlers of the host were at it: nobody waits for an answer.
  if (response.destroyed || response.writableEnded || (request.destroyed && !request.complete)) return
  const next = typeof then === "function" ? then : undefined
  const given = typeof then === "object" && then !== null ? then : undefined
  const { isOwn, url } = targetOf(surface, request)
  if (next !== undefined && (url === null || (!isOwn && !surface.has(url)))) return next()
  if (url === null)
    return writeProblem(response, problemOf(new NotFound())!, {
      requestId: requestId(request.headers["x-request-id"]),
      bodiless: request.method === "HEAD"
    })
  surface.serve(nodeRequest(request, url, readBefore(request, given)), response)
}

/** The path below the prefix, whether a framework has taken it off or not; and whether all below it is the API's. */
const targetOf = (
  { prefix }: Surface,
  request: FrameworkRequest
): { readonly url: string | null; readonly isOwn: boolean } => {
  const url = request.url ?? "/"
  if (prefix === "") return { url: belowPrefix(url, ""), isOwn: (request.baseUrl ?? "") !== "" }
  return { url: belowPrefix(url, prefix) ?? belowPrefix(request.originalUrl ?? "", prefix), isOwn: true }
}

/** Returns the body that another reader has read; null where none has read it, and where there is none. */
const readBefore = (request: FrameworkRequest, given: GivenBody | undefined): ReadBody | null => {
  const { body, headers, rawBody, readableDidRead } = request
  const isEmpty =
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] === undefined || headers["content-length"] === "0")
  if (given?.body !== undefined) return isEmpty ? null : readBodyAgain(given.body)
  if (isEmpty || !readableDidRead) return null
  return readBodyAgain(rawBody instanceof Uint8Array || typeof rawBody === "string" ? rawBody : body)
}
