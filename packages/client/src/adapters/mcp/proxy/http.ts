/**
 * Governs an MCP server over Streamable HTTP: listens, and passes requests on to one address.
 *
 * Only what was read as a message is sent on, and only to that address; redirects are not followed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { systemClock, type ClientClock } from "../../../clock.ts"
import { EffectUnknown, type Running } from "../../../enforce/guard.ts"
import { CallCancelled } from "../../holds.ts"
import type { Answered } from "../calls.ts"
import { inexactness } from "../json-text.ts"
import {
  CallHalted,
  errorResponse,
  failedResponse,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isGoverned,
  isModern,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  keyOfId,
  LIMIT_EXCEEDED,
  PARSE_ERROR,
  passesProxy,
  readMessage,
  refusals
} from "../json-rpc.ts"
import { limitWaiting, TOO_MANY_WAITING, type Place, type WaitingLimit } from "../waiting-limit.ts"
import { taskNotifications } from "../tasks.ts"
import { drained } from "./drained.ts"
import { jsonOf, MAX_LINE_BYTES, textOf } from "./lines.ts"
import { makeOpenCalls, type OpenCall } from "./open-calls.ts"
import type { Session } from "./session.ts"
import { type ServerEvent, serverEvents } from "./server-events.ts"

/** Options of a proxy over HTTP. */
export interface HttpOptions {
  readonly upstream: string
  readonly session: Session
  readonly log: (line: string) => void
  readonly waitingLimit?: WaitingLimit | undefined
  /** True for a method that passes and makes no tool act. Left out, those of MCP pass. */
  readonly passes?: ((method: string) => boolean) | undefined
  readonly clock?: Pick<ClientClock, "after"> | undefined
}

/** Headers of a request that the server needs. `mcp-*` goes too. */
const requestHeaders = new Set(["accept", "authorization", "last-event-id", "traceparent", "tracestate"])

/** Headers of an answer that the client needs. `mcp-*` goes too. */
const answerHeaders = new Set(["allow", "content-type", "cache-control", "retry-after", "www-authenticate"])

const picked = (headers: Iterable<readonly [string, string]>, names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => names.has(name) || name.startsWith("mcp-")))

