/** Refusals about the state of the server. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/**
 * Earlier records are still being summed. `segments`: how many segments of the chain are missing. Spec: decision 0051.
 */
export class TelemetryBehind extends Schema.TaggedError<TelemetryBehind>()("TelemetryBehind", {
  segments: reported(Schema.Int)
}) {
  static readonly status = 503
  static get example(): TelemetryBehind {
    return new TelemetryBehind({ segments: 12 })
  }
  override get message(): string {
    return (
      `The usage of ${this.segments ?? "some"} segments of the chain is still being summed. ` +
      "Send the request again in a few seconds."
    )
  }
}

/** The server is shutting down. Spec: decision 0023. */
export class Draining extends Schema.TaggedError<Draining>()("Draining", {}) {
  static readonly status = 503
  static get example(): Draining {
    return new Draining()
  }
  override get message(): string {
    return "The server is shutting down. Send the request to another server, or later."
  }
}

/**
 * The store can be read but not written, for example because the disk is full. Answered by /healthz. Spec: decision
 * 0023.
 */
export class NotWriting extends Schema.TaggedError<NotWriting>()("NotWriting", {}) {
  static readonly status = 503
  static get example(): NotWriting {
    return new NotWriting()
  }
  override get message(): string {
    return "The store can be read but not written now. Send the request to another server, or later."
  }
}
