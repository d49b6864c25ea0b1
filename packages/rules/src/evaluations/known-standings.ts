/**
 * Standing approvals as the records before an evaluation tell of them: whether each act on one was allowed, and whether
 * one approves the evaluation that names it. Spec: decision 0050.
 */
import { type Crypto, toHex } from "@flyball/evidence"
import type { JsonMap, ReplayRecord } from "../records/record.ts"
import { isSameLayers } from "../reviews/approval.ts"
import type { ReviewDocument } from "../reviews/document.ts"
import { whyNotApproved, type NotApproved } from "../standing-approvals/approves.ts"
import { STANDING_APPROVALS, type StandingApprovalDocument } from "../standing-approvals/document.ts"
import {
  foldStandingGranted,
  foldStandingProposed,
  foldStandingRevoked,
  foldStandingUsed
} from "../standing-approvals/fold.ts"
import type { EvaluationBody } from "./evaluation-body.ts"
import { problem, type Problem } from "./recompute-verdict.ts"
import { signalsOf } from "./signals-part.ts"

interface Known {
  readonly standing: StandingApprovalDocument
  /** Whether what it approves is not shown here. */
  readonly isHidden: boolean
}

/** Whether records of a kind tell of standing approvals. */
export const isOfStandings = (kind: string): boolean => kind.startsWith("standing_approval.")

/** Standing approvals up to a record. It grows with them, and by an id with each review that opens. */
export class KnownStandings {
  readonly #known = new Map<string, Known>()
  readonly #sha256: Crypto["sha256"]
  /** Rules and layers that required a review, by the evaluation that was reviewed. */
  readonly #required = new Map<string, ReadonlyArray<number>>()
  /** The evaluation that was let through and whose use is not recorded yet. */
  #due: { readonly id: string; readonly evaluationId: string; readonly seq: number } | null = null

  constructor(sha256: Crypto["sha256"]) {
    this.#sha256 = sha256
  }

