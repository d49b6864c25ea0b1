/** Refusals about evaluations. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such evaluation, or the caller may not see it. Spec: api.md, Conventions. */
export class EvaluationNotFound extends Schema.TaggedError<EvaluationNotFound>()("EvaluationNotFound", {
  evaluationId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): EvaluationNotFound {
    return new EvaluationNotFound({})
  }
  override get message(): string {
    return "There is no such evaluation among those that the caller may see."
  }
}

/** The evaluation added nothing to any meter. Spec: `envelope/1` section 6. */
export class NothingToVoid extends Schema.TaggedError<NothingToVoid>()("NothingToVoid", {}) {
  static readonly status = 409
  static get example(): NothingToVoid {
    return new NothingToVoid()
  }
  override get message(): string {
    return "The evaluation added nothing to any meter, so there is nothing to void."
  }
}

/** The evaluation was settled by a decision or voided before. It ends once. Spec: `envelope/1` section 6. */
export class EvaluationEnded extends Schema.TaggedError<EvaluationEnded>()("EvaluationEnded", {
  how: reported(Schema.Literals(["settled", "void"]))
}) {
  static readonly status = 409
  static get example(): EvaluationEnded {
    return new EvaluationEnded({ how: "settled" })
  }
  override get message(): string {
    return this.how === "void"
      ? "The evaluation is already void: its meters no longer count it."
      : "A decision has already settled this evaluation, so its meters keep counting it."
  }
}
