/**
 * Judges what acts by the response policy: activations of the kill switch that a key requested, that a breaker fires
 * without a response of its own, or that are added to a suspension. Spec: decisions 0046 and 0061.
 */
import type { AgentDocument } from "../../agents/document.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { CHANNEL_TARGET, type KillResponse, severityOfResponse } from "../../kill/response.ts"
import {
  besideSuspension,
  type PolicyRow,
  type PolicyTrigger,
  type ResponsePolicyDocument,
  suspendingTriggers
} from "../../response-policy/document.ts"
import { foldResponsePolicyChanged } from "../../response-policy/fold.ts"
import { responseFor } from "../../response-policy/response-for.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import { areNewerRules, newerRules } from "../../records/rules-version.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Writer of what the response policy makes of a request, and of an alarm of behaviour. */
const BY_REQUEST = "policy:agent_request"
const BY_DRIFT = "policy:drift"

/** Writers of what a row adds to a suspension of this cause, or to a finding about a tool server. */
const adding: {
  readonly [writer: string]: { readonly trigger: PolicyTrigger; readonly cause: string } | undefined
} = {
  "policy:mcp": { trigger: "mcp", cause: "mcp_manifest_changed" },
  "policy:orphan": { trigger: "orphan", cause: "orphan_grace" },
  "policy:recert": { trigger: "recert", cause: "recert_overdue" }
}

/** A request or an alarm that names an activation, which the record behind it must be. */
interface Request {
  /** Writer of the activation. */
  readonly by: typeof BY_DRIFT | typeof BY_REQUEST
  readonly activationId: string
  readonly agentId: string
  readonly writer: string
  readonly seq: number
}

/** A breaker as the records before say it. */
export interface FiringBreaker {
  readonly agentId: string
  /** Null: that of the response policy, or else a halt. */
  readonly response: KillResponse | null
  /** Halts the deployment, whatever is set. */
  readonly stopsAll: boolean
}

/** Responses of the policy up to a record. It grows with agents, and with nothing else. */
export class ResponseJudge {
  readonly #state: Pick<GovernedState, "agents" | "kills">
  readonly #breakerOf: (id: string) => FiringBreaker | null
  readonly #fromGenesis: boolean
  /** The writers that registered agents in this chain, by agent. */
  readonly #registrars = new Map<string, string>()
  /** `agent cause` of suspensions and of findings. */
  readonly #caused = new Set<string>()
  /** The policy in force; null: not known. */
  #rows: ReadonlyArray<PolicyRow> | null
  /** Seq of the record that set it. */
  #setBy = Number.NaN
  #request: Request | null = null
  /** An activation of a drill, which the record behind it must start. */
  #exercise: { readonly activationId: string; readonly seq: number } | null = null

  /** `state`: what the records before say, kept up to date by the caller. `breakerOf`: null where none is known. */
  constructor(
    state: Pick<GovernedState, "agents" | "kills">,
    breakerOf: (id: string) => FiringBreaker | null,
    fromGenesis: boolean
  ) {
    this.#state = state
    this.#breakerOf = breakerOf
    this.#fromGenesis = fromGenesis
    this.#rows = fromGenesis ? [] : null
  }