/** An answer of the server that is no message: passed on as it is. */
class OtherAnswer extends Error {
  override readonly name = "OtherAnswer"
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array
  constructor(status: number, headers: Record<string, string>, body: Uint8Array) {
    super(`The server answered with status ${status}.`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** The answer to a request as it came; `event`: the one in which it came. */
interface Exchanged extends Answered {
  readonly text: string
  readonly headers: Record<string, string>
  readonly status: number
  readonly event: ServerEvent | null
}

/** A stream that ended without the answer. Ids of its events: with any, the answer may come on a later stream. */
interface StreamEnd {
  readonly eventIds: ReadonlySet<string>
}

/** Makes the listener of a proxy; it is not listening yet. */
export const governHttp = (options: HttpOptions): Server => {
  const { clock = systemClock, log, passes = passesProxy(), waitingLimit = limitWaiting(), session, upstream } = options
  const { pathname } = new URL(upstream)
  const openCalls = makeOpenCalls(clock)
  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      log(cause instanceof Error ? cause.message : String(cause))
      if (!response.headersSent) response.writeHead(502)
      response.end()
    })
  })
  // A call may be held, and may run for long.
  server.requestTimeout = 0
  server.once("close", () => openCalls.end("The proxy ended."))
  return server

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request, pathname)
    if (refusal !== null) return sendText(response, refusal.status, refusal.reason)
    allowOrigin(request, response)
    if (request.method === "OPTIONS") return void response.writeHead(204).end()
    const ending = new AbortController()
    response.on("close", () => ending.abort())
    const headers = headersOf(request)
    if (request.method !== "POST") {
      const passed = await reach(request.method!, headers, undefined, ending.signal)
      return isEventStream(passed) ? passEvents(passed, headers, response) : passOn(passed, response)
    }
    const place = waitingLimit.enter(0)
    if (place === null) return refuseOverLimit(request, response)
    response.on("close", place.leave)
    const body = await bodyOf(request, place)
    if (body === "too long") return sendText(response, 413, "The message is too long.")
    if (body === "too many waiting") return refuseOverLimit(request, response)
    const text = textOf(body)
    const value = jsonOf(text)
    if (value === undefined) return sendJson(response, 400, errorResponse(null, PARSE_ERROR, "The body is not JSON."))
    const read = readMessage(value)
    if (!read.ok) return sendJson(response, 400, errorResponse(read.id, INVALID_REQUEST, `${read.reason}.`))
    const { message } = read
    const mismatch = mismatchOf(message, headers)
    if (mismatch !== null) return sendJson(response, 400, errorResponse(idOf(message), INVALID_REQUEST, mismatch))
    const isExact = inexactness(text!, false) === null
    if (!isResponse(message)) {
      const reason = isExact
        ? isGoverned(message) || passes(message.method)
          ? null
          : refusals.notPassed
        : refusals.inexact
      if (reason !== null) return refuse(message, reason, response)
    }
    if (!isRequest(message)) {
      // Nobody could be answered: a call that asks for no answer is not one.
      if (!isResponse(message) && isGoverned(message)) return sendText(response, 202, "")
      const carried = isExact ? message : errorResponse(idOf(message), INTERNAL_ERROR, refusals.inexact)
      return passOn(await reach("POST", headers, carried, ending.signal), response)
    }
    if (isGoverned(message)) return callTool(message, headers, response, ending.signal)
    return passRequest(message, headers, response, ending.signal)
  }

  /** Refuses a message before anything is judged, and records it. */
  async function refuse(
    message: JsonRpcRequest | JsonRpcNotification,
    reason: string,
    response: ServerResponse
  ): Promise<void> {
    const answer = await session.calls().then(
      (calls) => calls.refused(message, reason),
      () => errorResponse(idOf(message), INVALID_PARAMS, reason)
    )
    return isRequest(message) ? sendJson(response, 200, answer) : sendText(response, 202, "")
  }

  /** Refuses a request over the limit of waiting requests. The rest of its body is read and dropped. */
  function refuseOverLimit(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    response.setHeader("retry-after", "1")
    sendJson(response, 503, errorResponse(null, LIMIT_EXCEEDED, TOO_MANY_WAITING))
  }

  function reach(
    method: string,
    headers: Record<string, string>,
    message: JsonRpcMessage | undefined,
    signal: AbortSignal
  ): Promise<Response> {
    return fetch(upstream, {
      method,
      headers: message === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(message === undefined ? {} : { body: JSON.stringify(message) }),
      redirect: "manual",
      signal
    })
  }

  /** Sends a request, streams what comes before its answer, and resolves with the answer. */
  async function exchange(
    message: JsonRpcRequest,
    headers: Record<string, string>,
    response: ServerResponse,
    signal: AbortSignal
  ): Promise<Exchanged | StreamEnd> {
    const got = await reach("POST", headers, message, signal)
    const answered = picked(got.headers, answerHeaders)
    const isStream = isEventStream(got)
    const isJson = mediaTypeOf(got) === "application/json"
    if (!got.ok || got.body === null || !(isJson || isStream))
      throw new OtherAnswer(got.status, answered, await bytesOf(got))
    if (isJson) {
      const text = textOf(await bytesOf(got))
      const found = answerTo(message, text)
      if (found === null || text === null) throw new Error("The server's message is not an answer to the request.")
      return { response: found, text, headers: answered, status: got.status, event: null }
    }
    response.writeHead(got.status, answered).flushHeaders()
    const eventIds = new Set<string>()
    try {
      for await (const event of serverEvents(got.body)) {
        if (event.id !== null) eventIds.add(event.id)
        const found = answerTo(message, event.data)
        if (found !== null) return { response: found, text: event.data, headers: answered, status: got.status, event }
        await passEvent(event, sessionOf(headers, got), null, response)
      }
    } catch (cause) {
      // From revision 2026-07-28 on, a client that leaves cancels.
      if (eventIds.size === 0 || (isModern(message) && signal.aborted)) throw cause
      log(`a stream broke off; its answer may come on a later one: ${reasonOf(cause)}`)
    }
    return { eventIds }
  }

  /**
   * Passes an event on. One with data that is no message is dropped: what nobody read is not passed. An answer to a
   * request whose stream ended before goes out once it is recorded. `resumed`: the request whose stream this one is.
   */
  async function passEvent(
    event: ServerEvent,
    ofSession: string | null,
    resumed: OpenCall | null,
    response: ServerResponse
  ): Promise<void> {
    let { text } = event
    if (event.data !== "") {
      const read = readMessage(jsonOf(event.data))
      if (!read.ok) return log(`the server sent an event that is no message; it was dropped: ${read.reason}`)
      const { message } = read
      if (isResponse(message)) {
        const open = openCalls.take(message.id, ofSession, resumed)
        const answered = await open?.settle({ response: message, text: event.data })
        if (answered === null) return
        if (answered !== undefined && answered.response !== message) text = eventOf(answered.response, event.id)
      } else if (!isRequest(message) && taskNotifications.has(message.method))
        await session.calls().then(
          (calls) => calls.notified(message, event.data),
          () => undefined
        )
    }
    response.write(text)
    await drained(response)
  }

  async function passEvents(got: Response, headers: Record<string, string>, response: ServerResponse): Promise<void> {
    const ofSession = sessionOf(headers, got)
    const last = headers["last-event-id"]
    const resumed = last === undefined ? null : openCalls.resumedBy(ofSession, last)
    response.writeHead(got.status, picked(got.headers, answerHeaders)).flushHeaders()
    try {
      if (got.body !== null)
        for await (const event of serverEvents(got.body)) {
          if (resumed !== null && event.id !== null) openCalls.goesOn(resumed, event.id)
          await passEvent(event, ofSession, resumed, response)
        }
    } finally {
      response.end()
    }
  }

  async function passRequest(
    message: JsonRpcRequest,
    headers: Record<string, string>,
    response: ServerResponse,
    signal: AbortSignal
  ): Promise<void> {
    try {
      const exchanged = await exchange(message, headers, response, signal)
      if (!("eventIds" in exchanged)) {
        deliver(response, exchanged)
        return await session.calls().then((calls) => calls.answered(message, exchanged))
      }
      response.end()
      if (exchanged.eventIds.size === 0) return
      openCalls.add({
        request: message,
        session: sessionOf(headers),
        eventIds: new Set(exchanged.eventIds),
        settle: async (answered) => {
          const calls = await session.calls().catch(() => null)
          await calls?.answered(message, answered)
          return answered
        },
        giveUp: () => undefined
      })
    } catch (cause) {
      fail(response, message, cause)
    }
  }

  async function callTool(
    message: JsonRpcRequest,
    headers: Record<string, string>,
    response: ServerResponse,
    signal: AbortSignal
  ): Promise<void> {
    let exchanged: Exchanged | null = null
    /** Takes what the client gets, where the stream of the call ended before. */
    let later: ((answered: Answered | null) => void) | null = null
    const calls = await session.calls().catch((cause: unknown) => cause as Error)
    if (calls instanceof Error)
      return finish(response, failedResponse(message, `The call did not run: ${calls.message}`))
    const forward = (running: Running): Promise<Answered> =>
      new Promise<Answered>((resolve, reject) => {
        const own = new AbortController()
        const halt = (): void => {
          reject(new CallHalted(String(message.params?.["name"] ?? message.method), running.signal))
          own.abort()
          // From revision 2026-07-28 on, the end of the request is its cancellation; before, a message is.
          if (!isModern(message))
            cancel("notifications/cancelled", headers, {
              jsonrpc: "2.0",
              method: "notifications/cancelled",
              params: { requestId: message.id, reason: "The agent was halted." }
            })
        }
        running.signal.addEventListener("abort", halt)
        if (running.signal.aborted) return halt()
        const answeredBy = (answered: Answered): void => {
          // A task continues: the end of its request is none of it.
          running.signal.removeEventListener("abort", halt)
          resolve(answered)
        }
        exchange(message, headers, response, AbortSignal.any([signal, own.signal])).then(async (one) => {
          if (!("eventIds" in one)) {
            exchanged = one
            return answeredBy(one)
          }
          if (own.signal.aborted) return
          if (one.eventIds.size === 0) return reject(new Error("The server ended the request without an answer."))
          const outcome = new Promise<Answered | null>((done) => (later = done))
          await running.goesOn()
          openCalls.add({
            request: message,
            session: sessionOf(headers),
            eventIds: new Set(one.eventIds),
            settle: (answered) => {
              answeredBy(answered)
              return outcome
            },
            giveUp: (reason) => reject(new EffectUnknown(reason, { error: reason }))
          })
          response.end()
        }, reject)
      })
    const handOver = (answered: Answered): void => {
      const got = exchanged as Exchanged | null
      if (later !== null) later(answered)
      else if (got !== null && got.response === answered.response) deliver(response, got)
      else finish(response, answered.response)
    }
    const request = (ours: JsonRpcRequest): void => cancel(String(ours.params?.["taskId"]), headers, ours)
    const outcome = await calls.call(message, { forward, accepted: handOver, request }, signal)
    if (outcome.kind === "answer") return handOver(outcome.answered)
    const taker = later as ((answered: Answered | null) => void) | null
    if (taker !== null) return taker(null)
    if (outcome.kind === "none") return void response.end()
    fail(response, message, outcome.cause)
  }

  /** Sends the server a message that ends what runs there. `name`: what `Mcp-Name` says of it, where it is sent. */
  function cancel(name: string, headers: Record<string, string>, message: JsonRpcRequest | JsonRpcNotification): void {
    const routed = {
      ...headers,
      ...("mcp-method" in headers ? { "mcp-method": message.method } : {}),
      ...("mcp-name" in headers ? { "mcp-name": headerValue(name) } : {})
    }
    reach("POST", routed, message, AbortSignal.timeout(5_000))
      .then((got) => got.body?.cancel())
      .catch((cause: unknown) => log(`running requests of the agent could not be cancelled: ${reasonOf(cause)}`))
  }

  function fail(response: ServerResponse, message: JsonRpcRequest, cause: unknown): void {
    if (response.destroyed || cause instanceof CallCancelled) return void response.end()
    if (cause instanceof OtherAnswer && !response.headersSent) {
      const isRedirect = cause.status >= 300 && cause.status < 400
      return void response.writeHead(isRedirect ? 502 : cause.status, cause.headers).end(cause.body)
    }
    log(`the server could not be reached: ${reasonOf(cause)}`)
    finish(response, errorResponse(message.id, INTERNAL_ERROR, "The tool server gave no answer."), 502)
  }
}

