/**
 * Guards the actions of an agent in the governor's own process: verdict, durable intent, effect, outcome.
 *
 * Nothing here can be stale or out of reach: the evaluation is a commit in the same store, and it reads the halts. What
 * an agent needs beside it over a network (spool, cached envelopes, age of the status) is `@flyball/client`.
 */
import { redactMembers } from "@flyball/envelope"
import { GovernorError } from "../../foundation/governor-error.ts"
import { newId } from "../../foundation/ids.ts"
import { Evaluations } from "../../verdicts/evaluations/service.ts"
import type { Governor } from "../governor.ts"
import type { Client } from "./client.ts"
import { takenDownOrRefused } from "./input.ts"
import type { AgentClient, AgentClientOptions, GuardedAction } from "./types/agent-client-types.ts"
import type { EvaluationInfo, KillStatusInfo } from "@flyball/contract"

/** The acts of a guard through the governor, each as a host could do it. */
type Acts = Pick<Governor, "agents" | "evaluate" | "witness" | "settle" | "reviews" | "kill">

/** The same after a restart, so that an intent keeps its content. */
const OWN_INSTANCE = "in-process"

/** Opens the client of one agent. `ended` ends the watch of its halts. */
export const openAgentClient = async (
  { run }: Client,
  acts: Acts,
  options: AgentClientOptions,
  ended: AbortSignal
): Promise<AgentClient> => {
  // Plain JavaScript may pass nothing: the registration then says what is missing.
  const { agent: given, instanceId = OWN_INSTANCE } = options ?? {}
  const agent = typeof given === "string" ? await acts.agents.get(given) : (await acts.agents.register(given)).agent
  const halts = followHalts(acts, agent.id, instanceId, ended)

  /** Names of the signals that the envelopes in force take from a caller. */
  const declared = async (): Promise<ReadonlyArray<string>> => {
    const { answer } = await run(Evaluations.use((evaluations) => evaluations.inForce(agent.id)))
    return answer.layers.flatMap((layer) => layer.caller_signals)
  }

  const verdictOf = async (action: GuardedAction, ref: string, args: unknown): Promise<EvaluationInfo> => {
    const { name, run_id } = action
    const signals = action.signals ?? pick(await declared(), { ...args!, tool: name })
    const question = { agent_id: agent.id, instance_id: instanceId, action: name, signals, args, run_id }
    const first = await acts.evaluate({ ...question, client_ref: ref })
    if (first.outcome !== "require_review" || first.review_id === null) return first
    const review = await acts.reviews.wait(first.review_id, action.hold_ms ?? 0)
    return review.status === "resolved" && review.resolution === "approve"
      ? acts.evaluate({ ...question, client_ref: `${ref}/approved`, approval_id: review.id })
      : first
  }

  return {
    agent,
    instanceId,
    close: halts.close,
    guard: async (named, given, effect) => {
      const action: GuardedAction = typeof named === "string" ? { name: named } : (named ?? {})
      const args = takenDownOrRefused(given)
      const ref = action.ref ?? (await run(newId("int")))
      halts.follow()
      const evaluation = await verdictOf(action, ref, args)
      const hidden = redactionOf(evaluation)
      const decision = {
        kind: "tool_call" as const,
        action: action.name,
        mode: "enforced" as const,
        decided_by: "server" as const,
        evaluation_id: evaluation.id,
        instance_id: instanceId,
        run_id: action.run_id,
        args: hidden(args)
      }
      const isAllowed = evaluation.outcome === "allow" || evaluation.outcome === "allow_with_notice"
      if (!isAllowed || halts.isHalted()) {
        // Under the verdict's own name: the intent keeps its name for the time when it is approved.
        await acts.witness(agent.id, { ...decision, client_ref: evaluation.id, status: "denied" })
        const isKilled = isAllowed || evaluation.matched_rule === "@killed"
        // Read now: what was said with the halt may have been erased since it was followed.
        const { reason = null } = isKilled ? await acts.kill.status({ target_type: "agent", target_id: agent.id }) : {}
        throw denied(action.name, evaluation, isAllowed, reason)
      }
      const approval_id = evaluation.approval_id ?? undefined
      const { receipts } = await acts.witness(agent.id, {
        ...decision,
        approval_id,
        client_ref: ref,
        status: "intended"
      })
      const { decision_id, duplicate, seq } = receipts[0]!
      if (duplicate) return { decision_id, seq, evaluation, repeated: true, result: null }
      const running = halts.begin()
      try {
        let result: Awaited<ReturnType<typeof effect>>
        try {
          result = await effect({ signal: running.signal, evaluation })
        } catch (cause) {
          await settle(acts, decision_id, "error", { error: textOf(cause) })
          throw cause
        }
        await settle(acts, decision_id, "ok", hidden(jsonOf(result)))
        return { decision_id, seq, evaluation, repeated: false, result }
      } finally {
        running.done()
      }
    }
  }
}

