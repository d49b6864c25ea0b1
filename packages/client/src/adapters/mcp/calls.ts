/**
 * Governs the calls of one MCP connection: reads what a `tools/call` does, guards it, and witnesses how it ended.
 *
 * Nothing that comes with a call opens it: neither `_meta` nor the `requestState` of a call with several rounds. Each
 * round is a call of its own, and what the client answered in it is part of the action.
 */
import { mcpAddressDigest } from "@flyball/evidence"
import type { AgentClient } from "../../client.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { EffectFailed, type Running, sentenceOf } from "../../enforce/guard.ts"
import type { CaptureTier, Json } from "../../wire.ts"
import { CallCancelled, type HoldOptions, type Holds, makeHolds } from "../holds.ts"
import {
  CallHalted,
  deniedResponse,
  errorResponse,
  failedResponse,
  INVALID_PARAMS,
  isGoverned,
  isParams,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  METHOD_NOT_FOUND,
  type Params,
  refusals
} from "./json-rpc.ts"
import { memberText, receivedValue } from "./json-text.ts"
import { makeTasks, taskMethods, taskNotifications, taskOf, taskTextOf, type Tasks } from "./tasks.ts"

/** The parts of an agent that a connection needs. */
export type GovernedAgent = HoldOptions["agent"] & Pick<AgentClient, "witness">

/** Options for governing calls. */
export interface CallOptions {
  /** The name of the tool server in the record; the server's own name for itself is not used. */
  readonly toolServer?: string | undefined
  /**
   * How the tool server is reached, by which its lists of tools are compared: a URL, or a command with its arguments.
   * Left out, it is known by `toolServer`. Only a digest leaves the process.
   */
  readonly serverAddress?: string | ReadonlyArray<string> | undefined
  /** Names what belongs together in the record; random where it is left out. */
  readonly runId?: string | undefined
  /** Time for which a call waits for a person. Default 50,000; at most 55,000. Unit: milliseconds. */
  readonly holdMs?: number | undefined
  /** Capture tier that decisions claim. The service takes `mediated` from a gateway's key alone. */
  readonly capture?: CaptureTier | undefined
  /** Tools that change nothing outside the agent. A server's own annotations are not trusted. */
  readonly readOnly?: ReadonlyArray<string> | undefined
}

/** An answer, and its text as the server sent it; null where it is ours, or came as a value. */
export interface Answered {
  readonly response: JsonRpcResponse
  readonly text: string | null
}

/** Result of a governed call. `none`: its caller gave up and wants no answer; `lost`: it began and has no answer. */
export type CallOutcome =
  | { readonly kind: "answer"; readonly answered: Answered }
  | { readonly kind: "none" }
  | { readonly kind: "lost"; readonly cause: unknown }

/** Sends a call to the server, and its answer back. */
export interface Carrier {
  /** Sends the request, and resolves with its answer. */
  readonly forward: (running: Running) => Promise<Answered>
  /** Hands the client the answer of a call that the server continues with: nothing else is handed to it then. */
  readonly accepted: (answered: Answered) => void
  /** Sends a request of ours, and drops its answer. */
  readonly request: (message: JsonRpcRequest) => void
}

/** Governs calls. */
export interface Calls {
  /** Runs a governed request where it may run. Never throws. */
  readonly call: (request: JsonRpcRequest, carrier: Carrier, signal: AbortSignal) => Promise<CallOutcome>
  /** Takes the server's answer to any other request: lists of tools are witnessed, tasks are followed. Never throws. */
  readonly answered: (request: JsonRpcRequest, answered: Answered) => Promise<void>
  /** Takes a notification of the server, and its text where it came as one. */
  readonly notified: (notification: JsonRpcNotification, text: string | null) => void
  /** Records a message that is refused before anything is judged, and answers the refusal. Never throws. */
  readonly refused: (message: JsonRpcRequest | JsonRpcNotification, reason: string) => Promise<JsonRpcResponse>
  /** Ends what is followed: tasks that did not end are witnessed as unknown. */
  readonly end: (reason: string) => Promise<void>
}

/** Members of a call that are no part of its action. `requestState` is the server's word, carried by the client. */
const besides: ReadonlySet<string> = new Set(["name", "arguments", "_meta", "requestState"])

/** Members that a parser which ignores case could mistake for another. */
const knownMembers = new Set([...besides, "task", "inputResponses"].map((name) => name.toLowerCase()))

/** The member of the judged arguments that holds what else decides about the action. */
const MORE = "mcp:params"

/** The action of a request; or why it cannot be judged. */
type ReadCall =
  | { readonly ok: true; readonly name: string; readonly args: Json }
  | { readonly ok: false; readonly reason: string }

