/** Plans the acts of a standing approval: proposed by one person, granted by another, used, revoked. Pure. */
import {
  ReviewerNotEligible,
  SecondApproverRequired,
  type StandingApproval,
  StandingApprovalNotOpen
} from "@flyball/contract"
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import {
  boxOf,
  type Pin,
  RULES,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  standingKeys,
  standingStatus
} from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import type { ChangeSet, Document, DocumentPut, JsonObject, RecordDraft } from "../../storage/port.ts"

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

/** Decides what a proposal would change. It approves nothing yet. */
export const planPropose = (id: string, standing: StandingApprovalDocument): StandingPlan => ({
  standing,
  change: {
    puts: [putStanding(id, 0, standing)],
    records: [
      {
        kind: "standing_approval.proposed",
        agentId: standing.agentId,
        body: {
          agent_id: standing.agentId,
          asks: standing.asks,
          box_digest: standing.boxDigest,
          count: standing.count,
          evaluation_id: standing.evaluationId,
          expires_at: formatInstant(standing.expiresAtMs),
          layers: standing.layers.map(({ digest, envelopeId, version }) => ({
            digest,
            envelope_id: envelopeId,
            version
          })),
          review_id: standing.reviewId,
          rules: RULES,
          standing_approval_id: id,
          writer: standing.proposedBy
        },
        parts: [
          { name: "box", bytes: canonicalBytes(boxOf(standing)) },
          { name: "reason", bytes: canonicalBytes(standing.reason) }
        ]
      }
    ]
  }
})

/** How the person who grants one relates to those who may not. */
export interface Granter {
  readonly toProposer: SecondPerson
  /** To the requester of the review, and to the authors of the versions that it was opened under. */
  readonly toOthers: SecondPerson
  /** Whether the person is the owner of an agent whose review asks for two other people. */
  readonly isOwner: boolean
}

/**
 * Decides what granting one would change.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `StandingApprovalNotOpen` where it was granted, revoked or erased, or its time is past;
 *   `SecondApproverRequired` where the proposer, or who may be the same person, grants it; `ReviewerNotEligible` for
 *   who may not answer its review.
 */
export const planGrant = (
  { body, id, version }: StoredStanding,
  nowMs: number,
  writer: Writer,
  { isOwner, toOthers, toProposer: person }: Granter
): Result.Result<StandingPlan, ReviewerNotEligible | SecondApproverRequired | StandingApprovalNotOpen> => {
  const status = standingStatus(body, nowMs)
  if (status !== "proposed" || body.pins === null) return Result.fail(new StandingApprovalNotOpen({ status }))
  if (person !== "another") {
    const sentence = `Up to ${body.count} evaluations would need no review.`
    return Result.fail(
      new SecondApproverRequired({
        change: "loosens",
        sentence: person === "perhaps_them" ? `${sentence} ${ERASED_AUTHOR}` : sentence
      })
    )
  }
  if (toOthers !== "another")
    return Result.fail(
      new ReviewerNotEligible({
        why: "requester_or_author",
        ...(toOthers === "perhaps_them" ? { sentence: ERASED_AUTHOR } : {})
      })
    )
  if (isOwner) return Result.fail(new ReviewerNotEligible({ why: "owner" }))
  const standing: StandingApprovalDocument = { ...body, status: "granted", grantedBy: writer.id }
  return Result.succeed({
    standing,
    change: {
      puts: [putStanding(id, version, standing)],
      records: [
        {
          kind: "standing_approval.granted",
          agentId: body.agentId,
          body: {
            agent_id: body.agentId,
            proposed_by: body.proposedBy,
            review_id: body.reviewId,
            standing_approval_id: id,
            writer: writer.id
          },
          parts: []
        }
      ]
    }
  })
}

/** Decides what revoking one would change. Fails: `StandingApprovalNotOpen` where it approves nothing any more. */
export const planRevoke = (
  { body, id, version }: StoredStanding,
  nowMs: number,
  reason: string | null,
  writer: Writer
): Result.Result<StandingPlan, StandingApprovalNotOpen> => {
  const status = standingStatus(body, nowMs)
  if (status !== "proposed" && status !== "granted") return Result.fail(new StandingApprovalNotOpen({ status }))
  const standing: StandingApprovalDocument = {
    ...body,
    status: "revoked",
    revokedBy: writer.id,
    revokeReason: reason
  }
  return Result.succeed({
    standing,
    change: {
      puts: [putStanding(id, version, standing)],
      records: [
        {
          kind: "standing_approval.revoked",
          agentId: body.agentId,
          body: { agent_id: body.agentId, standing_approval_id: id, writer: writer.id },
          parts: reason === null ? [] : [{ name: "reason", bytes: canonicalBytes(reason) }]
        }
      ]
    }
  })
}

/** The record that one evaluation used it up by one. */
export const standingUsed = (
  { id, body }: Pick<StoredStanding, "body" | "id">,
  left: number,
  evaluationId: string,
  writer: Writer
): RecordDraft => ({
  kind: "standing_approval.used",
  agentId: body.agentId,
  body: {
    agent_id: body.agentId,
    evaluation_id: evaluationId,
    left,
    standing_approval_id: id,
    writer: writer.id
  },
  parts: []
})

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
