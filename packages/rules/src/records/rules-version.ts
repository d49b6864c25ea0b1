/**
 * The version of the rules by which the service decides. Records of decisions name it, and replay decides each record
 * by the rules of its time.
 *
 * 1: records without the member `rules`.
 * 2: owner means name and e-mail, verdicts take the effective tier, and a verdict on a draft names `@not_active`.
 * 3: verdicts obey the kill switch: `drain`, `halt` and `quarantine` deny, `step_down` lowers the effective tier.
 *    The drill that L4 needs is one that a record attests.
 * 4: an approved review or a standing approval turns `require_review` into `allow`; every other `require_review` names
 *    the review that it opens or waits for.
 * 5: an approval of a review counts for the action and the tool of the reviewed evaluation alone, and where the verdict
 *    asks for no more people than approved.
 * 6: a standing approval is proposed on the agent that its box was proved for: no change of it lies in between.
 * 7: what the response policy makes of a request, a trip or a suspension follows from the policy and the agent as they
 *    are at the record that activates, and a request that it answers activates.
 *
 * To change a rule: raise `RULES`, add a line here, keep the old rule, and let replay choose by `rulesOf`. Spec:
 * decision 0038.
 */
import type { JsonMap } from "../records/record.ts"

/** The number of the current version of the rules. Spec: format 1 section 8; decision 0038. */
export const RULES = 7

/** The version of the rules that a record was made by. A record without the member is older than the member. */
export const rulesOf = (body: JsonMap): number => (typeof body["rules"] === "number" ? body["rules"] : 1)

/** Whether a record was made by rules that know reviews. */
export const knowsReviews = (body: JsonMap): boolean => rulesOf(body) >= 4

/** Whether a record was made by rules that bind an approval to the action and to what the verdict asks of people. */
export const bindsApprovals = (body: JsonMap): boolean => rulesOf(body) >= 5

/** Whether a proposal of a standing approval was made by rules that expect the agent that its box was proved for. */
export const provesBoxes = (body: JsonMap): boolean => rulesOf(body) >= 6

/** Whether a record was made by rules that expect the response policy and the agent unchanged. Spec: decision 0061. */
export const bindsResponses = (body: JsonMap): boolean => rulesOf(body) >= 7

/**
 * Whether a record was made by rules that this version of the code does not know. Such a record is not judged, and is
 * not called wrong.
 */
export const areNewerRules = (body: JsonMap): boolean => rulesOf(body) > RULES

/** Reported for a record that was made by newer rules. */
export const newerRules = (body: JsonMap): string =>
  `The record was made by rules ${rulesOf(body)}, and this version knows rules up to ${RULES}. Replay it with ` +
  "a newer version."
