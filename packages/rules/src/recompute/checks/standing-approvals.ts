/**
 * Checks standing approvals against the records before an evaluation: that each act on one was allowed, that one
 * approves the evaluation that names it, and that its box is no wider than the review that it is made from. Spec:
 * decisions 0050 and 0056.
 */
import { type Crypto, toHex } from "@flyball/evidence"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import { areNewerRules, newerRules } from "../../records/rules-version.ts"
import { isSameLayers } from "../../reviews/approval.ts"
import { type ReviewDocument, reviewIdOf } from "../../reviews/document.ts"
import { whyNotApproved, type NotApproved } from "../../standing-approvals/approves.ts"
import { STANDING_APPROVALS, type StandingApprovalDocument } from "../../standing-approvals/document.ts"
import {
  foldStandingGranted,
  foldStandingProposed,
  foldStandingRevoked,
  foldStandingUsed
} from "../../standing-approvals/fold.ts"
import { shapeOf } from "../../standing-approvals/pins.ts"
import { measuredStanding, type StandingProof } from "../../standing-approvals/prove.ts"
import { actingSignals } from "../acting-tier.ts"
import { whyExcluded } from "./reviews.ts"
import type { Bindings } from "../../evaluations/bindings.ts"
import type { EvaluationBody } from "../../evaluations/evaluation-body.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { reportedOf } from "../../evaluations/known-agents.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { type ReviewedEvaluation, ReviewedActions } from "../reviewed-actions.ts"
import { signalsOf } from "../../evaluations/signals-part.ts"

/**
 * Most work of all proofs of one recomputation, in states of a search: a minute or two at the worst. A proof of a usual
 * envelope takes some hundred. Spec: decision 0056.
 */
export const MAX_PROOF_WORK = 4_000_000

interface Known {
  readonly standing: StandingApprovalDocument
  /** True when its box is not shown here. */
  readonly isHidden: boolean
}

/** Inputs of a proof other than the reviewed action. */
interface ProofSurroundings {
  readonly state: Pick<GovernedState, "agents" | "layer" | "version">
  readonly bindings: Pick<Bindings, "of">
}

/**
 * Fold of standing approvals up to a record. Memory grows with them, and by an id for each review that opens. Reviewed
 * actions are kept within the bounds of {@link ReviewedActions}.
 */
export class StandingApprovalJudge {
  readonly #known = new Map<string, Known>()
  readonly #sha256: Crypto["sha256"]
  readonly #surroundings: ProofSurroundings
  readonly #actions: ReviewedActions
  /** Rules and layers that required a review, by the evaluation that was reviewed. */
  readonly #required = new Map<string, ReadonlyArray<number>>()
  /** The remaining work that proofs may take. */
  #workLeft: number
  /** The approved evaluation whose use is not recorded yet. */
  #due: { readonly id: string; readonly evaluationId: string; readonly seq: number } | null = null

  /** `maxWork`: as {@link MAX_PROOF_WORK}. */
  constructor(
    sha256: Crypto["sha256"],
    surroundings: ProofSurroundings,
    { actions = new ReviewedActions(), maxWork = MAX_PROOF_WORK } = {}
  ) {
    this.#sha256 = sha256
    this.#surroundings = surroundings
    this.#actions = actions
    this.#workLeft = maxWork
  }

  /** Notes that a review ended: without an approval nothing is proposed from it. */
  reviewEnded({ ended, evaluationId, resolution }: ReviewDocument): void {
    if (ended !== null && resolution !== "approve") this.#actions.closed(evaluationId)
  }

