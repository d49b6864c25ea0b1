/** Plans the use of an approval: it counts once. Pure. */
import { approvalState, consumption, type Presenting } from "@flyball/rules"
import type { ChangeSet } from "../../storage/port.ts"
import type { Concluded } from "../evaluations/ports.ts"
import { type StoredReview, withRecord } from "./stored-review.ts"

/**
 * Decides what presenting an approval changes, in the commit of the evaluation that does; null where it stays as it is.
 *
 * - Spec: decisions 0049 and 0064.
 */
export const planConsume = (stored: StoredReview, presenting: Presenting, concluded: Concluded): ChangeSet | null => {
  const { atMs, evaluationId, writer } = concluded
  const result = consumption(approvalState(stored.body, presenting, atMs), concluded)
  if (result === null) return null
  const body = { consumed_at_ms: atMs, evaluation_id: evaluationId, result, writer: writer.id }
  return { ...withRecord(stored, "review.consumed", body).change, sealBeforeMs: stored.body.expiresAtMs }
}
