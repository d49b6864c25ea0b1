/** Refusals about workflows and their executions. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such workflow, or it is of another org unit. Spec: api.md, Conventions. */
export class WorkflowNotFound extends Schema.TaggedError<WorkflowNotFound>()("WorkflowNotFound", {
  workflowId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): WorkflowNotFound {
    return new WorkflowNotFound({})
  }
  override get message(): string {
    return "There is no such workflow in the caller's org unit."
  }
}

/** There is no such execution, or it is of another org unit. Spec: api.md, Conventions. */
export class ExecutionNotFound extends Schema.TaggedError<ExecutionNotFound>()("ExecutionNotFound", {
  executionId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ExecutionNotFound {
    return new ExecutionNotFound({})
  }
  override get message(): string {
    return "There is no such execution in the caller's org unit."
  }
}

/** Nothing waits for an answer: not yet, or not any more. No answer is kept. Spec: document 2 section 3. */
export class ExecutionNotWaiting extends Schema.TaggedError<ExecutionNotWaiting>()("ExecutionNotWaiting", {
  currentStatus: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ExecutionNotWaiting {
    return new ExecutionNotWaiting({ currentStatus: "running" })
  }
  override get message(): string {
    return (
      `The execution is ${this.currentStatus ?? "in another state"}, and no step of it waits for an answer. Read it, ` +
      "and answer what it asks."
    )
  }
}

/** The step was answered before, otherwise or by somebody else. Spec: document 2 section 3. */
export class ApprovalAlreadyDecided extends Schema.TaggedError<ApprovalAlreadyDecided>()("ApprovalAlreadyDecided", {
  approved: reported(Schema.Boolean)
}) {
  static readonly status = 409
  static get example(): ApprovalAlreadyDecided {
    return new ApprovalAlreadyDecided({ approved: true })
  }
  override get message(): string {
    return `The step was ${this.approved === false ? "rejected" : "approved"} before. An answer counts once.`
  }
}

/** The answer names another approval or subject than what waits now. Spec: document 2 section 3. */
export class ApprovalStale extends Schema.TaggedError<ApprovalStale>()("ApprovalStale", {}) {
  static readonly status = 409
  static get example(): ApprovalStale {
    return new ApprovalStale()
  }
  override get message(): string {
    return "The answer is for another approval or subject than what waits now. Read the execution again."
  }
}

/** The caller may not answer the step. Spec: document 2 section 3. */
export class ApprovalNotEligible extends Schema.TaggedError<ApprovalNotEligible>()("ApprovalNotEligible", {
  why: reported(Schema.Literals(["starter", "role", "key"]))
}) {
  static readonly status = 403
  static get example(): ApprovalNotEligible {
    return new ApprovalNotEligible({ why: "starter" })
  }
  override get message(): string {
    switch (this.why) {
      case "role":
        return "The step asks for a person with another role."
      case "key":
        return "The step asks for a person of a role, and a key has none."
      default:
        return "The caller that started the execution may not answer for it: the workflow needs a second person."
    }
  }
}

/** The execution is over, and stays as it is. Spec: document 2 section 3. */
export class ExecutionFinal extends Schema.TaggedError<ExecutionFinal>()("ExecutionFinal", {
  currentStatus: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ExecutionFinal {
    return new ExecutionFinal({ currentStatus: "completed" })
  }
  override get message(): string {
    return `The execution is ${this.currentStatus ?? "over"}, and that does not change.`
  }
}

/** The host sends no requests to agents, or has no key to seal their headers. Spec: api.md "Document 2". */
export class EgressUnavailable extends Schema.TaggedError<EgressUnavailable>()("EgressUnavailable", {}) {
  static readonly status = 503
  static get example(): EgressUnavailable {
    return new EgressUnavailable()
  }
  override get message(): string {
    return "This host calls no agents: it was started without a sender, or without the key that seals headers."
  }
}
