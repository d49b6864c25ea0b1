/** The answer to bytes that are no HTTP request: there is no response object to write it with. */
import { randomUUID } from "node:crypto"
import type { Problem } from "@flyball/contract/http"

const answers: { readonly [code: string]: readonly [number, string, string, string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "headers_too_large", "The head of the request is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "request_timeout", "The request did not arrive in time."]
}

/** The answer to a request by HTTP 1.1 without a Host header. */
export const hostMissing: Problem = {
  status: 400,
  body: { detail: "A request by HTTP 1.1 names its host in the header Host.", code: "bad_request" },
  headers: { connection: "close" }
}

/** A whole HTTP response for an error of the parser. */
export const badRequestText = (code: string | undefined): string => {
  const [status, reason, name, detail] = answers[code ?? ""] ?? [400, "Bad Request", "bad_request", "This is not an HTTP request that can be read."]
  const body = JSON.stringify({ detail, code: name })
  return [
    `HTTP/1.1 ${status} ${reason}`, "connection: close", "content-type: application/json", `content-length: ${Buffer.byteLength(body)}`,
    "cache-control: no-store", `x-request-id: ${randomUUID()}`, "", body
  ].join("\r\n")
}
