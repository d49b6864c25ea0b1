/** Why a guarded action did not run. Thrown by `guard`, so that no caller can overlook a no. */
import type { Evaluation, Outcome } from "../wire.ts"

/** A guarded action that did not run. Spec: `envelope/1` section 11. */
export class ActionDenied extends Error {
  override readonly name = "ActionDenied"
  readonly action: string
  /** `halt` where the agent is stopped, `require_review` where a person must approve, else `deny`. */
  readonly outcome: Exclude<Outcome, "allow" | "allow_with_notice">
  /** The rule that decided; one that begins with `@` is the service's or the client's own. */
  readonly rule: string
  /** Why, in words for the agent and its model; empty where nothing more is known than the rule. */
  readonly reason: string
  /** The review that a person may approve; null where there is none. */
  readonly reviewId: string | null
  /** The server's verdict; null where the client decided. */
  readonly evaluation: Evaluation | null

  constructor(
    action: string,
    outcome: Exclude<Outcome, "allow" | "allow_with_notice">,
    rule: string,
    reason: string,
    evaluation: Evaluation | null
  ) {
    super(`The action ${action} did not run: ${outcome} by ${rule}. ${reason}`.trim())
    this.action = action
    this.outcome = outcome
    this.rule = rule
    this.reason = reason
    this.reviewId = evaluation?.review_id ?? null
    this.evaluation = evaluation
  }

  /** The same refusal in other words. */
  static saying(message: string, { action, evaluation, outcome, reason, rule }: ActionDenied): ActionDenied {
    const denied = new ActionDenied(action, outcome, rule, reason, evaluation)
    denied.message = message
    return denied
  }
}