/** The members of these names. */
const pick = (names: ReadonlyArray<string>, from: object): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))

const denied = (
  name: string,
  { id, matched_rule, outcome, reason, review_id, suggestion }: EvaluationInfo,
  isHalted: boolean,
  haltReason: string | null
) => {
  const detail = {
    evaluation_id: id,
    outcome: isHalted ? "halt" : outcome,
    rule: isHalted ? "@killed" : matched_rule,
    review_id
  }
  const why = haltReason ?? suggestion ?? reason ?? ""
  const message = `The action ${name} did not run: ${detail.outcome} by ${detail.rule}. ${why}`.trim()
  return new GovernorError("action_denied", message, { detail })
}

/** The redaction that the envelope obliges to. */
const redactionOf = ({ obligations }: EvaluationInfo) => {
  const fields = obligations.flatMap((one) => (one["type"] === "redact_fields" ? (one["fields"] as Array<string>) : []))
  return (value: unknown): unknown => (fields.length === 0 ? value : redactMembers(fields, value))
}

/** Describes what an effect threw. Anything can be thrown, and none of it may keep the outcome from being recorded. */
const textOf = (cause: unknown): string => {
  try {
    return String(cause)
  } catch {
    return "something was thrown that has no text"
  }
}

/** A result as JSON; undefined where it has no such form. */
const jsonOf = (result: unknown): unknown => {
  try {
    const text = JSON.stringify(result)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Records the outcome. The effect has run: a result that the record cannot hold must not prevent that it is there. */
const settle = async ({ settle }: Acts, id: string, status: "ok" | "error", result: unknown): Promise<void> => {
  try {
    await settle(id, { status, result })
  } catch (cause) {
    const isRefused = cause instanceof GovernorError && /^(?:invalid_input|decision_too_large)$/.test(cause.code)
    if (!isRefused) throw cause
    await settle(id, { status, result: { withheld: cause.code } })
  }
}

/** Follows the halts of one instance: aborts what runs, and acknowledges. */
const followHalts = ({ kill }: Acts, agentId: string, instanceId: string, ended: AbortSignal) => {
  const closing = new AbortController()
  const signal = AbortSignal.any([ended, closing.signal])
  const running = new Set<AbortController>()
  let status: KillStatusInfo | null = null
  let watching: Promise<void> | null = null
  let acknowledged = ""
  let reporting = Promise.resolve()

  const acknowledge = async (): Promise<void> => {
    const { activation_event = null, effective_response = null } = status ?? {}
    if (activation_event === null) return
    const isStopping = effective_response !== null && !working.includes(effective_response)
    const stopped = isStopping && running.size === 0
    if (acknowledged === `${activation_event} ${stopped}`) return
    await kill.ack({
      activation_event,
      agent_id: agentId,
      instance_id: instanceId,
      in_flight: running.size,
      stopped
    })
    acknowledged = `${activation_event} ${stopped}`
  }
  /** One after the other. One that fails is sent again with the next change or action. */
  const report = (): void => void (reporting = reporting.then(acknowledge).catch(() => undefined))

  const watch = async (): Promise<void> => {
    for await (status of kill.watch("agent", agentId, { signal })) {
      if (status.halted) for (const effect of running) effect.abort(new Error("The agent is halted."))
      report()
    }
  }
  /** A fault of the store ends a watch: the next action begins another. */
  const follow = (): void => {
    if (!signal.aborted)
      watching ??= watch()
        .catch(() => undefined)
        .finally(() => (watching = null))
    report()
  }
  follow()
  return {
    follow,
    isHalted: () => status?.halted === true,
    begin: () => {
      const effect = new AbortController()
      running.add(effect)
      return {
        signal: effect.signal,
        done: () => {
          running.delete(effect)
          report()
        }
      }
    },
    close: () => closing.abort()
  }
}

/** Responses under which an agent works on. */
const working: ReadonlyArray<string> = ["notify", "step_down"]