  /**
   * Takes the next record, before the state that it is judged by does; answers what is wrong with it. `isOfThisChain`
   * false: of a retired chain, which is not judged.
   */
  take(record: ReplayRecord, isOfThisChain: boolean): Problem | null {
    const { body, kind, seq } = record
    const request = this.#request
    this.#request = null
    const exercise = this.#exercise
    this.#exercise = null
    const undrilled =
      exercise !== null && (kind !== "drill.started" || body["activation_id"] !== exercise.activationId)
        ? problem(
            "reference_mismatch",
            `${exercise.activationId}, at ${exercise.seq}, is an exercise that no record behind it starts.`
          )
        : null
    const missing =
      undrilled !== null
        ? undrilled
        : request !== null && (kind !== "kill.activated" || body["activation_id"] !== request.activationId)
          ? mismatch(`The record at ${request.seq} activates ${request.activationId}, which no record behind it does.`)
          : null
    switch (kind) {
      case "response_policy.changed":
        this.#set(record)
        break
      case "part.erased":
        // Until then its rows counted; which ones those were is not shown.
        if (body["name"] === "policy" && Number(body["seq"]) === this.#setBy) this.#rows = []
        break
      case "agent.registered":
        if (isOfThisChain) this.#registrars.set(String(body["agent_id"]), String(body["writer"]))
        break
      case "agent.suspended":
        this.#caused.add(`${String(body["agent_id"])} ${String(body["reason"])}`)
        break
      case "mcp.manifest_changed":
        if (body["severity"] !== "low") this.#caused.add(`${String(body["agent_id"])} mcp_manifest_changed`)
        break
      case "kill.requested":
        return missing ?? (isOfThisChain ? this.#requested(body, seq) : null)
      case "drift.alarmed":
        return missing ?? (isOfThisChain ? this.#alarmed(body, seq) : null)
      case "kill.activated":
        if (isOfThisChain && body["drill"] !== undefined && body["target_id"] !== CHANNEL_TARGET)
          this.#exercise = { activationId: String(body["activation_id"]), seq }
        return missing ?? (isOfThisChain ? this.#activated(body, request) : null)
    }
    return missing
  }

  /** Forgets that a request is to activate something: a record behind it cannot be read. */
  forgetRequest(): void {
    this.#request = null
    this.#exercise = null
  }

  #set(record: ReplayRecord): void {
    const part = record.parts.get("policy")
    const { body, unknown } = foldResponsePolicyChanged(record)
    this.#setBy = record.seq
    this.#rows =
      unknown.length > 0 || part?.state === "erased" ? null : (body as unknown as ResponsePolicyDocument).rows
  }

  #requested(body: JsonMap, seq: number): Problem | null {
    const [agentId, writer, id] = [String(body["agent_id"]), String(body["writer"]), body["activation_id"]]
    if (typeof id === "string") {
      this.#request = { by: BY_REQUEST, activationId: id, agentId, writer, seq }
      return null
    }
    if (areNewerRules(body)) return problem("withheld", newerRules(body))
    if (this.#registrars.get(agentId) !== writer) return null
    const row = this.#rowOf(agentId, "agent_request")
    if (row === "unknown") return notShown
    return row === null || this.#held(agentId, writer, row) !== null
      ? null
      : mismatch(`The response policy answers this request with ${row}; the record says that nothing was activated.`)
  }

  #activated(body: JsonMap, request: Request | null): Problem | null {
    if (areNewerRules(body)) return problem("withheld", newerRules(body))
    const [id, writer] = [String(body["activation_id"]), String(body["writer"])]
    const target = `${String(body["target_type"])} ${String(body["target_id"])}`
    if (writer === BY_DRIFT) return this.#byAlarm(id, body, target, request)
    if (writer === BY_REQUEST) {
      if (request?.by !== BY_REQUEST)
        return this.#fromGenesis ? mismatch(`No request before it activates ${id}.`) : null
      return this.#byRequest(id, body, target, request)
    }
    if (body["requested_by"] !== undefined)
      return mismatch(`${id} names a key that requested it; ${writer} is not who answers requests.`)
    if (request !== null) return mismatch(`The request at ${request.seq} is answered by ${writer}.`)
    const added = adding[writer]
    if (added !== undefined) return this.#added(id, body, target, added)
    if (writer.startsWith("policy:")) return mismatch(`${writer} activates nothing.`)
    if (!writer.startsWith("breaker:")) return null
    return typeof body["breaker_id"] === "string"
      ? this.#fired(body["breaker_id"], body)
      : mismatch(`${writer} activates ${id}, which names no breaker.`)
  }

  #alarmed(body: JsonMap, seq: number): Problem | null {
    const [agentId, writer, id] = [String(body["agent_id"]), String(body["writer"]), body["activation_id"]]
    if (typeof id === "string") {
      this.#request = { by: BY_DRIFT, activationId: id, agentId, writer, seq }
      return null
    }
    const row = this.#rowOf(agentId, "drift")
    if (row === "unknown") return notShown
    return row === null || row === "notify" || this.#stands(agentId, row) !== null
      ? null
      : mismatch(`The response policy answers this alarm with ${row}; the record says that nothing was activated.`)
  }

  #byAlarm(id: string, body: JsonMap, target: string, alarm: Request | null): Problem | null {
    if (alarm?.by !== BY_DRIFT) return this.#fromGenesis ? mismatch(`No alarm before it activates ${id}.`) : null
    if (target !== `agent ${alarm.agentId}` || body["drill"] !== undefined || body["requested_by"] !== undefined)
      return mismatch(`${id} stops something else than the agent of the alarm at ${alarm.seq}.`)
    const row = this.#rowOf(alarm.agentId, "drift")
    if (row === "unknown") return notShown
    if (row === null || row === "notify")
      return mismatch(`The response policy has no response to alarms of ${alarm.agentId}, and ${id} is one.`)
    const standing = this.#stands(alarm.agentId, row)
    return standing === null
      ? differing(id, row, body)
      : mismatch(`${standing} was activated by an alarm before and holds: ${id} is one too many.`)
  }