  /**
   * Takes a record of a standing approval, in order; answers its problem, or null. `review`: the one that it names;
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
      if (areNewerRules(body)) return problem("withheld", newerRules(body))
      const isKnown = review !== undefined || fromGenesis
      return (isKnown ? this.#proposed(id, record, review) : null) ?? this.#proof(id, record)
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
      if (body["writer"] === standing.proposedBy || body["proposed_by"] !== standing.proposedBy)
        return mismatch(`${id} is granted by its proposer, or names another proposer.`)
      const writer = String(body["writer"])
      const why = review === undefined ? null : whyExcluded(this.#surroundings.state, review, writer)
      return why === null ? null : problem("self_approved", `${id} is granted by ${writer}, ${why}.`)
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
      return mismatch(`${id} is used by ${String(body["evaluation_id"])}, which it did not approve.`)
    return body["left"] === left
      ? null
      : mismatch(`${left} uses are left of ${id}; the record says ${String(body["left"])}.`)
  }

  /** Checks a proposal: by a person who approved the review, under its versions and for the rules that required it. */
  #proposed(id: string, { body }: ReplayRecord, review: ReviewDocument | undefined): Problem | null {
    const isApproved = review?.ended === "resolved" && review.resolution === "approve"
    if (review === undefined || !isApproved || !review.approvals.some(({ by }) => by === body["writer"]))
      return mismatch(`${id} is proposed by ${String(body["writer"])}, who did not approve the review that it names.`)
    const layers = (body["layers"] as ReadonlyArray<JsonMap>).map((layer) => ({
      envelopeId: String(layer["envelope_id"]),
      version: Number(layer["version"])
    }))
    const required = this.#required.get(review.evaluationId)
    const made = this.#actions.get(review.evaluationId)?.body.layers
    return review.evaluationId !== body["evaluation_id"] ||
      review.agentId !== body["agent_id"] ||
      !isSameLayers(review.layers, layers) ||
      made?.some(({ digest }, place) => digest !== (body["layers"] as ReadonlyArray<JsonMap>)[place]?.["digest"]) ===
        true ||
      (required !== undefined && JSON.stringify(required) !== JSON.stringify(body["asks"]))
      ? mismatch(`${id} names another evaluation, agent or version than its review, or other rules.`)
      : null
  }

  /** Proves the box again, as the service did when it was proposed. */
  #proof(id: string, { body }: ReplayRecord): Problem | null {
    const hidden = (why: string): Problem =>
      problem("withheld", `It is not proved that the box of ${id} is no wider than its review: ${why}`)
    const reviewed = this.#actions.get(String(body["evaluation_id"]))
    if (reviewed === null)
      return hidden("the reviewed evaluation is from before the first record here, or is not kept.")
    const found = this.#proved(id, body, reviewed)
    return typeof found === "string" ? hidden(found) : found
  }

  /** Proves a box; a sentence where something that the proof needs is not known. */
  #proved(id: string, body: JsonMap, { body: made, inputs }: ReviewedEvaluation): Problem | string | null {
    const { standing } = this.#known.get(id)!
    const agent = this.#surroundings.state.agents.get(standing.agentId)
    if (inputs === null) return "the reviewed action is not shown."
    if (standing.pins === null) return "its box is not shown."
    if (agent === undefined || agent.document.unknown.includes("blastRadius")) return "the agent is not shown."
    const named = made.waivers ?? []
    const layers = made.layers.map((layer) => {
      const { waivers, ...rest } = this.#surroundings.state.layer(layer.envelope_id, layer.version, made.as_of_ms)
      return { ...rest, waivers: waivers.filter(({ id }) => named.includes(id)) }
    })
    const waivers = layers.flatMap((layer) => layer.waivers)
    if (waivers.length !== named.length || waivers.some(({ waiver }) => waiver === null))
      return "a waiver that held for the reviewed action is not shown."
    const compiled = this.#surroundings.bindings.of(layers, false).ready?.combination.compiled
    if (compiled === undefined) return "the envelope is not shown."
    const shape = shapeOf(inputs)
    if (standing.action !== shape.action || JSON.stringify(standing.args) !== JSON.stringify(shape.args))
      return mismatch(`The box of ${id} is of another action, or of other arguments, than the reviewed one.`)
    if (this.#workLeft <= 0)
      return {
        ...problem("withheld", `The box of ${id} was not proved: the proofs before it took all work of one replay.`),
        because: "budget"
      }
    const server = actingSignals(reportedOf(standing.agentId, agent).server, made)
    const { proof, work } = measuredStanding(
      { asks: body["asks"] as ReadonlyArray<number>, compiled, inputs, server },
      standing.pins
    )
    this.#workLeft -= work
    return unproved(id, proof)
  }

  /**
   * Checks the standing approval that an evaluation names; null where it approves, or none is named. `asks`: what
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
    if (body.outcome === "require_review" && body.review_id === reviewIdOf(body.evaluation_id))
      this.#actions.opened(body, parts)
    if (unused !== null)
      return mismatch(`The commit of the evaluation at ${unused.seq} has no record of its use of ${unused.id}.`)
    if (id === undefined) return null
    this.#due = { id, evaluationId: body.evaluation_id, seq }
    const known = this.#known.get(id)
    if (known === undefined)
      return fromGenesis
        ? mismatch(`No record before it proposes ${id}.`)
        : problem("withheld", `${id} is from before the first record here.`)
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
      return problem("withheld", `The box of ${id}, or an input that it covers, is not shown here.`)
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
  not_in_force: "it was not in force then, or was used up",
  other_envelope: "other versions were in force than under the reviewed evaluation",
  other_rules: "a rule requires a review that did not require one then",
  outside_box: "the inputs are outside its box"
}

const mismatch = (reason: string): Problem => problem("standing_approval_mismatch", reason)

/** The values of an example are not said: a reason never shows a signal. */
const unproved = (id: string, proof: StandingProof): Problem | string | null => {
  switch (proof.kind) {
    case "proved":
      return null
    case "open":
      return "the search for a wider input did not end within its bounds."
    case "wider":
      return problem(
        "standing_approval_too_wide",
        `The box of ${id} holds inputs for which ${proof.rule} requires a review; it did not require the one that ` +
          "was approved."
      )
    case "outside":
      return mismatch(`The reviewed action is outside the box of ${id}.`)
    case "misfit":
      return mismatch(`The box of ${id} pins ${proof.axis} to a value that it cannot have.`)
  }
}

const asDocument = (id: string, standing: StandingApprovalDocument) => ({
  collection: STANDING_APPROVALS,
  id,
  body: standing as unknown as JsonMap,
  unique: {},
  unknown: [],
  erased: [],
  personal: []
})
