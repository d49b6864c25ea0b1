/**
 * A client's view of the halts of its agent, with its age. Pure.
 *
 * Age counts from the sending of the last confirmed request on the monotonic clock: an answer can be delayed by any
 * time, and so says nothing about the moment of its arrival. Spec: envelopes.md 3.10 and 3.12.
 */
import { type KillResponse, killResponses, type KillStatus } from "../wire.ts"

/** The last confirmed kill status; `sentAtMs` is null until the first confirmation. Unit: milliseconds, monotonic. */
export interface KillView {
  readonly origin: string | null
  readonly epoch: number
  readonly response: KillResponse | null
  readonly activationEvent: string | null
  /** The reason of that activation; null where none was given, and once it was erased. */
  readonly reason: string | null
  readonly sentAtMs: number | null
}

/** Nothing is known yet, so nothing may be done. */
export const unknownView: KillView = {
  origin: null,
  epoch: -1,
  response: null,
  activationEvent: null,
  reason: null,
  sentAtMs: null
}

/** Why a status was not taken over. */
export type Rejected = "epoch_went_back" | "origin_changed" | "other_target" | "not_a_status"

/**
 * The view of this agent after a status, or why the status does not count. A rejected status confirms nothing, and so
 * does the status of another target.
 */
export const observe = (
  agentId: string,
  view: KillView,
  status: unknown,
  sentAtMs: number
): { readonly view: KillView; readonly rejected: Rejected | null } => {
  const read = readStatus(status)
  if (read === null) return { view, rejected: "not_a_status" }
  if (read.target_type !== "agent" || read.target_id !== agentId) return { view, rejected: "other_target" }
  if (view.origin !== null && read.origin !== view.origin) return { view, rejected: "origin_changed" }
  if (read.epoch < view.epoch) return { view, rejected: "epoch_went_back" }
  return {
    view: {
      origin: read.origin,
      epoch: read.epoch,
      response: read.effective_response,
      activationEvent: read.activation_event,
      reason: read.reason ?? null,
      sentAtMs: Math.max(sentAtMs, view.sentAtMs ?? sentAtMs)
    },
    rejected: null
  }
}

/** The view after the server confirmed that nothing changed (304). */
export const confirm = (view: KillView, sentAtMs: number): KillView =>
  view.sentAtMs === null ? view : { ...view, sentAtMs: Math.max(sentAtMs, view.sentAtMs) }

/** Class of an action by its effect: `read` changes nothing outside the agent. Spec: `envelope/1` section 10. */
export type EffectClass = "read" | "side_effect"

/** Why an action may not begin under the known kill status; null: it may. */
export type KillDenial = "@stale_status" | "@killed" | null

/** How often `maxStaleMs` may pass before even reads are denied. Spec: envelopes.md 3.12, first row. */
export const STALE_READS = 4

/**
 * Denies an action that may not begin now. `drain` lets nothing new start; the server judges `notify` and `step_down`.
 */
export const killDenial = (view: KillView, effect: EffectClass, nowMs: number, maxStaleMs: number): KillDenial => {
  if (isStopping(view.response)) return "@killed"
  if (view.sentAtMs === null) return "@stale_status"
  const age = nowMs - view.sentAtMs
  // A clock that went back says nothing of the age.
  return age < 0 || age > (effect === "read" ? maxStaleMs * STALE_READS : maxStaleMs) ? "@stale_status" : null
}

/**
 * The error that the signal of running work aborts with. The message, which may be recorded, leaves the person's words
 * out.
 */
export class AgentHalted extends Error {
  override readonly name = "AgentHalted"
  /** The reason of the halt; null where none was given. */
  readonly reason: string | null
  constructor({ activationEvent, epoch, reason }: KillView) {
    super(`The agent was halted at epoch ${epoch} (${activationEvent ?? "no activation is named"}).`)
    this.reason = reason
  }
}

/** Says to the agent and its model that it is stopped, and what was said with the halt. */
export const stoppedSentence = ({ reason, response }: KillView, sentence = "The agent is stopped"): string =>
  `${sentence}${isStopping(response) && reason !== null ? `: ${reason}` : "."}`

/** True when nothing new may start. */
export const isStopping = (response: KillResponse | null): boolean =>
  response !== null && killResponses.indexOf(response) >= killResponses.indexOf("drain")

/** True when running work must end too. */
export const isInterrupting = (response: KillResponse | null): boolean =>
  response !== null && killResponses.indexOf(response) >= killResponses.indexOf("halt")

/** A status, if it has the members that the client relies on. */
const readStatus = (status: unknown): KillStatus | null => {
  if (typeof status !== "object" || status === null) return null
  const { activation_event, effective_response, epoch, halted, origin, reason, target_id, target_type } = status as {
    readonly [name: string]: unknown
  }
  const isResponse = effective_response === null || killResponses.includes(effective_response as KillResponse)
  return typeof halted === "boolean" &&
    Number.isSafeInteger(epoch) &&
    (epoch as number) >= 0 &&
    typeof origin === "string" &&
    typeof target_type === "string" &&
    typeof target_id === "string" &&
    isResponse &&
    (activation_event === null || typeof activation_event === "string") &&
    (reason === undefined || reason === null || typeof reason === "string") &&
    // Both members say whether it is halted; where they differ, neither can be believed.
    halted === isInterrupting(effective_response as KillResponse | null)
    ? (status as KillStatus)
    : null
}
