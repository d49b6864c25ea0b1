/** Plans the start of a drill. Pure. */
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import type { DrillDocument, DrillMode, KillTarget } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, JsonObject } from "../../storage/port.ts"
import { putDrill, type KillChange, type DrillPlan, together, agentOf } from "./document.ts"

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
