/** Reads a standing approval out of its document, and writes it for the wire. */
import type { StandingApproval } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import {
  type Pin,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  standingKeys,
  standingStatus
} from "@flyball/rules"
import type { ChangeSet, Document, DocumentPut, JsonObject } from "../../storage/port.ts"

/** A standing approval as it was read. */
export interface StoredStanding {
  readonly id: string
  readonly version: number
  readonly body: StandingApprovalDocument
}

/** The same, typed. */
export const storedStanding = ({ body, id, version }: Document): StoredStanding => ({
  id,
  version,
  body: body as unknown as StandingApprovalDocument
})

/** An act that was decided: the document after it, and the change. */
export interface StandingPlan {
  readonly standing: StandingApprovalDocument
  readonly change: ChangeSet
}

/** Writes the document. */
export const putStanding = (id: string, expectedVersion: number, standing: StandingApprovalDocument): DocumentPut => ({
  collection: STANDING_APPROVALS,
  id,
  expectedVersion,
  body: standing as unknown as JsonObject,
  keys: standingKeys(standing)
})

/** A standing approval as the interface shows it. */
export const standingOut = (id: string, standing: StandingApprovalDocument, nowMs: number): StandingApproval => ({
  id,
  agent_id: standing.agentId,
  review_id: standing.reviewId,
  evaluation_id: standing.evaluationId,
  layers: standing.layers.map(({ digest, envelopeId, version }) => ({
    envelope_id: envelopeId,
    version,
    digest: `sha256:${digest}`
  })),
  action: standing.action,
  args: standing.args,
  pins: standing.pins?.map(pinOut) ?? null,
  count: standing.count,
  left: standing.left,
  status: standingStatus(standing, nowMs),
  expires_at: formatInstant(standing.expiresAtMs),
  reason: standing.reason,
  proposed_by: standing.proposedBy,
  granted_by: standing.grantedBy,
  revoked_by: standing.revokedBy
})

const pinOut = (pin: Pin): NonNullable<StandingApproval["pins"]>[number] => ({
  path: pin.path,
  eq: "eq" in pin ? pin.eq : null,
  at_most: "at_most" in pin ? pin.at_most : null,
  one_of: "one_of" in pin ? pin.one_of : null
})
