/** Members that several refusals have, and ids for their examples. */
import { Schema } from "effect"
import { idPrefixes } from "../foundation/ids.ts"

/** Ids in examples. */
export const agentId = `${idPrefixes.agent}_${"0".repeat(26)}`

/** A model's id in the examples of refusals. */
export const modelId = `${idPrefixes.model}_${"0".repeat(26)}`

/**
 * Fields that help the caller to act are optional: a refusal carries what its origin knows, and its members go out
 * beside `detail` and `code`.
 */
export const reported = <S extends Schema.Constraint>(schema: S): Schema.optionalKey<S> => Schema.optionalKey(schema)