/** Reads a `tools/call` request: its tool and the arguments that are judged; or why it cannot be judged. */
export const readCall = ({ params }: JsonRpcRequest): ReadCall => {
  if (params === undefined) return { ok: false, reason: "params is missing" }
  const { arguments: given = {}, name } = params
  if (typeof name !== "string" || name === "") return { ok: false, reason: "name is not a text" }
  if (!isParams(given)) return { ok: false, reason: "arguments is no object" }
  const rest = Object.entries(params).filter(([member]) => !besides.has(member))
  const alike = rest.find(([member]) => besideInOtherCase(member))
  if (alike !== undefined) return { ok: false, reason: `the member ${alike[0]} is not one of a call` }
  if (hasInexactNumber(params)) return { ok: false, reason: refusals.inexact }
  if (rest.length === 0) return { ok: true, name, args: given as Json }
  if (Object.hasOwn(given, MORE)) return { ok: false, reason: `no argument may be named ${MORE}` }
  // The arguments stay where the envelope's signals are read from.
  return { ok: true, name, args: { ...(given as { [name: string]: Json }), [MORE]: Object.fromEntries(rest) as Json } }
}

/**
 * Reads the input for a running task as an action of the task's tool, with the arguments of its call. A task that is
 * not followed has no known tool: its action is `tasks/update`.
 */
const readUpdate = ({ params = {} }: JsonRpcRequest, tasks: Tasks): ReadCall => {
  const { taskId } = params
  if (typeof taskId !== "string") return { ok: false, reason: "taskId is not a text" }
  const given = Object.entries(params).filter(([member]) => member !== "_meta")
  const alike = given.find(([member]) => !updateMembers.has(member) && updateMembers.has(spelled(member)))
  if (alike !== undefined) return { ok: false, reason: `the member ${alike[0]} is not one of an update` }
  if (hasInexactNumber(params)) return { ok: false, reason: refusals.inexact }
  const { args, name } = tasks.callOf(taskId) ?? { name: "tasks/update", args: {} }
  const before = args as { readonly [name: string]: Json }
  const more = { ...(before[MORE] as object | undefined), ...Object.fromEntries(given) }
  return { ok: true, name, args: { ...before, [MORE]: more as Json } }
}

const updateMembers: ReadonlySet<string> = new Set(["taskId", "inputResponses", "_meta"])

/** A member's name as one of an update is written, whatever its case. */
const spelled = (member: string): string =>
  [...updateMembers].find((name) => name.toLowerCase() === member.toLowerCase()) ?? member

const besideInOtherCase = (member: string): boolean =>
  knownMembers.has(member.toLowerCase()) && member !== "task" && member !== "inputResponses"

const hasInexactNumber = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isInteger(value) && !Number.isSafeInteger(value)
    : typeof value === "object" && value !== null && Object.values(value).some(hasInexactNumber)

