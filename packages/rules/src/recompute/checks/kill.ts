/**
 * Checks that an evaluation obeyed the kill switch, and that a release was allowed. Spec: envelopes.md 3.10; decision
 * 0042.
 */
import type { AgentDocument } from "../../agents/document.ts"
import { CHANNEL_TARGET, denyingResponses, halts, type KillResponse } from "../../kill/response.ts"
import type { KnownActivation } from "../../kill/known-kills.ts"
import type { AgentReach } from "../../kill/reach.ts"
import { releaseProblem } from "../../kill/release.ts"
import { activationsBody, higherTier, killStateOf, readActivations, type ReachingActivation } from "../../kill/state.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import type { EvaluationBody } from "../../evaluations/evaluation-body.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The response under which an evaluation must have been made, and how its record differs. */
export interface JudgedKill {
  readonly response: KillResponse | null
  readonly problem: Problem | null
}

const nothing: JudgedKill = { response: null, problem: null }

/** The response according to the record itself; for evaluations whose earlier records are unknown. */
export const recordedResponse = (body: EvaluationBody): KillResponse | null =>
  killStateOf(readActivations(body.activations)).effectiveResponse

/**
 * Compares the activations that a record names with those that reached its agent just before it. Activations from
 * before the first record here are taken from the record.
 */
export const judgeKill = (
  state: GovernedState,
  agentId: string,
  body: EvaluationBody,
  fromGenesis: boolean
): JudgedKill => {
  const named = body.activations
  if (named === undefined && state.kills.isQuiet) return nothing
  const recorded = readActivations(named)
  const { isKnown, reach } = state.reachOf(agentId)
  const reaching = state.kills.of(reach)
  const all: ReadonlyArray<ReachingActivation> = [
    ...reaching,
    // Activated before the first record here, or reaching the agent in a way that is not shown here.
    ...recorded.filter(({ id }) => {
      if (reaching.some((one) => one.id === id)) return false
      if (!state.kills.knows(id)) return !fromGenesis
      const live = state.kills.live(id)
      return live !== undefined && (!isKnown || isOfEarlierUnit(live) || isUnregistered(live, reach))
    })
  ]
  const { activation, effectiveResponse: response } = killStateOf(all)
  if (denyingResponses.has(response) && body.matched_rule !== "@killed")
    return {
      response,
      problem: problem(
        "killed_but_allowed",
        `${activation!.id} was in force with the response ${response}; the record says ${body.outcome} by ` +
          `${body.matched_rule}.`
      )
    }
  const expected = activationsBody(all)
  return {
    response,
    problem:
      JSON.stringify(expected) === JSON.stringify(named ?? null)
        ? null
        : problem(
            "activation_mismatch",
            `${expected?.length ?? 0} activations reached the agent; the record names ${recorded.length}, or others.`
          )
  }
}

/** True when it targets an org unit by a digest of an earlier chain: only the unit's name maps it to a digest here. */
const isOfEarlierUnit = ({ seq, target }: KnownActivation): boolean => target.type === "org_unit" && seq < 0

/** True when it targets a model by an id that no record here registers. */
const isUnregistered = ({ target }: KnownActivation, { registered }: AgentReach): boolean =>
  target.type === "model" && target.id.startsWith("mdl_") && registered.get(target.id) === undefined

/** Checks that an activation or a release begins the next epoch. Call it before the record is folded. */
export const judgeEpoch = (state: GovernedState, { body, kind }: ReplayRecord): Problem | null => {
  const id = String(body["activation_id"])
  if (kind === "kill.activated" && state.kills.knows(id))
    return problem("activation_mismatch", `${id} was activated before.`)
  const next = state.kills.nextEpoch
  return next === null || next === body["epoch"]
    ? null
    : problem("activation_mismatch", `The epoch ${next} comes next; the record begins ${Number(body["epoch"])}.`)
}

/**
 * Agents at L3 or above that a real halt reaches at its activation. The record of an activation of a model, an org unit
 * or the deployment states the highest tier itself.
 */
export class HighlyReached {
  readonly #byActivation = new Map<string, ReadonlySet<string>>()

  /** Takes an activation, folded or not. */
  activated(state: GovernedState, { body }: ReplayRecord): void {
    if (body["drill"] !== undefined || !halts(String(body["response"]) as KillResponse)) return
    const found = state.highReachedBy(targetOf(body))
    if (found.size > 0) this.#byActivation.set(String(body["activation_id"]), found)
  }

  /**
   * Takes a release; true when it reaches an agent at L3 or above that it so reached at its activation. An agent at L3
   * at one of the two times only may have changed at that moment.
   */
  released(state: GovernedState, { id, target }: KnownActivation): boolean {
    const then = this.#byActivation.get(id)
    this.#byActivation.delete(id)
    if (then === undefined) return false
    const now = state.highReachedBy(target)
    return [...then].some((one) => now.has(one))
  }
}

const targetOf = (body: JsonMap): KnownActivation["target"] => ({
  type: String(body["target_type"]) as KnownActivation["target"]["type"],
  id: String(body["target_id"])
})

/** Judges a release by the records before it; null where it is in order, or the records do not show it. */
export const judgeRelease = (
  state: GovernedState,
  { body }: ReplayRecord,
  high: HighlyReached,
  fromGenesis: boolean
): Problem | null => {
  const id = String(body["activation_id"])
  const activation = state.kills.live(id)
  if (activation === undefined) {
    if (state.kills.knows(id)) return problem("ended_twice", `${id} was released before.`)
    return fromGenesis ? problem("reference_mismatch", `No record before it activates ${id}.`) : null
  }
  const recorded = typeof body["highest_tier"] === "string" ? body["highest_tier"] : null
  const target = activation.target.type === "agent" ? state.agents.get(activation.target.id) : undefined
  const own = (target?.document.body as unknown as AgentDocument | undefined)?.autonomyTier ?? null
  const isHigh = high.released(state, activation)
  const tier = higherTier(higherTier(recorded as AgentDocument["autonomyTier"] | null, own), isHigh ? "L3" : null)
  switch (releaseProblem(activation, tier, String(body["writer"]))) {
    case null:
      return null
    case "automatic":
      return problem(
        "release_not_allowed",
        `Only a person may release ${id}; the record says ${String(body["writer"])}.`
      )
    case "same_person":
      return problem(
        "release_not_allowed",
        `${id} halted an agent at L3 or above, so another person than ${activation.actor} must release it.`
      )
  }
}

/** Judges a check of the channel: one that says `armed` has its exercise, and the release of that, before it. */
export const judgeChannel = (state: GovernedState, { body }: ReplayRecord): Problem | null => {
  const id = String(body["activation_id"])
  const checked = state.kills.released(id)
  return body["armed"] !== true || (checked?.target.id === CHANNEL_TARGET && checked.drill !== null)
    ? null
    : problem("reference_mismatch", `No exercise ${id} of the channel was activated and released before.`)
}