  /** Finds what holds an agent because of an alarm, at least as restrictive as a response. */
  #stands(agentId: string, response: KillResponse): string | null {
    return (
      this.#state.kills.all.find(
        (one) =>
          one.actor === BY_DRIFT &&
          one.target.id === agentId &&
          severityOfResponse(one.response) >= severityOfResponse(response)
      )?.id ?? null
    )
  }

  #byRequest(id: string, body: JsonMap, target: string, { agentId, writer }: Request): Problem | null {
    if (body["requested_by"] !== writer || target !== `agent ${agentId}` || body["drill"] !== undefined)
      return mismatch(`${id} stops something else than ${writer} requested.`)
    const registrar = this.#registrars.get(agentId)
    if (registrar !== undefined && registrar !== writer)
      return mismatch(`${writer} requested ${id}, and did not register ${agentId}.`)
    const row = this.#rowOf(agentId, "agent_request")
    if (row === "unknown") return notShown
    const held = row === null ? null : this.#held(agentId, writer, row)
    return row === null
      ? mismatch(`The response policy has no row for requests of ${agentId}, and ${id} answers one.`)
      : held !== null
        ? mismatch(`${held}, which ${writer} requested before, holds: ${id} is one too many.`)
        : differing(id, row, body)
  }

  #added(
    id: string,
    body: JsonMap,
    target: string,
    { cause, trigger }: { readonly trigger: PolicyTrigger; readonly cause: string }
  ): Problem | null {
    const agentId = String(body["target_id"])
    if (target !== `agent ${agentId}` || body["drill"] !== undefined)
      return mismatch(`${id} is added for ${cause}, and stops more than an agent.`)
    if (this.#fromGenesis && !this.#caused.has(`${agentId} ${cause}`))
      return mismatch(`No record before ${id} says ${cause} of ${agentId}.`)
    const row = this.#rowOf(agentId, trigger)
    if (row === "unknown") return notShown
    if (row === null || row === "notify" || (suspendingTriggers.has(trigger) && !besideSuspension.has(row)))
      return mismatch(`The response policy adds nothing for ${cause} of ${agentId}.`)
    const writer = String(body["writer"])
    const standing = this.#state.kills.all.find((one) => one.target.id === agentId && one.actor === writer)
    return standing === undefined
      ? differing(id, row, body)
      : mismatch(`${standing.id} was added before and holds: ${id} is one too many.`)
  }

  /** That the activation is what its trip says is judged with the trip. */
  #fired(breakerId: string, body: JsonMap): Problem | null {
    const breaker = this.#breakerOf(breakerId)
    if (breaker === null || breaker.response !== null || breaker.stopsAll) return null
    const row = this.#rowOf(breaker.agentId, "breaker")
    return row === "unknown" ? notShown : differing(String(body["activation_id"]), row ?? "halt", body)
  }

  /** The response of the policy; null where no row counts. */
  #rowOf(agentId: string, trigger: PolicyTrigger): KillResponse | null | "unknown" {
    const document = this.#state.agents.get(agentId)?.document
    if (this.#rows === null || document === undefined) return "unknown"
    const { autonomyTier: tier, orgUnit } = document.body as unknown as AgentDocument
    const rows = this.#rows.filter((row) => row.trigger === trigger)
    const isUnitHidden = document.unknown.includes("orgUnit")
    const hasOwn = rows.some(({ scope, target }) => scope === "agent" && target === agentId)
    if (isUnitHidden && !hasOwn && rows.some(({ scope }) => scope === "org_unit")) return "unknown"
    return (
      responseFor({ rows }, { id: agentId, tier, orgUnit: isUnitHidden ? null : orgUnit }, trigger)?.response ?? null
    )
  }

  /** Finds what holds an agent because this key requested it, at least as restrictive as a response. */
  #held(agentId: string, writer: string, response: KillResponse): string | null {
    return (
      this.#state.kills.all.find(
        (one) =>
          one.actor === BY_REQUEST &&
          one.requestedBy === writer &&
          one.target.type === "agent" &&
          one.target.id === agentId &&
          severityOfResponse(one.response) >= severityOfResponse(response)
      )?.id ?? null
    )
  }
}

const differing = (id: string, expected: KillResponse, body: JsonMap): Problem | null =>
  body["response"] === expected
    ? null
    : mismatch(`The response policy answers with ${expected}; ${id} is ${String(body["response"])}.`)

const mismatch = (reason: string): Problem => problem("response_mismatch", reason)

const notShown = problem("withheld", "The response policy then in force, or the agent that it is about, is not shown.")
