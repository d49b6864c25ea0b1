/** Messages of MCP as far as a mediator reads them, and the answers that it gives itself. Pure. */
import type { ActionDenied } from "../../enforce/denied.ts"
import { AgentHalted } from "../../kill/kill-view.ts"

/** Names a request on its connection. */
export type RequestId = string | number

/** A request. */
export interface JsonRpcRequest {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly method: string
  readonly params?: Params | undefined
}

/** A notification. */
export interface JsonRpcNotification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: Params | undefined
}

/** An answer. Exactly one of `result` and `error` is there. */
export interface JsonRpcResponse {
  readonly jsonrpc: "2.0"
  readonly id: RequestId | null
  readonly result?: Params | undefined
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined
}

/** Any message of a connection. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

/** Members of a request, or of a result. */
export interface Params {
  readonly [name: string]: unknown
}

/** JSON-RPC code: the message is not JSON. */
export const PARSE_ERROR = -32_700

/** JSON-RPC code: the message is not a valid request. */
export const INVALID_REQUEST = -32_600

/** JSON-RPC code: there is no such method. */
export const METHOD_NOT_FOUND = -32_601

/** JSON-RPC code: the parameters are not valid. */
export const INVALID_PARAMS = -32_602

/** JSON-RPC code: the receiver failed. */
export const INTERNAL_ERROR = -32_603

/** JSON-RPC code of this adapter, in the range for servers: too many requests wait. */
export const LIMIT_EXCEEDED = -32_005

/** JSON-RPC code of this adapter, in the range for servers: the agent's rules refuse the request. */
export const REFUSED = -32_010

/** Where `_meta` of a request says its protocol version: in revisions from 2026-07-28 on. */
const VERSION_META = "io.modelcontextprotocol/protocolVersion"

/** True for a message that expects an answer. */
export const isRequest = (message: JsonRpcMessage): message is JsonRpcRequest => "method" in message && "id" in message

/** True for a message that answers a request. */
export const isResponse = (message: JsonRpcMessage): message is JsonRpcResponse => !("method" in message)

/** A map's key of an identifier: the number 1 and the text "1" are two. */
export const keyOfId = (id: RequestId | null): string => JSON.stringify(id)

/** Result of reading a value as a message. `id` is the request's, where it could be read. */
export type ReadMessage =
  | { readonly ok: true; readonly message: JsonRpcMessage }
  | { readonly ok: false; readonly id: RequestId | null; readonly reason: string }

/**
 * Reads a value as a message, and leaves out every member that JSON-RPC does not have.
 *
 * Parsers differ on names that differ in case only: one that ignores case would read `Method` as the method. So what is
 * passed on is what was judged, and nothing else.
 */
export const readMessage = (value: unknown): ReadMessage => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused(null, "no JSON object")
  const { error, id, jsonrpc, method, params, result } = value as Params
  const own = (name: string): boolean => Object.hasOwn(value, name) && (value as Params)[name] !== undefined
  const isId = typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id))
  const knownId = isId ? id : null
  if (jsonrpc !== "2.0") return refused(knownId, 'jsonrpc is not "2.0"')
  if (own("id") && !isId && (own("method") || id !== null))
    return refused(null, "id is neither a text nor a whole number")
  if (own("method")) {
    if (typeof method !== "string") return refused(knownId, "method is not a text")
    if (!isPlainMethod(method)) return refused(knownId, "method is spelled as no method of MCP is")
    if (own("result") || own("error")) return refused(knownId, "a request has no result")
    if (own("params") && !isParams(params)) return refused(knownId, "params is no object")
    const rest = { method, ...(own("params") ? { params: params as Params } : {}) }
    return { ok: true, message: isId ? { jsonrpc, id, ...rest } : { jsonrpc, ...rest } }
  }
  if (own("result") === own("error")) return refused(knownId, "neither a request nor an answer")
  if (own("result"))
    return isParams(result) && isId
      ? { ok: true, message: { jsonrpc, id, result } }
      : refused(knownId, "result is no object")
  return isParams(error) && typeof error["code"] === "number" && typeof error["message"] === "string"
    ? { ok: true, message: { jsonrpc, id: knownId, error: error as { code: number; message: string } } }
    : refused(knownId, "error is not an error")
}

