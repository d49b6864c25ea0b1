/** Refusals about envelopes and waivers. */
import { Schema } from "effect"
import { idPrefixes } from "../foundation/ids.ts"
import { reported } from "./members.ts"

/** There is no such envelope, or the caller may not see it. Spec: api.md, Conventions. */
export class EnvelopeNotFound extends Schema.TaggedError<EnvelopeNotFound>()("EnvelopeNotFound", {
  envelopeId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): EnvelopeNotFound {
    return new EnvelopeNotFound({})
  }
  override get message(): string {
    return "There is no such envelope among those that the caller may see."
  }
}

/** The envelope has no such version. Spec: api.md, Conventions. */
export class EnvelopeVersionNotFound extends Schema.TaggedError<EnvelopeVersionNotFound>()("EnvelopeVersionNotFound", {
  version: reported(Schema.Int)
}) {
  static readonly status = 404
  static get example(): EnvelopeVersionNotFound {
    return new EnvelopeVersionNotFound({ version: 7 })
  }
  override get message(): string {
    return "The envelope has no such version. List its versions; a draft becomes a version when it is published."
  }
}

/** There is an envelope for this agent or org unit. `envelopeId` is that one. Spec: api.md, Conventions. */
export class EnvelopeExists extends Schema.TaggedError<EnvelopeExists>()("EnvelopeExists", {
  envelopeId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 409
  static get example(): EnvelopeExists {
    return new EnvelopeExists({ envelopeId: `${idPrefixes.envelope}_${"0".repeat(26)}` })
  }
  override get message(): string {
    return "This agent or org unit has an envelope. Change its draft: each has one envelope, with versions."
  }
}

/** The envelope has changed since it was read. `revision` is the one that is there. Spec: api.md, Conventions. */
export class EnvelopeRevisionConflict extends Schema.TaggedError<EnvelopeRevisionConflict>()(
  "EnvelopeRevisionConflict",
  { revision: reported(Schema.Int) }
) {
  static readonly status = 409
  static get example(): EnvelopeRevisionConflict {
    return new EnvelopeRevisionConflict({ revision: 2 })
  }
  override get message(): string {
    return "The envelope has changed since it was read. Read it again and send the change with its revision."
  }
}

/** There is neither a draft nor a version on trial. Spec: api.md, Conventions. */
export class NothingToPublish extends Schema.TaggedError<NothingToPublish>()("NothingToPublish", {}) {
  static readonly status = 409
  static get example(): NothingToPublish {
    return new NothingToPublish()
  }
  override get message(): string {
    return "There is nothing to publish: the envelope has neither a draft nor a version on trial. Write a draft first."
  }
}

/** True for an item of `findings` that is an error with a code and a sentence. */
const isErrorFinding = (
  finding: unknown
): finding is { readonly code: string; readonly message: string; readonly path?: unknown } =>
  typeof finding === "object" &&
  finding !== null &&
  "level" in finding &&
  finding.level === "error" &&
  "code" in finding &&
  typeof finding.code === "string" &&
  "message" in finding &&
  typeof finding.message === "string"

/**
 * The draft has errors. `findings` are all findings; the message names the first error and the number of the others.
 * Spec: `envelope/1` section 14; decision 0025.
 */
export class EnvelopeNotPublishable extends Schema.TaggedError<EnvelopeNotPublishable>()("EnvelopeNotPublishable", {
  findings: reported(Schema.Array(Schema.Unknown))
}) {
  static readonly status = 409
  static get example(): EnvelopeNotPublishable {
    return new EnvelopeNotPublishable({
      findings: [
        {
          code: "E101",
          level: "error",
          path: null,
          rules: ["small_refunds"],
          message:
            "The rule small_refunds holds for no input: its conditions exclude each other. Correct them or remove it.",
          example: null,
          volume: null,
          share: null,
          history_count: null
        }
      ]
    })
  }
  override get message(): string {
    const errors = (this.findings ?? []).filter(isErrorFinding)
    const [first] = errors
    if (first === undefined)
      return "The draft has errors, so it cannot be published. Correct every finding of level error."
    const { code, message, path } = first
    const where = typeof path === "string" && path !== "" ? ` at ${path}` : ""
    const more = errors.length - 1
    return (
      `The draft has errors, so it cannot be published. ${code}${where}: ${message}` +
      (more === 0 ? "" : ` There ${more === 1 ? "is 1 more error" : `are ${more} more errors`}; findings lists each.`)
    )
  }
}

/**
 * The draft newly allows something, and its publisher wrote it. `change` is the proved kind of change, `sentence` names
 * the new permissions. Spec: decision 0025.
 */
export class SecondApproverRequired extends Schema.TaggedError<SecondApproverRequired>()("SecondApproverRequired", {
  change: reported(Schema.String),
  sentence: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): SecondApproverRequired {
    return new SecondApproverRequired({
      change: "loosens",
      sentence: "Newly allowed: 12.50 % of the inputs."
    })
  }
  override get message(): string {
    return this.change === "attest"
      ? "The person who started the drill cannot attest it. Ask another governor."
      : "This loosens what agents may do, so its author cannot put it in force. Ask another governor."
  }
}

/**
 * The caller has reached the limit of lints, diffs, backtests or publications under way. `limit` is that number. Spec:
 * decision 0029.
 */
export class ExaminationQueueFull extends Schema.TaggedError<ExaminationQueueFull>()("ExaminationQueueFull", {
  limit: reported(Schema.Int)
}) {
  static readonly status = 429
  static get example(): ExaminationQueueFull {
    return new ExaminationQueueFull({ limit: 8 })
  }
  override get message(): string {
    const limit = this.limit === undefined ? "as many" : `${this.limit}`
    return (
      `The caller has ${limit} envelope examinations waiting or running, which is the limit. ` +
      "Send this request again after one of them ends."
    )
  }
}

/** No version of the envelope is in force. Spec: decision 0025. */
export class EnvelopeNotInForce extends Schema.TaggedError<EnvelopeNotInForce>()("EnvelopeNotInForce", {}) {
  static readonly status = 409
  static get example(): EnvelopeNotInForce {
    return new EnvelopeNotInForce()
  }
  override get message(): string {
    return "No version of this envelope is in force."
  }
}

/** There is no such waiver of this envelope. Spec: api.md, Conventions. */
export class WaiverNotFound extends Schema.TaggedError<WaiverNotFound>()("WaiverNotFound", {
  waiverId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): WaiverNotFound {
    return new WaiverNotFound({})
  }
  override get message(): string {
    return "There is no such waiver of this envelope."
  }
}

/** The waiver cannot be granted any more. `status` says why. Spec: decision 0025. */
export class WaiverNotOpen extends Schema.TaggedError<WaiverNotOpen>()("WaiverNotOpen", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WaiverNotOpen {
    return new WaiverNotOpen({ status: "expired" })
  }
  override get message(): string {
    return `The waiver is ${this.status ?? "not open"}, or its version is no longer in force. Request a new one.`
  }
}
