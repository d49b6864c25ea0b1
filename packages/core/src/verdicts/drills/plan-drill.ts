/** Plans the start, the completion and the attestation of a drill. Pure. */
import { DrillCompleted, DrillNotAttestable, SecondApproverRequired } from "@flyball/contract"
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import {
  type AgentDocument,
  agentKeys,
  agentUnique,
  attestProblem,
  type DrillAck,
  type DrillDocument,
  type DrillMode,
  drillResult,
  type KillTarget,
  type Measured
} from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, DocumentPut, JsonObject } from "../../storage/port.ts"
import { instancesPart } from "../kill/plan-activate.ts"
import { putDrill, type StoredDrill } from "./document.ts"

/** The drill after an act, and the change that makes it. */
export interface DrillPlan {
  readonly drill: DrillDocument
  readonly change: ChangeSet
}

/** Input for starting a drill. */
export interface DrillCommand {
  readonly drillId: string
  readonly target: KillTarget
  readonly mode: DrillMode
  readonly scenario: string
  readonly sloMs: number
  readonly maxDurationMs: number
  readonly writer: Writer
}

/** The change of an activation or a release, which a drill's own change goes with. */
type KillChange = Pick<ChangeSet, "events" | "expects" | "puts" | "records">

/**
 * Decides what starting a drill changes, in the commit of its activation.
 *
 * - Spec: api.md "bounded autonomy"; decision 0048.
 */
export const planStart = (
  { drillId, maxDurationMs, mode, scenario, sloMs, target, writer }: DrillCommand,
  activation: { readonly activationId: string; readonly change: KillChange },
  asOf: AsOf
): DrillPlan => {
  const { activationId } = activation
  const drill: DrillDocument = {
    targetType: target.type,
    targetId: target.id,
    mode,
    scenario,
    sloMs,
    maxDurationMs,
    startedBy: writer.id,
    startedAtMs: asOf.ms,
    activationId,
    completedBy: null,
    completedAtMs: null,
    result: null,
    attestedBy: null,
    attestedAtMs: null
  }
  return {
    drill,
    change: together(activation.change, {
      puts: [putDrill(drillId, 0, drill)],
      records: [
        {
          kind: "drill.started",
          agentId: agentOf(drill),
          body: omitNullish({
            activation_id: activationId,
            agent_id: agentOf(drill),
            drill_id: drillId,
            max_duration_ms: maxDurationMs,
            mode,
            slo_ms: sloMs,
            started_at: formatInstant(asOf.ms),
            target_id: target.id,
            target_type: target.type,
            writer: writer.id
          }) as JsonObject,
          parts: [{ name: "scenario", bytes: canonicalBytes(scenario) }]
        }
      ],
      events: [
        event("drill.started", {
          drill_id: drillId,
          activation_id: activationId,
          target_type: target.type,
          target_id: target.id,
          mode,
          slo_ms: sloMs,
          max_duration_ms: maxDurationMs,
          writer: writer.id
        })
      ]
    })
  }
}

/** Input for completing a drill. */
export interface Completion {
  readonly measured: Measured
  /** Acknowledgements in the records up to `asOf.seq`. */
  readonly acks: ReadonlyArray<DrillAck>
  /** The change that releases the activation; null where it is already released. */
  readonly release: KillChange | null
  /** The agent that it is aimed at; null where it is aimed at a model, or the agent is gone. */
  readonly agent: StoredAgent | null
  readonly writer: Writer
}

/**
 * Decides what completing a drill changes: what it measured is recorded, what it still halts is released.
 *
 * - Fails: `DrillCompleted` where it was completed before.
 * - Spec: decision 0048.
 */
