/**
 * Governs an agent of the Claude Agent SDK by its hooks: no tool begins without a verdict, and each is witnessed once.
 *
 * The shapes below are what the SDK's own types have of them; the SDK itself is not imported.
 */
import type { AgentClient } from "../../client.ts"
import { isUnchanged } from "../../enforce/arguments.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { type Action, EffectFailed, type Running, sentenceOf } from "../../enforce/guard.ts"
import type { Json } from "../../wire.ts"
import { type HoldOptions, HOLD_MS, makeHolds } from "../holds.ts"

/** Input of a hook: the members that are read. */
export interface HookInput {
  readonly hook_event_name: string
  readonly session_id: string
  /** Names the sub-agent whose call it is. */
  readonly agent_id?: string
  readonly tool_name?: string
  readonly tool_input?: unknown
  readonly tool_use_id?: string
  readonly tool_response?: unknown
  readonly error?: string
  readonly mcp_server?: { readonly name: string; readonly source: string }
  readonly tool_calls?: ReadonlyArray<{ readonly tool_use_id: string }>
}

/** Output of a hook. */
export interface HookOutput {
  readonly continue?: boolean
  readonly stopReason?: string
  readonly hookSpecificOutput?: {
    readonly hookEventName: "PreToolUse"
    readonly permissionDecision?: "allow" | "deny" | "defer"
    readonly permissionDecisionReason?: string
    readonly updatedInput?: { [name: string]: unknown }
  }
}

/** A hook of the Claude Agent SDK. */
export type Hook = (
  // oxlint-disable-next-line no-explicit-any
  input: any,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal }
) => Promise<HookOutput>

/** Hooks for one event. `timeout` in seconds. */
export interface HookMatcher {
  hooks: Array<Hook>
  timeout: number
  onFailure: "block"
}

/** Events that the adapter hooks into. */
export type HookedEvent = "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "Stop" | "SessionEnd"

/** Options of a governed agent. */
export interface ClaudeOptions {
  /** Time for which a call waits for a person. Default 50,000; at most 55,000. Unit: milliseconds. */
  readonly holdMs?: number | undefined
  /**
   * Answer to a call that is still pending then. `defer` (default): the run ends with `tool_deferred`, and goes
   * on with that call when its session is resumed. `deny`: the model reads that it is pending, and may call again.
   */
  readonly whenPending?: "defer" | "deny" | undefined
  /** Tools that change nothing outside the agent, by the SDK's names. */
  readonly readOnly?: ReadonlyArray<string> | undefined
  /** The name of a tool as the envelope has it; the SDK's name (`mcp__shop__refund`) where it is left out. */
  readonly nameOf?: ((tool: string) => string) | undefined
}

/** Options for `query`: spread them over your own. A halt aborts the run by the controller. */
export interface ClaudeGovernance {
  readonly hooks: { [Event in HookedEvent]: Array<HookMatcher> }
  readonly abortController: AbortController
}

/** A call that runs. */
interface Open {
  readonly sessionId: string
  /** The sub-agent; undefined for the main thread. */
  readonly subAgentId: string | undefined
  readonly args: Json
  readonly ok: (result: unknown) => void
  readonly fail: (cause: Error) => void
}

/** Time that a hook has beyond the hold, for the verdict itself. Unit: seconds. */
const GRACE_S = 15

/**
 * Makes the options for one run of `query`.
 *
 * A permitted call still goes through the permission rules of the SDK: the hooks only restrict. A hook that throws or
 * does not answer in time blocks the call.
 *
 * - Fails: `RangeError` where `holdMs` is above 55,000.
 */
