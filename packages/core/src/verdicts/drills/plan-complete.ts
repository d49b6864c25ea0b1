/** Plans the completion of a drill. Pure. */
import { DrillCompleted } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { type DrillAck, type DrillDocument, drillResult, type Measured } from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, JsonObject } from "../../storage/port.ts"
import { instancesPart } from "../kill/plan-activate.ts"
import { putDrill, type StoredDrill, type KillChange, type DrillPlan, together, putAgent, agentOf } from "./document.ts"

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