/**
 * True for a method that can be read in one way only. A server that ignores case, blanks or forms of Unicode would take
 * another spelling for `tools/call`.
 */
const isPlainMethod = (method: string): boolean =>
  /^[\w./$-]+$/.test(method) && (isGoverned({ method }) || !isGoverned({ method: method.toLowerCase() }))

const refused = (id: RequestId | null, reason: string): ReadMessage => ({ ok: false, id, reason })

/** True for an object that is no list. */
export const isParams = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An answer with an error. */
export const errorResponse = (
  id: RequestId | null,
  code: number,
  message: string,
  data?: unknown
): JsonRpcResponse => ({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } })

/** The agent was stopped while a call ran. */
export class CallHalted extends Error {
  override readonly name = "CallHalted"
  /** The person's reason for the halt, for the model: the message is recorded, and leaves it out. */
  readonly reason: string | null
  constructor(action: string, { reason }: AbortSignal) {
    super(`The agent was halted while the action ${action} ran. Whether it took effect is not known.`)
    this.reason = reason instanceof AgentHalted ? reason.reason : null
  }
}

/** True for a request of a revision in which a result says its type. */
export const isModern = ({ params }: JsonRpcRequest): boolean => {
  const meta = params?.["_meta"]
  return isParams(meta) && typeof meta[VERSION_META] === "string"
}

/** Key of `_meta` under which a refused call carries its denial, for programs. */
export const DENIED_META = "flyball/denied"

/** The result of a call that did not run: a tool's error, so that the model reads the reason. */
export const deniedResponse = (request: JsonRpcRequest, denied: ActionDenied): JsonRpcResponse =>
  failedResponse(request, denied.message, {
    [DENIED_META]: {
      outcome: denied.outcome,
      rule: denied.rule,
      reason: denied.reason,
      review_id: denied.reviewId
    }
  })

/** The result of a call that failed, in a sentence for the model. An input for a task has no such result: an error. */
export const failedResponse = (request: JsonRpcRequest, sentence: string, meta?: Params): JsonRpcResponse =>
  request.method === "tools/call"
    ? {
        jsonrpc: "2.0",
        id: request.id,
        result: {
          content: [{ type: "text", text: sentence }],
          isError: true,
          ...(isModern(request) ? { resultType: "complete" } : {}),
          ...(meta === undefined ? {} : { _meta: meta })
        }
      }
    : errorResponse(request.id, REFUSED, sentence, meta)

/**
 * True for a request that makes a tool act: a call, or the input that a running task of it waits for (`tasks/update` of
 * the extension `io.modelcontextprotocol/tasks`).
 */
export const isGoverned = ({ method }: { readonly method: string }): boolean =>
  method === "tools/call" || method === "tasks/update"

/**
 * Methods that a client may send beside calls: those of MCP up to revision 2026-07-28, which make no tool act. One that
 * is not known here could be another way to act.
 */
const passing: ReadonlySet<string> = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "notifications/cancelled",
  "notifications/initialized",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tasks/status",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tools/list"
])

/** Builds the test of methods that pass a proxy and make no tool act. `more`: others that its operator lets pass. */
export const passesProxy =
  (more: ReadonlyArray<string> = []) =>
  (method: string): boolean =>
    passing.has(method) || more.includes(method)

/** Why a message is refused before anything is judged. */
export const refusals = {
  inexact: "a whole number beyond 2^53, or one of more digits than a double has, cannot be carried exactly",
  notPassed: "this proxy passes no such method; its operator can let it pass"
} as const
