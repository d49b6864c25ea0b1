/**
 * Steps of an evaluation that other capabilities have a word in: the kill switch (`verdicts/kill/steps.ts`), breakers
 * (`verdicts/breakers/steps.ts`) reviews (`verdicts/reviews/steps.ts`) and
 * standing approvals (`verdicts/standing-approvals/steps.ts`).
 */
import { Context, Effect } from "effect"
import type { Decision, KillState, Outcome } from "@flyball/envelope"
import type { Awaiting, LayerRef, ReachingActivation } from "@flyball/rules"
import type { StoredAgent } from "../../registry/agents/document.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { AsOf, ChangeSet, DocumentPut, ReadFault, RecordDraft } from "../../storage/port.ts"

/**
 * Kill activations against an agent, and the document versions that the commit must find unchanged. Spec: decision
 * 0047.
 */
export interface KillOf {
  readonly state: KillState
  /** The activations that reach it, which its evaluation records. */
  readonly activations: ReadonlyArray<ReachingActivation>
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** Result of an evaluation, for the steps that follow it. */
export interface Concluded {
  readonly evaluationId: string
  readonly agentId: string
  readonly outcome: Outcome
  readonly matchedRule: string
  readonly kill: KillState
  /** The versions in force, outermost first. */
  readonly layers: ReadonlyArray<LayerRef>
  readonly obligations: Decision["obligations"]
  /** 64 hex digits; null where the request had none. */
  readonly actionDigest: string | null
  readonly writer: Writer
  /** The time as of which it was decided. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
}

/**
 * An approval that an evaluation presents. It counts for the versions in force, at the time of the verdict, which are
 * known later than it is read. Spec: decisions 0049 and 0064.
 */
export interface ApprovalOf {
  /** The review; null where there is none. */
  readonly id: string | null
  /** Reports whether it is there to be consumed by a verdict with these obligations. */
  readonly approvedAt: (layers: ReadonlyArray<LayerRef>, obligations: Decision["obligations"], atMs: number) => boolean
  /** The review, while people have not answered it: the verdict names it, and opens no other. */
  readonly reviewAt: (layers: ReadonlyArray<LayerRef>, atMs: number) => string | null
  /** The change that consumes it under this verdict; null where it is left as it is. */
  readonly consumed: (concluded: Concluded) => ChangeSet | null
  /** Documents that the commit must find unchanged for this answer to hold. */
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** The agent and action for which an approval is presented. */
export interface PresentedBy {
  readonly agentId: string
  /** As the interface writes it. */
  readonly actionDigest: string | null
  readonly action: string | null
  /** As the evaluation uses them. */
  readonly signals: unknown
  /** The arguments as they are shown, where they are redacted; null otherwise. */
  readonly redactedArgs: Uint8Array | null
}

/** Effects of earlier evaluations of one commit on reviews: approvals that they consume, reviews that they open. */
export interface ReviewsOfCommit {
  readonly consumed: ReadonlySet<string>
  /** Ids of reviews, by their question. */
  readonly opened: Map<string, string>
}

/** No approval. */
export const noApproval: ApprovalOf = {
  id: null,
  approvedAt: () => false,
  reviewAt: () => null,
  consumed: () => null,
  expects: []
}

/** A granted standing approval of an agent, as it was read. `left`: what is left of it after others of one commit. */
export interface StandingApprovalOf {
  readonly id: string
  readonly left: number
  /** Its end: what it lets through must be sealed before. Unit: milliseconds since 1970 UTC. */
  readonly endsAtMs: number
  readonly approves: (awaiting: Awaiting, left: number) => boolean
  /** The record that an evaluation used it up by one. */
  readonly used: (left: number, evaluationId: string, writer: Writer) => RecordDraft
  /** The document with so much left, at the version that was read. */
  readonly put: (left: number) => DocumentPut
}

/**
 * Steps of an evaluation by other services: kill state, approvals, reviews. Spec: `envelope/1` section 11; decisions
 * 0047 and 0049.
 */
export interface EvaluationStepsApi {
  readonly killOf: (agent: StoredAgent) => Effect.Effect<KillOf, ReadFault>
  /**
   * Trips the breakers of these agents that are due at this time and position, and answers whether any was: what the
   * evaluations read before may not hold any more.
   */
  readonly tripDue: (agentIds: ReadonlySet<string>, at: AsOf) => Effect.Effect<boolean, ReadFault>
  /** The approval of this name, for this agent and action. */
  readonly approval: (approvalId: string, by: PresentedBy) => Effect.Effect<ApprovalOf, ReadFault>
  /** The granted standing approvals of an agent, oldest first. Read where an evaluation would be reviewed. */
  readonly standingApprovals: (agentId: string) => Effect.Effect<ReadonlyArray<StandingApprovalOf>, ReadFault>
  /**
   * The review of a verdict `require_review`: one of the same requester and question that is open, or
   * approved and not presented yet; else a new one, whose records come after the evaluation's.
   */
  readonly review: (
    concluded: Concluded,
    by: PresentedBy,
    inCommit: ReviewsOfCommit
  ) => Effect.Effect<{ readonly reviewId: string | null; readonly change: ChangeSet }, ReadFault>
}

/**
 * Port of the steps that other services add to an evaluation. Spec: `envelope/1` section 11; decisions 0047 and 0049.
 */
export const EvaluationSteps = Context.Reference<EvaluationStepsApi>("flyball/core/EvaluationSteps", {
  defaultValue: () => ({
    killOf: () => Effect.succeed({ state: "none", activations: [], expects: [] }),
    tripDue: () => Effect.succeed(false),
    approval: () => Effect.succeed(noApproval),
    standingApprovals: () => Effect.succeed([]),
    review: () => Effect.succeed({ reviewId: null, change: {} })
  })
})
