/** Decides if a standing approval lets an evaluation through. Pure: the service and the verifier both run it. */
import type { StandingApprovalDocument } from "./document.ts"
import { standingStatus } from "./document.ts"
import { type ActionInputs, liesInBox } from "./pins.ts"

/** An evaluation that would be `require_review`. Unit: `atMs`, milliseconds since 1970 UTC. Spec: decision 0050. */
export interface Awaiting {
  readonly agentId: string
  readonly layers: ReadonlyArray<{ readonly envelopeId: string; readonly version: number }>
  /** Rules and layers that require the review. */
  readonly asks: ReadonlyArray<number>
  readonly inputs: ActionInputs
  /** True when a part of its arguments was redacted: such an evaluation is in no box. */
  readonly isRedacted: boolean
  readonly atMs: number
}

/** Why a standing approval does not approve an evaluation. Spec: decision 0050. */
export type NotApproved = "other_agent" | "not_in_force" | "other_envelope" | "other_rules" | "outside_box"

/**
 * Null where it approves: it is in force and something is left of it, the agent and the versions are those of the
 * reviewed evaluation, nothing asks that did not ask then, and the inputs lie in the box. Spec: decision 0050.
 */
export const whyNotApproved = (standing: StandingApprovalDocument, awaiting: Awaiting): NotApproved | null => {
  const { agentId, asks, layers } = standing
  if (agentId !== awaiting.agentId) return "other_agent"
  if (standingStatus(standing, awaiting.atMs) !== "granted") return "not_in_force"
  if (
    layers.length !== awaiting.layers.length ||
    layers.some(
      ({ envelopeId, version }, place) =>
        envelopeId !== awaiting.layers[place]!.envelopeId || version !== awaiting.layers[place]!.version
    )
  )
    return "other_envelope"
  if (!awaiting.asks.every((one) => asks.includes(one))) return "other_rules"
  return !awaiting.isRedacted && liesInBox(standing, awaiting.inputs) ? null : "outside_box"
}
