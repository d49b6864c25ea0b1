/** Decides whether an evaluation uses an approval up. Pure: the live service and the verifier both run it. */
import type { KillState, Outcome } from "@flyball/envelope"
import type { ApprovalState } from "./approval.ts"

/** The verdict of an evaluation that presents an approval. */
export interface PresentingVerdict {
  readonly outcome: Outcome
  readonly matchedRule: string
  /** The response of the kill switch that the agent obeys, in a drill too. */
  readonly kill: KillState
}

/** Rules that deny whatever the action is: the verdict says nothing about the approval. */
const heldRules: ReadonlySet<string> = new Set(["@killed", "@not_active", "@suspended"])

/**
 * Result of presenting an approval; null where it stays as it is, as in a halt, a drill or a suspension. Spec: format 1
 * section 8, `review.consumed`; decisions 0049 and 0064.
 */
export const consumption = (
  state: ApprovalState,
  { kill, matchedRule, outcome }: PresentingVerdict
): "used" | "voided" | null => {
  const isAllowed = outcome === "allow" || outcome === "allow_with_notice"
  if (!isAllowed && (kill === "step_down" || heldRules.has(matchedRule))) return null
  return state === "superseded" || state === "stricter"
    ? "voided"
    : state !== "approved"
      ? null
      : isAllowed
        ? "used"
        : "voided"
}
