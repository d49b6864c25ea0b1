/** One request over a pinned connection: sent, answered, and read as far as is worth it. */
import type * as http from "node:http"
import type { Attempted } from "@flyball/core"
import { PeerNotVetted, type Pin, type PinnedAgents } from "./pinned-agents.ts"
import type { Target } from "./target.ts"

/** Result of a request. `retryAfter` is the header's value. */
export interface Posted {
  readonly statusCode: number | null
  readonly errorCode: Attempted["errorCode"]
  /** Media type of the answer, without parameters. */
  readonly mediaType?: string
  /** The first bytes of the body, up to `keepBytes`. */
  readonly body: Uint8Array
  /** True when the body ended within what is read of it. */
  readonly isComplete: boolean
  /** True when it has more bytes than are read. */
  readonly isTooLarge: boolean
  readonly retryAfter: string | null
  /** The answer, whose body nobody has read; only where the reading is by its caller. */
  readonly stream?: http.IncomingMessage
}

/** A request to send. */
export interface Post {
  readonly method: string
  readonly target: Target
  readonly pin: Pin
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
  /** Unit: milliseconds until the status and headers must be there. */
  readonly headersWithinMs: number
  /** Null: the caller reads. */
  readonly reading: Reading | null
}

/** How far an answer's body is read. What comes later is dropped with its connection. */
export interface Reading {
  readonly keepBytes: number
  readonly maxBytes: number
  /** Unit: milliseconds after the headers. */
  readonly withinMs: number
}

/** Unit: bytes of status line and headers. */
const MAX_HEADER_BYTES = 16 * 1_024
/** Unit: informational (1xx) responses before the answer. Receivers send one or two; each may have headers. */
const MAX_INFORMATIONAL = 16

/**
 * Sends, and calls `done` once, when the outcome is known and the body was read or dropped. The answer ends it early:
 * its connection is closed then.
 */
export const post = (request: Post, agents: PinnedAgents, done: (posted: Posted) => void): (() => void) => {
  const { body, method, pin, reading, target } = request
  let phase: "connect" | "tls" = "connect"
  const sent = process.getBuiltinModule(target.isTls ? "node:https" : "node:http").request({
    method,
    host: target.host,
    port: target.port,
    path: target.path,
    headers: headerList(request),
    agent: target.isTls ? agents.https : agents.http,
    lookup: pin.lookup,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false
  })
  const timer = setTimeout(() => fail("timeout"), request.headersWithinMs)
  let hasStatus = false
  let isDone = false
  const finish = (posted: Posted): void => {
    if (isDone) return
    isDone = true
    done(posted)
  }
  const fail = (errorCode: Attempted["errorCode"], statusCode: number | null = null): void => {
    clearTimeout(timer)
    // Once there is a status it decides, and the connection may serve another request already.
    if (hasStatus) return
    finish({ statusCode, errorCode, body: new Uint8Array(), isComplete: false, isTooLarge: false, retryAfter: null })
    sent.destroy()
  }
  if (target.isTls)
    sent.on("socket", (socket) => {
      if (!socket.connecting) return
      socket.once("connect", () => {
        phase = "tls"
      })
      socket.once("secureConnect", () => {
        phase = "connect"
      })
    })
  let informational = 0
  // Without a bound, a receiver that never comes to its answer keeps the parser busy until the time is over.
  sent.on("information", () => {
    if (++informational > MAX_INFORMATIONAL) fail("body_too_large")
  })
  // A receiver that wants to speak something else has not taken the event.
  sent.on("upgrade", (response, socket) => (socket.destroy(), fail("http_status", response.statusCode ?? null)))
  sent.on("response", (response) => {
    clearTimeout(timer)
    hasStatus = true
    const statusCode = response.statusCode ?? 0
    const { "keep-alive": kept, "retry-after": retryAfter = null } = response.headers
    if (closesAtOnce(kept)) sent.shouldKeepAlive = false
    if (reading === null)
      return finish({ ...unread, statusCode, errorCode: errorOfStatus(statusCode), retryAfter, stream: response })
    const mediaType = (response.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase()
    readBody(response, reading, (read) =>
      finish({
        statusCode,
        errorCode: errorOfStatus(statusCode),
        ...read,
        retryAfter,
        ...(mediaType === "" ? {} : { mediaType })
      })
    )
  })
  sent.on("error", (error) => fail(errorCodeOf(error, phase)))
  sent.on("close", () => fail("connect"))
  // One character for each byte: text goes out in one write together with the headers, bytes in two.
  sent.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1"), "latin1")
  return () => {
    clearTimeout(timer)
    isDone = true
    sent.destroy()
  }
}

const unread = { body: new Uint8Array(), isComplete: false, isTooLarge: false }

/** As RFC 9110 section 7.2 has it: the port only where it is not the usual one, IPv6 in brackets. */
const hostHeader = ({ host, isTls, port }: Target): string => {
  const name = host.includes(":") ? `[${host}]` : host
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}

/** As a list: an object's would be taken over one by one, and checked twice. */
const headerList = ({ body, headers, target }: Post): ReadonlyArray<string> => {
  const list = ["Host", hostHeader(target)]
  for (const name of Object.keys(headers)) list.push(name, headers[name]!)
  list.push("Content-Length", String(body.length))
  return list
}

/** True when a receiver says that it closes the connection within a second: the next request could meet the end. */
const closesAtOnce = (keepAlive: unknown): boolean =>
  typeof keepAlive === "string" && /^timeout=0*[01](?!\d)/.test(keepAlive)

const errorOfStatus = (status: number): Attempted["errorCode"] =>
  status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? "redirect" : "http_status"

/** `phase` is what was under way: a connection that breaks while TLS is agreed is TLS's trouble. */
const errorCodeOf = (error: Error, phase: "connect" | "tls"): Attempted["errorCode"] => {
  if (error instanceof PeerNotVetted) return "ssrf_blocked"
  const code = "code" in error ? String(error.code) : ""
  // No status was read: the answer is too large before its body begins.
  if (code === "HPE_HEADER_OVERFLOW") return "body_too_large"
  return phase === "tls" || code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_") ? "tls" : "connect"
}

/** The body as far as it is kept: the status has decided already. */
const readBody = (
  response: http.IncomingMessage,
  { keepBytes, maxBytes, withinMs }: Reading,
  taken: (read: Pick<Posted, "body" | "isComplete" | "isTooLarge">) => void
): void => {
  const kept: Array<Uint8Array> = []
  let seen = 0
  let isDone = false
  const done = (): void => {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    const isTooLarge = seen > maxBytes
    const isComplete = response.complete && !isTooLarge
    if (!response.complete) response.destroy()
    taken({ body: Buffer.concat(kept).subarray(0, keepBytes), isComplete, isTooLarge })
  }
  const timer = setTimeout(done, withinMs)
  response.on("data", (chunk: Uint8Array) => {
    if (seen < keepBytes) kept.push(chunk)
    seen += chunk.length
    if (seen > maxBytes) done()
  })
  response.on("end", done)
  response.on("error", done)
  response.on("close", done)
}
