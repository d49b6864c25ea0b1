/**
 * Checks that each decision and evaluation ends once. The service refuses the second; replay names it. Spec:
 * decisions 0025 and 0026.
 */
import type { JsonMap } from "../../records/record.ts"
import { SeenSeqs } from "../seen-seqs.ts"

/** Ends of one chain's decisions and evaluations. */
export class Ends {
  readonly #decisions = new SeenSeqs()
  readonly #evaluations = new SeenSeqs()

  /**
   * Checks that a record settles or voids for the first time; answers the problem as a sentence, or null. A reference
   * to a record after this one ends nothing.
   */
  problem({ body, kind, seq }: { readonly seq: number; readonly kind: string; readonly body: JsonMap }): string | null {
    const decision = kind === "decision.settled" ? endable(body["decision_seq"], seq) : null
    const evaluation = endable(body["evaluation_seq"], seq)
    const isDecisionNew = decision === null || this.#decisions.add(decision)
    const isEvaluationNew = evaluation === null || this.#evaluations.add(evaluation)
    if (!isDecisionNew) return `The decision at ${decision} was settled before.`
    return isEvaluationNew
      ? null
      : `The evaluation at ${evaluation} was settled by another decision, or voided, before.`
  }
}

const endable = (named: unknown, seq: number): number | null =>
  typeof named === "number" && named < seq ? named : null