export const governClaude = (
  agent: AgentClient & { readonly reviews?: HoldOptions["reviews"] },
  { holdMs = HOLD_MS, nameOf = (tool) => tool, readOnly = [], whenPending = "defer" }: ClaudeOptions = {}
): ClaudeGovernance => {
  const holds = makeHolds({ agent, reviews: agent.reviews, holdMs })
  const reads = new Set(readOnly)
  const open = new Map<string, Open>()
  const abortController = new AbortController()
  abortController.signal.addEventListener("abort", () => {
    for (const one of open.values())
      one.fail(new Error("The run was aborted. Whether the tool took effect is not known."))
  })

  const actionOf = (input: HookInput): Action => ({
    name: nameOf(input.tool_name!),
    runId: input.session_id,
    toolServer: serverOf(input),
    effect: reads.has(input.tool_name!) ? "read" : "side_effect",
    capture: "framework_hook"
  })

  const before = (input: HookInput, signal: AbortSignal): Promise<HookOutput> =>
    new Promise((answer) => {
      const id = input.tool_use_id!
      let own: Open | null = null
      const run = ({ args, signal: halted }: Pick<Running, "args" | "signal">): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const halt = (): void => {
            reject(new Error("The agent was halted while the tool ran. Whether it took effect is not known."))
            abortController.abort()
          }
          open.get(id)?.fail(new Error("The call began again before it ended."))
          own = { sessionId: input.session_id, subAgentId: input.agent_id, args, ok: resolve, fail: reject }
          open.set(id, own)
          halted.addEventListener("abort", halt)
          if (halted.aborted) return halt()
          answer(permission(args))
        })
      Promise.resolve()
        .then(() => holds.guard(actionOf(input), inputOf(input.tool_input), run, signal))
        .catch((cause: unknown) => answer(refusalOf(cause)))
        // A call that began again under this id is open still.
        .finally(() => open.get(id) === own && open.delete(id))
    })

  const refusalOf = (cause: unknown): HookOutput => {
    const isPending = cause instanceof ActionDenied && cause.outcome === "require_review"
    const isHalt = cause instanceof ActionDenied && cause.outcome === "halt"
    const reason = sentenceOf(cause)
    return {
      ...(isHalt ? { continue: false, stopReason: reason } : {}),
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: isPending && whenPending === "defer" ? "defer" : "deny",
        permissionDecisionReason: reason
      }
    }
  }

  /**
   * Settles a call. One that no verdict let begin was not stopped by a hook, and the record says so. So it is with one
   * that ran with other arguments than were judged: a hook that ends later, or `canUseTool`, can change them.
   */
  const after = async (input: HookInput, end: (one: Open) => void, status: "ok" | "error"): Promise<HookOutput> => {
    const one = open.get(input.tool_use_id!)
    const isOther = one !== undefined && !isUnchanged(inputOf(input.tool_input), one.args)
    if (one !== undefined && !isOther) {
      end(one)
      return {}
    }
    one?.fail(new EffectFailed(OTHER_ARGUMENTS, { not_run: OTHER_ARGUMENTS }))
    await agent
      .witness({
        action: nameOf(input.tool_name!),
        kind: "tool_call",
        status,
        mode: "observed",
        capture: "framework_hook",
        run_id: input.session_id,
        tool_server: serverOf(input),
        labels: { ungoverned: true },
        args: inputOf(input.tool_input),
        result: resultOf(input) as Json
      })
      // Capture fails open: what could not be kept became a gap, and the host was given the problem.
      .catch(() => null)
    return isOther ? { continue: false, stopReason: `${nameOf(input.tool_name!)}: ${OTHER_ARGUMENTS}` } : {}
  }

  /** Calls that are over without an answer of their own: the SDK's permission rules kept them from running. */
  const close = (which: (id: string, one: Open) => boolean): HookOutput => {
    for (const [id, one] of open)
      if (which(id, one))
        one.fail(
          new EffectFailed("The tool did not run.", { not_run: "the SDK ended the call without running the tool" })
        )
    return {}
  }

  const matcher = (hook: (input: HookInput, signal: AbortSignal) => Promise<HookOutput> | HookOutput): HookMatcher => ({
    hooks: [async (input: HookInput, _, { signal }) => hook(input, signal)],
    timeout: Math.ceil(holdMs / 1_000) + GRACE_S,
    onFailure: "block"
  })
  return {
    abortController,
    hooks: {
      PreToolUse: [matcher(before)],
      PostToolUse: [matcher((input) => after(input, (one) => one.ok(resultOf(input)), "ok"))],
      PostToolUseFailure: [
        matcher((input) => {
          const sentence = input.error ?? "The tool failed."
          return after(input, (one) => one.fail(new EffectFailed(sentence, resultOf(input))), "error")
        })
      ],
      PostToolBatch: [
        matcher((input) => {
          const ids = new Set((input.tool_calls ?? []).map(({ tool_use_id }) => tool_use_id))
          return close((id) => ids.has(id))
        })
      ],
      // A sub-agent may work on in the background when the main thread stops.
      Stop: [matcher((input) => close((_, one) => isOf(one, input) && one.subAgentId === input.agent_id))],
      SessionEnd: [matcher((input) => close((_, one) => isOf(one, input)))]
    }
  }
}

const OTHER_ARGUMENTS = "the tool ran with other arguments than were judged"

/**
 * Permits the call. The input is stated, so that the tool runs with the input that was judged, whatever an earlier hook
 * returned.
 */
const permission = (args: Json): HookOutput =>
  typeof args === "object" && args !== null && !Array.isArray(args)
    ? { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { ...args } } }
    : {}

const isOf = (one: Open, input: HookInput): boolean => one.sessionId === input.session_id

/** Where a tool comes from. The name of a server is free text; its source is not. */
const serverOf = ({ mcp_server: server }: HookInput): string =>
  (server === undefined ? "claude-code" : `mcp:${server.source}:${server.name}`).slice(0, 200)

const resultOf = ({ error, tool_response: response }: HookInput): unknown =>
  error === undefined ? (response ?? null) : { error }

/** The input as JSON; one that has no such form as it is, which the guard denies. */
const inputOf = (value: unknown): Json => {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as Json
  } catch {
    return value as Json
  }
}
