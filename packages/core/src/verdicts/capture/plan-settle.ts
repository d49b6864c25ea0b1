/** Plans the outcome of a decision. */
import type { DecisionTooLarge, InvalidInput, SettleIn } from "@flyball/contract"
import type { Crypto, Slices } from "@flyball/evidence"
import { Result } from "effect"
import type { SettledMeters } from "../evaluations/meter-changes.ts"
import type { ChangeSet } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { settlementContent } from "./decision-content.ts"
import { contentRefusal } from "./plan-witness.ts"

/** Scope of the settlements: a decision is settled once, across all writers. */
export const SETTLE_SCOPE = "settle"

/** Everything that settling needs to know. */
export interface SettleCommand {
  readonly decisionId: string
  readonly decisionSeq: number
  readonly agentId: string
  readonly settle: SettleIn
  readonly writer: Writer
  /** Effect of the outcome on meters; left out where it reports none. */
  readonly meters?: SettledMeters
}

/**
 * Decides what settling a decision would change: a second record, so that intent and outcome are never confused.
 *
 * - Fails: `DecisionTooLarge`, `InvalidInput` as witnessing does.
 * - Spec: api "decisions, chain, evidence", POST /decisions/{id}/settle.
 */
export function* planSettle(
  crypto: Crypto,
  command: SettleCommand
): Slices<Result.Result<ChangeSet, DecisionTooLarge | InvalidInput>> {
  return (yield* settlementContent(crypto, command.settle)).pipe(
    Result.mapError((problem) => contentRefusal([[0, problem]])),
    Result.map((content) => ({
      turn: { class: "verdict", key: command.writer.id },
      puts: command.meters?.puts ?? [],
      records: [
        {
          kind: "decision.settled",
          agentId: command.agentId,
          body: {
            ...content.body,
            agent_id: command.agentId,
            decision_seq: command.decisionSeq,
            ...(command.meters === undefined ? {} : { evaluation_seq: command.meters.evaluationSeq }),
            writer: command.writer.id
          },
          parts: content.parts,
          once: { scope: SETTLE_SCOPE, key: command.decisionId, digest: content.digest }
        }
      ]
    }))
  )
}
