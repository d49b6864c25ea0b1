/**
 * Checks that a record that settles or voids names the records that it ends: the decision of its agent, and that
 * decision's evaluation. Spec: decision 0026. Seqs are those of one chain: what a recovery put aside is settled and
 * voided there alone.
 */
import { decodeId } from "@flyball/evidence"
import type { JsonMap } from "../../records/record.ts"
import { NumbersAt, RecordsAt } from "../records-at.ts"
import { SeenIds } from "../seen-ids.ts"
import { ID_LENGTH } from "../tolerances.ts"

/** A member that names the wrong record. */
export interface WrongReference {
  readonly member: string
  readonly reason: string
}

/** The members of a record that this fold reads. */
interface Referring {
  readonly seq: number
  readonly kind: string
  readonly body: JsonMap
}

/** Evaluations with underivable ids that are remembered; each was reported as wrong by itself. */
const MAX_MISNAMED = 10_000
/**
 * For a decision: it names an evaluation that no earlier record made. Values from here on: the evaluation's seq,
 * counted from the first known one.
 */
const NAMED = 1

/**
 * Fold of references. It takes two bytes for each record, four more where decisions name evaluations, and 20 for each
 * evaluation.
 */
export class References {
  readonly #records = new RecordsAt()
  /** The evaluation that each decision names. */
  readonly #named = new NumbersAt()
  readonly #ids = new SeenIds()
  readonly #misnamed = new Map<string, number>()
  readonly #first: number

  /** `first`: seq of the first known record. References to records before it are not judged. */
  constructor(first: number) {
    this.#first = first
  }

  /** Notes an evaluation by the 16 bytes of its id; answers false where one was noted under them before. */
  evaluation(seq: number, agentId: string, id: Uint8Array): boolean {
    this.#records.add(seq, "evaluation", agentId)
    return this.#ids.add(id, seq - this.#first)
  }

  /** Notes that an evaluation has another id than the one that derives. */
  misnamed(seq: number, id: string): void {
    if (this.#misnamed.size < MAX_MISNAMED) this.#misnamed.set(id, seq)
  }

  /** Notes that a record cannot be read: references to it are not judged. */
  unknown(seq: number): void {
    this.#records.addUnknown(seq)
  }

  /** Notes a decision. */
  decision({ body: { agent_id: agentId, evaluation_id: id }, seq }: Referring): void {
    if (typeof agentId !== "string" || agentId.length !== ID_LENGTH) return this.#records.addUnknown(seq)
    this.#records.add(seq, "decision", agentId)
    if (typeof id === "string") this.#named.set(seq, NAMED + 1 + (this.#seqOf(id) ?? this.#first - 1) - this.#first)
  }

  /** The first member that names the wrong record; null where none does, or it is unknown. */
  problem({ body, kind, seq }: Referring): WrongReference | null {
    const agentId = String(body["agent_id"])
    const decision = body["decision_seq"]
    const evaluation = body["evaluation_seq"]
    if (kind === "decision.settled" && typeof decision === "number") {
      const wrong = this.#at("decision_seq", "decision", decision, agentId, seq)
      if (wrong !== null) return wrong
    }
    if (typeof evaluation !== "number") return null
    const wrong = this.#at("evaluation_seq", "evaluation", evaluation, agentId, seq)
    if (wrong !== null) return wrong
    if (kind === "meter.voided") return this.#idAt(String(body["evaluation_id"]), evaluation)
    return typeof decision === "number" ? this.#namedBy(decision, evaluation) : null
  }

  #at(
    member: string,
    what: "decision" | "evaluation",
    named: number,
    agentId: string,
    seq: number
  ): WrongReference | null {
    if (named >= seq) return { member, reason: `The ${what} must be before the record; the record names ${named}.` }
    if (named < this.#first) return null
    const found = this.#records.at(named)
    if (found === undefined) return null
    if (found?.what !== what) return { member, reason: `The record at ${named} is no ${what}.` }
    if (found.agentId === agentId) return null
    return {
      member: "agent_id",
      reason: `The ${what} at ${named} belongs to ${found.agentId}; the record says ${agentId}.`
    }
  }

  #idAt(id: string, seq: number): WrongReference | null {
    const known = this.#seqOf(id)
    if (known === seq) return null
    if (known !== null)
      return {
        member: "evaluation_id",
        reason: `The evaluation ${id} is the record at ${known}; the record names ${seq}.`
      }
    if (seq < this.#first || this.#records.at(seq) === undefined) return null
    return { member: "evaluation_id", reason: `The evaluation at ${seq} has another id than ${id}.` }
  }

  /** Checks that a decision settles the evaluation that it names. */
  #namedBy(decision: number, evaluation: number): WrongReference | null {
    if (decision < this.#first || this.#records.at(decision) === undefined) return null
    const named = this.#named.get(decision)
    if (named === 0)
      return {
        member: "decision_seq",
        reason: `The decision at ${decision} names no evaluation; the record settles the one at ${evaluation}.`
      }
    const at = named - NAMED - 1 + this.#first
    if (named === NAMED || at === evaluation) return null
    return {
      member: "decision_seq",
      reason: `The decision at ${decision} names the evaluation at ${at}; the record settles the one at ${evaluation}.`
    }
  }

  #seqOf(id: string): number | null {
    const bytes = decodeId("evl_", id)
    const at = bytes === null ? null : this.#ids.find(bytes)
    return at === null ? (this.#misnamed.get(id) ?? null) : at + this.#first
  }
}