/** Ends an answer with the message as the server sent it. */
const deliver = (response: ServerResponse, { event, headers, status, text }: Exchanged): void =>
  void (event === null ? response.writeHead(status, headers).end(text) : response.end(event.text))

/** Ends an answer with a message of ours: as JSON, or in the stream that has begun. */
const finish = (response: ServerResponse, message: JsonRpcResponse, status = 200): void => {
  if (response.headersSent) response.end(eventOf(message, null))
  else sendJson(response, status, message)
}

/** An event with a message of ours. */
const eventOf = (message: JsonRpcMessage, id: string | null): string =>
  `event: message\n${id === null ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`

const sendJson = (response: ServerResponse, status: number, message: JsonRpcMessage): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message))

const sendText = (response: ServerResponse, status: number, reason: string): void =>
  void response.writeHead(status, { "content-type": "text/plain" }).end(reason)

/** Passes an answer on as it comes. */
const passOn = async (got: Response, response: ServerResponse): Promise<void> => {
  const isRedirect = got.status >= 300 && got.status < 400
  response.writeHead(isRedirect ? 502 : got.status, picked(got.headers, answerHeaders)).flushHeaders()
  try {
    if (got.body !== null)
      for await (const piece of got.body) {
        response.write(piece)
        await drained(response)
      }
  } finally {
    response.end()
  }
}

