/** Refusals about models. */
import { Schema } from "effect"
import { modelId, reported } from "./members.ts"

/** There is no such model. Spec: api.md, Conventions. */
export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()("ModelNotFound", {
  modelId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ModelNotFound {
    return new ModelNotFound({})
  }
  override get message(): string {
    return "There is no such model."
  }
}

/** The provider, name and version are registered. `modelId` is that model. Spec: api.md, Conventions. */
export class ModelTaken extends Schema.TaggedError<ModelTaken>()("ModelTaken", { modelId: reported(Schema.String) }) {
  static readonly status = 409
  static get example(): ModelTaken {
    return new ModelTaken({ modelId })
  }
  override get message(): string {
    return "This provider, name and version are registered. Change that model, or name another version."
  }
}
