/** Reads a drill out of its document, and writes it for the wire. */
import type { DrillOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import {
  type DrillDocument,
  drillKeys,
  DRILLS,
  drillStatus,
  type AgentDocument,
  agentKeys,
  agentUnique
} from "@flyball/rules"
import type { Document, DocumentPut, JsonObject, ChangeSet } from "../../storage/port.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"

/** A drill as it was read. */
export interface StoredDrill {
  readonly id: string
  readonly version: number
  readonly body: DrillDocument
}

/** The drill in a document; only this folder writes there. */
export const storedDrill = ({ body, id, version }: Document): StoredDrill => ({
  id,
  version,
  body: body as unknown as DrillDocument
})

/** Puts a drill in place of the version that was read; 0 for a new one. */
export const putDrill = (id: string, expectedVersion: number, body: DrillDocument): DocumentPut => ({
  collection: DRILLS,
  id,
  expectedVersion,
  body: body as unknown as JsonObject,
  keys: drillKeys(body)
})

/** The drill as the interface shows it. */
export const drillOut = (id: string, drill: DrillDocument): DrillOut => ({
  id,
  target_type: drill.targetType,
  target_id: drill.targetId,
  mode: drill.mode,
  scenario: drill.scenario,
  slo_ms: drill.sloMs,
  max_duration_ms: drill.maxDurationMs,
  status: drillStatus(drill),
  activation_event: drill.activationId,
  started_by: drill.startedBy,
  started_at: formatInstant(drill.startedAtMs),
  completed_by: drill.completedBy,
  completed_at: instantOf(drill.completedAtMs),
  result:
    drill.result === null
      ? null
      : {
          expected: drill.result.expected,
          acknowledged: drill.result.acknowledged,
          missed: drill.result.missed.map(({ agentId, instanceId }) => ({
            agent_id: agentId,
            instance_id: instanceId
          })),
          unlisted: drill.result.unlisted,
          p50_ms: drill.result.p50Ms,
          p95_ms: drill.result.p95Ms,
          max_ms: drill.result.maxMs,
          met: drill.result.met
        },
  attested_by: drill.attestedBy,
  attested_at: instantOf(drill.attestedAtMs)
})

const instantOf = (atMs: number | null): string | null => (atMs === null ? null : formatInstant(atMs))

/** The drill after an act, and the change that makes it. */
export interface DrillPlan {
  readonly drill: DrillDocument
  readonly change: ChangeSet
}

/** The agent that a drill is aimed at; null where it is aimed at something else. */
export const agentOf = ({ targetId, targetType }: DrillDocument): string | null =>
  targetType === "agent" ? targetId : null

/** Puts the agent that a drill is aimed at. */
export const putAgent = ({ id, version }: StoredAgent, body: AgentDocument): DocumentPut => ({
  collection: AGENTS,
  id,
  expectedVersion: version,
  body,
  unique: agentUnique(body),
  keys: agentKeys(body)
})

/** The change of an activation or a release, which a drill's own change goes with. */
export type KillChange = Pick<ChangeSet, "events" | "expects" | "puts" | "records">

/** Two changes as one: the records and events of the first come first. */
export const together = (first: KillChange, second: KillChange): ChangeSet => ({
  expects: [...(first.expects ?? []), ...(second.expects ?? [])],
  puts: [...(first.puts ?? []), ...(second.puts ?? [])],
  records: [...(first.records ?? []), ...(second.records ?? [])],
  events: [...(first.events ?? []), ...(second.events ?? [])]
})
