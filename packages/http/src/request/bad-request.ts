/** The answer to bytes that are no HTTP request: there is no response object to write it with. */
import { randomUUID } from "node:crypto"
import { codeOf } from "@flyball/contract"
import type { Problem } from "@flyball/contract/http"

interface BadRequest {
  readonly tag: string
  readonly reason: string
  readonly problem: Problem
}

const row = (tag: string, status: number, reason: string, detail: string): BadRequest => ({
  tag,
  reason,
  problem: { status, body: { detail, code: codeOf(tag) }, headers: { connection: "close" } }
})

/** Problems of requests that cannot be parsed, independent of their path. */
export const badRequests = {
  unreadable: row("BadRequest", 400, "Bad Request", "This is not a valid HTTP request."),
  headersTooLarge: row(
    "HeadersTooLarge",
    431,
    "Request Header Fields Too Large",
    "The head of the request is too large."
  ),
  timeout: row("RequestTimeout", 408, "Request Timeout", "The request did not arrive in time.")
} as const

const unreadable = (detail: string): Problem => ({
  ...badRequests.unreadable.problem,
  body: { ...badRequests.unreadable.problem.body, detail }
})

/** The answer to a request by HTTP 1.1 without a Host header. */
export const hostMissing = unreadable("An HTTP/1.1 request needs the header Host.")
/** The answer to a request with more than one. */
export const hostTwice = unreadable("A request has one header Host, and this one has two.")

/** A whole HTTP response for an error of the parser. */
export const badRequestText = (code: string | undefined): string => {
  const { problem, reason } =
    code === "HPE_HEADER_OVERFLOW"
      ? badRequests.headersTooLarge
      : code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? badRequests.timeout
        : badRequests.unreadable
  const body = JSON.stringify(problem.body)
  return [
    `HTTP/1.1 ${problem.status} ${reason}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "cache-control: no-store",
    `x-request-id: ${randomUUID()}`,
    "",
    body
  ].join("\r\n")
}