export const planComplete = (
  { body, id, version }: StoredDrill,
  { acks, agent, measured, release, writer }: Completion,
  asOf: AsOf
): Result.Result<DrillPlan, DrillCompleted> => {
  if (body.completedAtMs !== null) return Result.fail(new DrillCompleted())
  const result = drillResult(measured, acks, body.sloMs)
  const drill: DrillDocument = { ...body, completedBy: writer.id, completedAtMs: asOf.ms, result }
  return Result.succeed({
    drill,
    change: together(release ?? {}, {
      puts: [
        putDrill(id, version, drill),
        ...(agent === null ? [] : [putAgent(agent, { ...agent.body, drilledAtMs: asOf.ms })])
      ],
      records: [
        {
          kind: "drill.completed",
          agentId: agentOf(body),
          body: omitNullish({
            acknowledged: result.acknowledged,
            agent_id: agentOf(body),
            as_of_seq: Math.max(0, asOf.seq),
            completed_at: formatInstant(asOf.ms),
            drill_id: id,
            expected: result.expected,
            max_ms: result.maxMs,
            met: result.met,
            p50_ms: result.p50Ms,
            p95_ms: result.p95Ms,
            unlisted: result.unlisted === 0 ? null : result.unlisted,
            writer: writer.id
          }) as JsonObject,
          parts: instancesPart("missed", result.missed)
        }
      ],
      events: [
        event("drill.completed", {
          drill_id: id,
          activation_id: body.activationId,
          target_type: body.targetType,
          target_id: body.targetId,
          mode: body.mode,
          expected: result.expected,
          acknowledged: result.acknowledged,
          missed: result.missed.length,
          p50_ms: result.p50Ms,
          p95_ms: result.p95Ms,
          max_ms: result.maxMs,
          met: result.met,
          writer: writer.id
        })
      ]
    })
  })
}

/**
 * Decides what attesting a drill changes. One that was met then counts for the tier of the agent that it is aimed at.
 *
 * - Fails: `DrillNotAttestable` where nobody can vouch for it; `SecondApproverRequired` for its
 *   starter, or who may be.
 * - Spec: decision 0048.
 */
export const planAttest = (
  { body, id, version }: StoredDrill,
  agent: StoredAgent | null,
  person: SecondPerson,
  writer: Writer,
  asOf: AsOf
): Result.Result<DrillPlan, DrillNotAttestable | SecondApproverRequired> => {
  const problem = attestProblem(body, asOf.ms)
  if (problem !== null) return Result.fail(new DrillNotAttestable({ why: problem }))
  if (person !== "another")
    return Result.fail(
      new SecondApproverRequired({
        change: "attest",
        sentence: person === "perhaps_them" ? ERASED_AUTHOR : "The person who started the drill cannot attest it."
      })
    )
  const met = body.result?.met === true
  const drill: DrillDocument = { ...body, attestedBy: writer.id, attestedAtMs: asOf.ms }
  return Result.succeed({
    drill,
    change: {
      puts: [
        putDrill(id, version, drill),
        ...(agent === null || !met ? [] : [putAgent(agent, { ...agent.body, drillAttestedAtMs: asOf.ms })])
      ],
      records: [
        {
          kind: "drill.attested",
          agentId: agentOf(body),
          body: omitNullish({
            agent_id: agentOf(body),
            attested_at: formatInstant(asOf.ms),
            drill_id: id,
            met,
            writer: writer.id
          }) as JsonObject,
          parts: []
        }
      ],
      events: [
        event("drill.attested", {
          drill_id: id,
          target_type: body.targetType,
          target_id: body.targetId,
          mode: body.mode,
          writer: writer.id
        })
      ]
    }
  })
}

/** The agent that a drill is aimed at; null where it is aimed at something else. */
export const agentOf = ({ targetId, targetType }: DrillDocument): string | null =>
  targetType === "agent" ? targetId : null

const putAgent = ({ id, version }: StoredAgent, body: AgentDocument): DocumentPut => ({
  collection: AGENTS,
  id,
  expectedVersion: version,
  body,
  unique: agentUnique(body),
  keys: agentKeys(body)
})

/** Two changes as one: the records and events of the first come first. */
const together = (first: KillChange, second: KillChange): ChangeSet => ({
  expects: [...(first.expects ?? []), ...(second.expects ?? [])],
  puts: [...(first.puts ?? []), ...(second.puts ?? [])],
  records: [...(first.records ?? []), ...(second.records ?? [])],
  events: [...(first.events ?? []), ...(second.events ?? [])]
})