/** The answer to this request, where the text is one. */
const answerTo = ({ id }: JsonRpcRequest, text: string | null): JsonRpcResponse | null => {
  const read = readMessage(jsonOf(text))
  return read.ok && isResponse(read.message) && keyOfId(read.message.id) === keyOfId(id) ? read.message : null
}

const idOf = (message: JsonRpcMessage) => (isRequest(message) ? message.id : null)

/** The session that a client names, or that an answer begins. */
const sessionOf = (headers: Record<string, string>, got?: Response): string | null =>
  headers["mcp-session-id"] ?? got?.headers.get("mcp-session-id") ?? null

const headersOf = (request: IncomingMessage): Record<string, string> =>
  picked(
    Object.entries(request.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    requestHeaders
  )

/**
 * Why a request is refused before it is read. A page that resolved its own name to this machine names another host, and
 * a page of another site says its origin.
 */
const refusalOf = (
  { headers, method, socket, url = "" }: IncomingMessage,
  pathname: string
): { readonly status: number; readonly reason: string } | null => {
  const isLocal = isLoopback(socket.localAddress ?? "")
  const { host = "", origin } = headers
  if (isLocal && !(URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname)))
    return { status: 403, reason: "The Host header names another host." }
  if (origin !== undefined && !(URL.canParse(origin) && isLoopback(new URL(origin).hostname)))
    return { status: 403, reason: "The Origin header names another site." }
  if (url.split("?")[0] !== pathname) return { status: 404, reason: `The MCP address of this proxy is ${pathname}.` }
  if (method === "OPTIONS" && origin !== undefined) return null
  if (method !== "POST" && method !== "GET" && method !== "DELETE")
    return { status: 405, reason: "POST, GET or DELETE." }
  return method === "POST" && mediaOf(headers["content-type"]) !== "application/json"
    ? { status: 415, reason: "The body must be application/json." }
    : null
}