  /**
   * Takes a record of a standing approval, in order; answers what is wrong with it. `review`: the one that it names;
   * undefined where no record opens it.
   */
  take(record: ReplayRecord, review: ReviewDocument | undefined, fromGenesis: boolean): Problem | null {
    const { body, kind, parts } = record
    const id = String(body["standing_approval_id"])
    if (kind === "standing_approval.proposed") {
      const box = parts.get("box")
      const document = foldStandingProposed(record)
      this.#known.set(id, {
        standing: document.body as unknown as StandingApprovalDocument,
        isHidden: document.unknown.includes("pins")
      })
      if (box?.state === "present" && toHex(this.#sha256(box.bytes)) !== body["box_digest"])
        return mismatch(`The box of ${id} has another digest than the record says.`)
      return review === undefined && !fromGenesis ? null : this.#proposed(id, record, review)
    }
    const known = this.#known.get(id)
    if (known === undefined)
      return fromGenesis ? problem("reference_mismatch", `No record before it proposes ${id}.`) : null
    const { standing } = known
    const fold = folds[kind]
    const next = (): void =>
      void this.#known.set(id, {
        ...known,
        standing: fold!(asDocument(id, standing), record).body as unknown as StandingApprovalDocument
      })
    if (kind === "standing_approval.granted") {
      const isOpen = standing.status === "proposed"
      next()
      if (!isOpen) return mismatch(`${id} is granted, and was ${standing.status} before.`)
      return body["writer"] === standing.proposedBy || body["proposed_by"] !== standing.proposedBy
        ? mismatch(`${id} is granted by who proposed it, or names another proposer.`)
        : null
    }
    if (kind === "standing_approval.revoked") {
      next()
      return standing.status === "revoked" ? mismatch(`${id} was revoked before.`) : null
    }
    if (kind !== "standing_approval.used") return null
    const due = this.#due
    this.#due = null
    const left = standing.left - 1
    next()
    if (due?.id !== id || due.evaluationId !== body["evaluation_id"])
      return mismatch(`${id} is used up by ${String(body["evaluation_id"])}, which it did not let through.`)
    return body["left"] === left
      ? null
      : mismatch(`${left} are left of ${id}; the record says ${String(body["left"])}.`)
  }

  /** A person who approved the review proposes, under the versions and for the rules that required it. */
  #proposed(id: string, { body }: ReplayRecord, review: ReviewDocument | undefined): Problem | null {
    const isApproved = review?.ended === "resolved" && review.resolution === "approve"
    if (review === undefined || !isApproved || !review.approvals.some(({ by }) => by === body["writer"]))
      return mismatch(`${id} is proposed by ${String(body["writer"])}, who did not approve the review that it names.`)
    const layers = (body["layers"] as ReadonlyArray<JsonMap>).map((layer) => ({
      envelopeId: String(layer["envelope_id"]),
      version: Number(layer["version"])
    }))
    const required = this.#required.get(review.evaluationId)
    return review.evaluationId !== body["evaluation_id"] ||
      review.agentId !== body["agent_id"] ||
      !isSameLayers(review.layers, layers) ||
      (required !== undefined && JSON.stringify(required) !== JSON.stringify(body["asks"]))
      ? mismatch(`${id} names another evaluation, agent or version than its review, or other rules.`)
      : null
  }

  /**
   * Whether the standing approval that an evaluation names approves it; null where it does, or names none. `asks`: what
   * requires a review; null where that is not known.
   */
  judge(
    { parts, seq }: Pick<ReplayRecord, "parts" | "seq">,
    body: EvaluationBody,
    asks: ReadonlyArray<number> | null,
    fromGenesis: boolean
  ): Problem | null {
    const unused = this.#due
    this.#due = null
    const id = body.standing_approval_id
    if (body.outcome === "require_review" && body.review_id !== undefined && asks !== null)
      this.#required.set(body.evaluation_id, asks)
    if (unused !== null)
      return mismatch(`The use of ${unused.id} by the evaluation at ${unused.seq} is in no record of its commit.`)
    if (id === undefined) return null
    this.#due = { id, evaluationId: body.evaluation_id, seq }
    const known = this.#known.get(id)
    if (known === undefined)
      return fromGenesis
        ? mismatch(`No record before it proposes ${id}.`)
        : problem("withheld", `${id} comes from before the first record here.`)
    const [action, args, signals] = [parts.get("action"), parts.get("args"), parts.get("signals")]
    const isHidden =
      asks === null || [action, args, signals].some((part) => part !== undefined && part.state !== "present")
    const valueOf = (part: typeof action): unknown => (part?.state === "present" ? signalsOf(part.bytes) : undefined)
    const why = whyNotApproved(known.standing, {
      agentId: body.agent_id,
      layers: body.layers.map(({ envelope_id: envelopeId, version }) => ({ envelopeId, version })),
      asks: asks ?? [],
      inputs: {
        action: (valueOf(action) ?? null) as string | null,
        args: valueOf(args),
        signals: valueOf(signals)
      },
      isRedacted: body.args_redacted === true,
      atMs: body.as_of_ms
    })
    const mayLieIn = why === null || (why === "outside_box" && body.args_redacted !== true)
    if (mayLieIn && (known.isHidden || isHidden || known.standing.pins === null))
      return problem("withheld", `The box of ${id}, or what lies in it, is not shown here.`)
    return why === null ? null : mismatch(`${id} does not approve this: ${reasons[why]}.`)
  }
}

const folds: { readonly [kind: string]: typeof foldStandingGranted | undefined } = {
  "standing_approval.granted": foldStandingGranted,
  "standing_approval.used": foldStandingUsed,
  "standing_approval.revoked": foldStandingRevoked
}

const reasons: { readonly [why in NotApproved]: string } = {
  other_agent: "it is of another agent",
  not_in_force: "it was not in force then, or nothing was left of it",
  other_envelope: "other versions were in force than under the reviewed evaluation",
  other_rules: "a rule requires a review that did not require one then",
  outside_box: "the inputs lie outside its box"
}

const mismatch = (reason: string): Problem => problem("standing_approval_mismatch", reason)

const asDocument = (id: string, standing: StandingApprovalDocument) => ({
  collection: STANDING_APPROVALS,
  id,
  body: standing as unknown as JsonMap,
  unique: {},
  unknown: [],
  erased: [],
  personal: []
})
