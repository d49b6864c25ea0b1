/**
 * Governs the calls of one MCP connection: reads what a `tools/call` does, guards it, and witnesses how it ended.
 *
 * Nothing that comes with a call opens it: neither `_meta` nor the `requestState` of a call with several rounds. Each
 * round is a call of its own, and what the client answered in it is part of the action.
 */
import type { AgentClient } from "../../client.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { EffectFailed, type Running } from "../../enforce/guard.ts"
import type { CaptureTier, Json } from "../../wire.ts"
import { CallCancelled, type HoldOptions, type Holds, makeHolds } from "../holds.ts"
import { witnessedResult } from "../witnessed-result.ts"
import {
  deniedResponse,
  errorResponse,
  failedResponse,
  INVALID_PARAMS,
  isParams,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Params
} from "./json-rpc.ts"

/** The parts of an agent that a connection needs. */
export type GovernedAgent = HoldOptions["agent"] & Pick<AgentClient, "witness">

/** Options for governing calls. */
export interface CallOptions {
  /** The name of the tool server in the record; what a server says of itself is not used. */
  readonly toolServer?: string | undefined
  /** Names what belongs together in the record; random where it is left out. */
  readonly runId?: string | undefined
  /** Time for which a call waits for a person. Default 50,000; at most 55,000. Unit: milliseconds. */
  readonly holdMs?: number | undefined
  /** Capture tier that decisions claim. The service takes `mediated` from a gateway's key alone. */
  readonly capture?: CaptureTier | undefined
  /** Tools that change nothing outside the agent. What a server says of its tools is not believed. */
  readonly readOnly?: ReadonlyArray<string> | undefined
}

/** Result of a governed call. `none`: its caller gave up and wants no answer; `lost`: it began and has no answer. */
export type CallOutcome =
  | { readonly kind: "answer"; readonly response: JsonRpcResponse }
  | { readonly kind: "none" }
  | { readonly kind: "lost"; readonly cause: unknown }

/** Governs calls. */
export interface Calls {
  /** Runs `forward` where the call may run. Never throws. */
  readonly call: (
    request: JsonRpcRequest,
    forward: (running: Running) => Promise<JsonRpcResponse>,
    signal: AbortSignal
  ) => Promise<CallOutcome>
  /** Witnesses the list of tools that the server answered. Never throws. */
  readonly listed: (params: Params | undefined, result: Params) => Promise<void>
}

/** The agent was stopped while a call ran. */
export class CallHalted extends Error {
  override readonly name = "CallHalted"
  constructor(action: string) {
    super(`The agent was halted while the action ${action} ran. Whether it took effect is not known.`)
  }
}

/** Members of a call that are no part of its action. `requestState` is the server's word, carried by the client. */
const besides: ReadonlySet<string> = new Set(["name", "arguments", "_meta", "requestState"])

/** Members that a parser which ignores case could mistake for another. */
const knownMembers = new Set([...besides, "task", "inputResponses"].map((name) => name.toLowerCase()))

/** The member of the judged arguments that holds what else decides about the action. */
const MORE = "mcp:params"

/** Reads a `tools/call` request: its tool and the arguments that are judged; or why it cannot be judged. */
export const readCall = ({
  params
}: JsonRpcRequest):
  | { readonly ok: true; readonly name: string; readonly args: Json }
  | { readonly ok: false; readonly reason: string } => {
  if (params === undefined) return { ok: false, reason: "params is missing" }
  const { arguments: given = {}, name } = params
  if (typeof name !== "string" || name === "") return { ok: false, reason: "name is not a text" }
  if (!isParams(given)) return { ok: false, reason: "arguments is no object" }
  const rest = Object.entries(params).filter(([member]) => !besides.has(member))
  const alike = rest.find(([member]) => besideInOtherCase(member))
  if (alike !== undefined) return { ok: false, reason: `the member ${alike[0]} is not one of a call` }
  if (hasInexactNumber(params)) return { ok: false, reason: "a whole number beyond 2^53 cannot be carried exactly" }
  if (rest.length === 0) return { ok: true, name, args: given as Json }
  if (Object.hasOwn(given, MORE)) return { ok: false, reason: `no argument may be named ${MORE}` }
  // The arguments stay where the envelope's signals are read from.
  return { ok: true, name, args: { ...(given as { [name: string]: Json }), [MORE]: Object.fromEntries(rest) as Json } }
}

const besideInOtherCase = (member: string): boolean =>
  knownMembers.has(member.toLowerCase()) && member !== "task" && member !== "inputResponses"

const hasInexactNumber = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isInteger(value) && !Number.isSafeInteger(value)
    : typeof value === "object" && value !== null && Object.values(value).some(hasInexactNumber)

/** Governs the calls of one connection. */
export const governCalls = (
  agent: GovernedAgent & { readonly reviews?: HoldOptions["reviews"] },
  { capture = "framework_hook", holdMs, readOnly = [], runId = `mcp-${crypto.randomUUID()}`, toolServer }: CallOptions
): Calls => {
  const holds: Holds = makeHolds({ agent, reviews: agent.reviews, holdMs })
  const reads = new Set(readOnly)
  const where = { capture, runId, ...(toolServer === undefined ? {} : { toolServer }) }
  let step = 0

  const call: Calls["call"] = async (request, forward, signal) => {
    let answered: JsonRpcResponse | null = null
    let began = false
    try {
      const read = readCall(request)
      if (!read.ok)
        return { kind: "answer", response: errorResponse(request.id, INVALID_PARAMS, `tools/call: ${read.reason}.`) }
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
          return witnessedResult((answered.result ?? null) as Json)
        },
        signal
      )
      return { kind: "answer", response: answered! }
    } catch (cause) {
      if (answered !== null) return { kind: "answer", response: answered }
      if (cause instanceof CallCancelled) return { kind: "none" }
      if (cause instanceof CallHalted) return { kind: "answer", response: failedResponse(request, cause.message) }
      if (cause instanceof ActionDenied) return { kind: "answer", response: deniedResponse(request, cause) }
      if (began) return { kind: "lost", cause }
      return { kind: "answer", response: failedResponse(request, `The call did not run: ${sentenceOf(cause)}`) }
    }
  }

  return {
    call,
    listed: async (params, result) => {
      const cursor = params?.["cursor"]
      await agent
        .witness({
          action: "tools/list",
          kind: "tool_list",
          status: "ok",
          mode: "observed",
          capture,
          run_id: runId,
          ...(toolServer === undefined ? {} : { tool_server: toolServer }),
          args: typeof cursor === "string" ? { cursor } : {},
          result: witnessedResult(result as Json)
        })
        // Capture fails open: what could not be kept became a gap, and the host was given the problem.
        .catch(() => null)
    }
  }
}

/** The failure that an answer reports; null: the tool did not fail. */
const failureOf = ({ error, result }: JsonRpcResponse): { readonly message: string; readonly result: Json } | null => {
  if (error !== undefined)
    return { message: error.message, result: witnessedResult({ error: error as unknown as Json }) }
  return result?.["isError"] === true
    ? { message: "The tool answered with an error.", result: witnessedResult(result as Json) }
    : null
}

const sentenceOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