const isLoopback = (name: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?|::ffff:127(\.\d+){3})$/i.test(name)

/** Lets a page of an allowed origin send requests, and read their answers. */
const allowOrigin = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const { origin } = headers
  if (origin === undefined) return
  response.setHeader("access-control-allow-origin", origin)
  response.setHeader("access-control-expose-headers", "mcp-session-id, mcp-protocol-version, www-authenticate")
  response.setHeader("vary", "origin")
  const wanted = headers["access-control-request-headers"]
  if (wanted === undefined && headers["access-control-request-method"] === undefined) return
  response.setHeader("access-control-allow-methods", "POST, GET, DELETE")
  if (wanted !== undefined) response.setHeader("access-control-allow-headers", wanted)
}

/** A media type without its parameters. Spec: RFC 9110 section 8.3.1: case does not count. */
const mediaOf = (value: string | null | undefined): string => (value ?? "").split(";")[0]!.trim().toLowerCase()

const mediaTypeOf = ({ headers }: Response): string => mediaOf(headers.get("content-type"))

const isEventStream = (got: Response): boolean => mediaTypeOf(got) === "text/event-stream"

/** The member of a request that `Mcp-Name` repeats. */
const namedBy: { readonly [method: string]: string } = {
  "tools/call": "name",
  "tasks/update": "taskId",
  "tasks/get": "taskId",
  "tasks/cancel": "taskId"
}

/** Where the headers name another method, tool or task than the body: a server may route by either. */
const mismatchOf = (message: JsonRpcMessage, headers: Record<string, string>): string | null => {
  if (isResponse(message)) return null
  const method = headers["mcp-method"]
  if (method !== undefined && method !== message.method) return "The header Mcp-Method differs from the body."
  const name = headers["mcp-name"]
  const member = Object.hasOwn(namedBy, message.method) ? namedBy[message.method]! : null
  return member !== null && name !== undefined && decoded(name) !== message.params?.[member]
    ? "The header Mcp-Name differs from the body."
    : strangeParam(message, headers)
}

/**
 * A header `Mcp-Param-…` repeats an argument. Which one only the tool's schema says, which is the server's word; so it
 * must repeat some argument that was judged.
 */
const strangeParam = ({ method, params }: JsonRpcRequest | JsonRpcNotification, headers: Record<string, string>) => {
  const given = Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-"))
  if (method !== "tools/call" || given.length === 0) return null
  const judged = scalarsOf(params?.["arguments"])
  const strange = given.find(([, value]) => !judged.has(decoded(value)))
  return strange === undefined ? null : `The header ${strange[0]} repeats no argument of the body.`
}

/** Texts, numbers and booleans at any depth, as a header writes them. */
const scalarsOf = (given: unknown): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [given]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) open.push(inner)
    else found.add(String(value))
  }
  return found
}

/** A header's value; one in Base64 where it has the form `=?base64?…?=`. */
const decoded = (value: string): string => {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? []
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8")
}

/** A header's value of this text: in Base64 where it has other characters than a header may have. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`

/** The body of a request. What is left of one that is too long is read and dropped. */
const bodyOf = async (request: IncomingMessage, place: Place): Promise<Buffer | "too long" | "too many waiting"> => {
  const pieces: Array<Uint8Array> = []
  let bytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > MAX_LINE_BYTES) return "too long"
    if (!place.grow(piece.length)) return "too many waiting"
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The body of an answer. Fails: throws where it is too long. */
const bytesOf = async ({ body }: Response): Promise<Buffer> => {
  const pieces: Array<Uint8Array> = []
  let bytes = 0
  if (body !== null)
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > MAX_LINE_BYTES) throw new RangeError("The answer of the server is too long.")
      pieces.push(piece)
    }
  return Buffer.concat(pieces)
}

const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message : String(inner)
}
