/** Shapes that the rows of gateway, documents and fleet take and answer. Spec: document 2 sections 1, 4 and 8. */
import { Schema } from "effect"
import { integer, list, name, optional, orgUnit, text } from "../foundation/fields.ts"

/** Query of rows that use a quota: a caller of several org units names the one that pays. */
export const PayingUnit = Schema.Struct({ org_unit: Schema.optionalKey(orgUnit) })

const Message = Schema.Struct({ role: text(1, 64), content: Schema.optionalKey(Schema.Unknown) })
const generated = {
  model: name(200),
  stream: optional(Schema.Boolean),
  max_tokens: optional(integer(1, 1_000_000))
} as const

/** Body of POST /v1/gateway/chat/completions, as far as it is checked before a product runs. */
export const ChatCompletionCreate = Schema.Struct({
  ...generated,
  max_completion_tokens: optional(integer(1, 1_000_000)),
  n: optional(integer(1, 128)),
  messages: list(Message, 1, 10_000)
})
/** Body of POST /v1/gateway/messages. */
export const MessageCreate = Schema.Struct({
  ...generated,
  max_tokens: integer(1, 1_000_000),
  messages: list(Message, 1, 10_000)
})
/** Body of POST /v1/gateway/responses. */
export const ResponseCreate = Schema.Struct({
  model: name(200),
  stream: optional(Schema.Boolean),
  max_output_tokens: optional(integer(1, 1_000_000)),
  input: Schema.Unknown
})
/** A completion of any of the three forms, as the upstream model made it. */
export const Completion = Schema.Record(Schema.String, Schema.Unknown)
