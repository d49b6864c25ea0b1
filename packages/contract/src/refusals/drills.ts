/** Refusals about drills. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such drill. Spec: api.md, Conventions. */
export class DrillNotFound extends Schema.TaggedError<DrillNotFound>()("DrillNotFound", {
  drillId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DrillNotFound {
    return new DrillNotFound({})
  }
  override get message(): string {
    return "There is no such drill."
  }
}

/** The drill was completed before. Spec: decision 0048. */
export class DrillCompleted extends Schema.TaggedError<DrillCompleted>()("DrillCompleted", {}) {
  static readonly status = 409
  static get example(): DrillCompleted {
    return new DrillCompleted()
  }
  override get message(): string {
    return "The drill is already completed, and its measurements stand. Start another one."
  }
}

/** Why a drill cannot be attested. */
const attestWords = {
  not_completed: "The drill is still running. Complete it, then attest its result.",
  attested: "The drill is already attested.",
  nobody_acknowledged: "No instance acknowledged, so the drill shows nothing about stopping. Start another one.",
  too_old: "The drill was completed more than 30 days ago. Start another one."
} as const

/** The drill cannot be attested in its state. `why` is one of the words of {@link attestWords}. Spec: decision 0048. */
export class DrillNotAttestable extends Schema.TaggedError<DrillNotAttestable>()("DrillNotAttestable", {
  why: reported(Schema.Literals(["not_completed", "attested", "nobody_acknowledged", "too_old"]))
}) {
  static readonly status = 409
  static get example(): DrillNotAttestable {
    return new DrillNotAttestable({ why: "nobody_acknowledged" })
  }
  override get message(): string {
    return attestWords[this.why ?? "not_completed"]
  }
}
