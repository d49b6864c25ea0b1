/** A standing approval as state. Plain data. */
import type { Json } from "../records/record.ts"
import type { Pin } from "./pins.ts"

/** Collection of the standing approvals. */
export const STANDING_APPROVALS = "standing_approvals"

/** A layer of the reviewed evaluation: it approves under these versions alone. */
export interface ApprovedLayer {
  readonly digest: string
  readonly envelopeId: string
  readonly version: number
}

/**
 * A standing approval. Its reader decides whether its time is past. Spec: format 1 section 8,
 * `standing_approval.proposed`; decision 0050.
 */
export type StandingApprovalDocument = {
  readonly agentId: string
  readonly reviewId: string
  /** The reviewed evaluation. */
  readonly evaluationId: string
  readonly layers: ReadonlyArray<ApprovedLayer>
  /** Rules and layers that required the review, see `askingFor` of the envelope language. */
  readonly asks: ReadonlyArray<number>
  readonly boxDigest: string
  /** The action's name; null where it had none, or the part was erased. */
  readonly action: string | null
  /** Names of the members of its arguments, sorted; null where there were none, or the part was erased. */
  readonly args: ReadonlyArray<string> | null
  /** Null once the part was erased: then it approves nothing. */
  readonly pins: ReadonlyArray<Pin> | null
  readonly reason: string | null
  readonly count: number
  readonly left: number
  readonly expiresAtMs: number
  readonly status: "proposed" | "granted" | "revoked"
  readonly proposedBy: string
  readonly grantedBy: string | null
  readonly revokedBy: string | null
  readonly revokeReason: string | null
}

/** Members that come from the part `box`. */
export const boxMembers = ["action", "args", "pins"] as const

/** Status of a standing approval at a time. `used_up`: no evaluation is left. */
export type StandingStatus = StandingApprovalDocument["status"] | "expired" | "used_up"

/** Status of a standing approval at a time. Unit: `nowMs`, milliseconds since 1970 UTC. Spec: decision 0050. */
export const standingStatus = (
  { expiresAtMs, left, status }: Pick<StandingApprovalDocument, "expiresAtMs" | "left" | "status">,
  nowMs: number
): StandingStatus =>
  status === "revoked" ? status : left === 0 ? "used_up" : expiresAtMs <= nowMs ? "expired" : status

/** Look-up keys. */
export const standingKeys = ({ agentId }: Pick<StandingApprovalDocument, "agentId">) => ({ agent_id: agentId })

/** Reads the part `box`. Spec: format 1 section 8, `standing_approval.proposed`. */
export const boxOf = ({ action, args, pins }: Pick<StandingApprovalDocument, "action" | "args" | "pins">) =>
  ({ action, args, pins }) as unknown as { readonly [member: string]: Json }
