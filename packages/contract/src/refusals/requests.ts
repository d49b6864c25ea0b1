/** Refusals about requests that no endpoint takes. */
import { Schema } from "effect"
import { detailItem } from "../foundation/detail.ts"
import { BODY_LIMIT_BYTES } from "../foundation/limits.ts"
import { reported } from "./members.ts"

/** The input is not what the contract describes. Every problem is listed. Spec: document 1 section 7. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  detail: Schema.Array(
    Schema.Struct({
      loc: Schema.Array(Schema.String),
      msg: Schema.String,
      type: Schema.String,
      input: Schema.Unknown,
      ctx: Schema.Record(Schema.String, Schema.Unknown)
    })
  )
}) {
  static readonly status = 422
  static get example(): InvalidInput {
    return new InvalidInput({ detail: [detailItem(["body", "name"], "missing", "Field required")] })
  }
  override get message(): string {
    const first = this.detail[0]
    return first === undefined
      ? "The input is not valid."
      : `The input is not valid: ${first.loc.join(".")}: ${first.msg.replace(/\.$/, "")}.`
  }
}

/** No endpoint has this path. Spec: api.md, Conventions. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}) {
  static readonly status = 404
  static get example(): NotFound {
    return new NotFound()
  }
  override get message(): string {
    return "No endpoint has this path."
  }
}

/** The path exists, with other methods. Spec: api.md, Conventions. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  allow: Schema.Array(Schema.String)
}) {
  static readonly status = 405
  static get example(): MethodNotAllowed {
    return new MethodNotAllowed({ allow: ["GET", "HEAD", "OPTIONS"] })
  }
  override get message(): string {
    return `This path accepts only ${this.allow.join(", ")}.`
  }
}

/** The body is not JSON by its content type. Spec: document 1 section 4. */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {
  /** The media types that the endpoint takes in place of JSON. */
  media: reported(Schema.Array(Schema.String))
}) {
  static readonly status = 415
  static get example(): UnsupportedMediaType {
    return new UnsupportedMediaType()
  }
  override get message(): string {
    const others = this.media === undefined ? "" : `, or as ${this.media.join(", ")}`
    return `The body must be sent as application/json in UTF-8${others}, without a content encoding.`
  }
}

/** The body has more bytes than this endpoint accepts. Spec: api.md, Conventions. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {
  limitBytes: reported(Schema.Int)
}) {
  static readonly status = 413
  static get example(): BodyTooLarge {
    return new BodyTooLarge({ limitBytes: BODY_LIMIT_BYTES })
  }
  override get message(): string {
    return (
      `The body is over ${this.limitBytes === undefined ? "its limit" : `${this.limitBytes} bytes`}. ` +
      "Send less in one request."
    )
  }
}

/**
 * The caller has as many costly reads under way as it may, `limit`. Spec: api.md, "Small things decided".
 */
export class ReadQueueFull extends Schema.TaggedError<ReadQueueFull>()("ReadQueueFull", {
  limit: reported(Schema.Int)
}) {
  static readonly status = 429
  static get example(): ReadQueueFull {
    return new ReadQueueFull({ limit: 8 })
  }
  override get message(): string {
    return (
      `This caller has ${this.limit ?? "too many"} costly reads under way, and no more may wait. ` +
      "Send the request again when one of them is answered, or read smaller pages."
    )
  }
}
