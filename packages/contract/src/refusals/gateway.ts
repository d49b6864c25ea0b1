/** Refusals of the gateway: what stands between a request and its model. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** The agent or the model is halted: it gets nothing more. Spec: document 1 section 3; platform section 8. */
export class GatewayHalted extends Schema.TaggedError<GatewayHalted>()("GatewayHalted", {
  target: reported(Schema.Literals(["agent", "model"])),
  activation: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 403
  static get example(): GatewayHalted {
    return new GatewayHalted({ target: "agent", activation: `kil_${"0".repeat(26)}` })
  }
  override get message(): string {
    const { activation = null, target = "agent" } = this
    return `The ${target} is halted (${activation ?? "it is not active"}). An operator releases it.`
  }
}

/** No upstream serves the model in this form. Spec: platform section 8. */
export class ModelNotServed extends Schema.TaggedError<ModelNotServed>()("ModelNotServed", {
  model: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ModelNotServed {
    return new ModelNotServed({ model: "small-1" })
  }
  override get message(): string {
    return `No upstream of this gateway serves the model ${this.model ?? ""} in this form.`
  }
}

/** The upstream did not answer, or answered what is no completion. Spec: platform section 8. */
export class UpstreamFailed extends Schema.TaggedError<UpstreamFailed>()("UpstreamFailed", {
  why: reported(Schema.String)
}) {
  static readonly status = 502
  static get example(): UpstreamFailed {
    return new UpstreamFailed({ why: "it did not answer in time" })
  }
  override get message(): string {
    return `The model did not complete the request: ${this.why ?? "its upstream failed"}.`
  }
}