/** Governs the calls of one connection. */
export const governCalls = (
  agent: GovernedAgent & { readonly reviews?: HoldOptions["reviews"] },
  {
    capture = "framework_hook",
    holdMs,
    readOnly = [],
    runId = `mcp-${crypto.randomUUID()}`,
    serverAddress,
    toolServer
  }: CallOptions
): Calls => {
  const holds: Holds = makeHolds({ agent, reviews: agent.reviews, holdMs })
  const reads = new Set(readOnly)
  const where = { capture, runId, ...(toolServer === undefined ? {} : { toolServer }) }
  const recordedWhere = { capture, run_id: runId, ...(toolServer === undefined ? {} : { tool_server: toolServer }) }
  const address = addressOf(serverAddress)
  let step = 0
  let instructions: string | undefined

  const tasks = makeTasks()
  const open = new Set<Promise<unknown>>()

  const call: Calls["call"] = async (request, { accepted, forward, request: send }, signal) => {
    let answered: Answered | null = null
    let began = false
    let isTask = false
    try {
      const read = request.method === "tasks/update" ? readUpdate(request, tasks) : readCall(request)
      if (!read.ok) return ours(await refused(request, read.reason))
      const { args, name } = read
      const action = { name, step: ++step, effect: reads.has(name) ? "read" : "side_effect", ...where } as const
      await holds.guard(
        action,
        args,
        async (running) => {
          began = true
          answered = await forward(running)
          const failure = failureOf(answered)
          if (failure !== null) throw new EffectFailed(failure.message, failure.result)
          const task = request.method === "tools/call" ? taskOf(answered.response) : null
          if (task === null) return resultOf(answered) as Json
          isTask = true
          // Followed before the client has the task's name: what the client is answered about it is not missed.
          const cancel = (taskId: string): void => send(cancelTask(request, taskId))
          const of = { name, args, signal: running.signal, cancel }
          const following = tasks.follow(task, of, taskTextOf(answered.response, answered.text))
          following.catch(() => undefined)
          await running.goesOn()
          accepted(answered)
          return following
        },
        signal
      )
      return isTask ? { kind: "none" } : { kind: "answer", answered: answered! }
    } catch (cause) {
      if (isTask) return { kind: "none" }
      if (answered !== null) return { kind: "answer", answered }
      if (cause instanceof CallCancelled) return { kind: "none" }
      if (cause instanceof CallHalted) {
        const { message, reason } = cause
        return ours(failedResponse(request, reason === null ? message : `${message} Why it was halted: ${reason}`))
      }
      if (cause instanceof ActionDenied) return ours(deniedResponse(request, cause))
      if (began) return { kind: "lost", cause }
      return ours(failedResponse(request, `The call did not run: ${sentenceOf(cause)}`))
    }
  }

  const refused: Calls["refused"] = async (message, reason) => {
    const { method, params = {} } = message
    const { _meta: _, arguments: given, name, ...rest } = params
    await agent
      .witness({
        action: isGoverned(message) && typeof name === "string" && name !== "" ? name : method,
        kind: isGoverned(message) ? "tool_call" : "other",
        status: "denied",
        mode: "enforced",
        decided_by: "fail_closed",
        ...recordedWhere,
        labels: { rule: "@fail_closed:protocol", method, reason },
        args: (reason === refusals.inexact ? { withheld: "inexact_number" } : (given ?? rest)) as Json
      })
      .catch(() => null)
    const code = reason === refusals.notPassed ? METHOD_NOT_FOUND : INVALID_PARAMS
    return errorResponse("id" in message ? message.id : null, code, `${method}: ${reason}.`)
  }

  const listed = async (params: Params | undefined, result: unknown): Promise<void> => {
    const cursor = params?.["cursor"]
    await agent
      .witness({
        action: "tools/list",
        kind: "tool_list",
        status: "ok",
        mode: "observed",
        ...recordedWhere,
        labels: { mcp: { ...address, ...(instructions === undefined ? {} : { instructions }) } },
        args: typeof cursor === "string" ? { cursor } : {},
        result: result as Json
      })
      // Capture fails open: what could not be kept became a gap, and the host was given the problem.
      .catch(() => null)
  }

  return {
    call: (request, carrier, signal) => {
      const one = call(request, carrier, signal).finally(() => open.delete(one))
      open.add(one)
      return one
    },
    answered: async (request, answered) => {
      if (taskMethods.has(request.method)) tasks.answered(request, answered.response, answered.text)
      if (request.method === "initialize") {
        const said = answered.response.result?.["instructions"]
        instructions = typeof said === "string" ? said : undefined
      }
      if (request.method === "tools/list" && answered.response.result !== undefined)
        await listed(request.params, resultOf(answered))
    },
    notified: (notification, text) => {
      if (taskNotifications.has(notification.method)) tasks.notified(notification, text)
    },
    refused,
    end: async (reason) => {
      tasks.end(reason)
      await Promise.all(open)
    }
  }
}

/** How a server is reached, as the label `mcp` says it. */
const addressOf = (address: CallOptions["serverAddress"]): { readonly [name: string]: Json } => {
  if (address === undefined) return {}
  if (typeof address !== "string") return { transport: "stdio", address_digest: `sha256:${mcpAddressDigest(address)}` }
  const { origin, pathname } = new URL(address)
  return { transport: "http", address_digest: `sha256:${mcpAddressDigest(origin + pathname)}` }
}

/** The request that ends a task, on behalf of the client that began it. */
const cancelTask = ({ params }: JsonRpcRequest, taskId: string): JsonRpcRequest => {
  const { progressToken: _, ...meta } = isParams(params?.["_meta"]) ? params["_meta"] : {}
  return {
    jsonrpc: "2.0",
    id: `flyball-${crypto.randomUUID()}`,
    method: "tasks/cancel",
    params: { taskId, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }
  }
}

const ours = (response: JsonRpcResponse): CallOutcome => ({ kind: "answer", answered: { response, text: null } })

/** The result of an answer as it is recorded. */
const resultOf = ({ response, text }: Answered): unknown =>
  text === null ? (response.result ?? null) : receivedValue(memberText(text, "result") ?? "null")

/** The failure that an answer reports; null: the tool did not fail. */
const failureOf = (answered: Answered): { readonly message: string; readonly result: Json } | null => {
  const { error, result } = answered.response
  if (error !== undefined) {
    const text = memberText(answered.text, "error")
    return { message: error.message, result: { error: (text === null ? error : receivedValue(text)) as Json } }
  }
  return result?.["isError"] === true
    ? { message: "The tool answered with an error.", result: resultOf(answered) as Json }
    : null
}
