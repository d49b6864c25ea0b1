/** The endpoints of the gateway. Spec: document 2 section 8, "gateway"; api.md "Document 2". */
import { ChatCompletionCreate, Completion, MessageCreate, PayingUnit, ResponseCreate } from "../../platform/products.ts"
import { platformAccess } from "../access.ts"
import { endpoint, json, jsonBody, queryOf } from "../endpoint.ts"

/** Tokens that are reserved where a request does not say how many it may take. */
const MOST_TOKENS = 4_096

const row = {
  method: "POST",
  access: platformAccess("gateway:write"),
  query: queryOf(PayingUnit),
  success: json(200, Completion),
  refusals: ["ModuleNotInstalled"]
} as const
const platform = {
  module: "gateway",
  operation: "gateway.proxy",
  idempotent: ({ stream }: { readonly stream?: boolean | null }) => stream !== true,
  quota: {
    resource: "tokens",
    most: (body: { readonly max_tokens?: number | null; readonly max_output_tokens?: number | null }) =>
      body.max_tokens ?? body.max_output_tokens ?? MOST_TOKENS
  }
} as const

/** Endpoints of the gateway: the three forms that clients speak. Spec: document 2 section 8, "gateway". */
export const gateway = {
  chat: endpoint({
    ...row,
    id: "gateway.chat",
    path: "/v1/gateway/chat/completions",
    summary: "Completes a chat by a governed model.",
    platform,
    body: jsonBody(ChatCompletionCreate)
  }),
  responses: endpoint({
    ...row,
    id: "gateway.responses",
    path: "/v1/gateway/responses",
    summary: "Creates a response by a governed model.",
    platform,
    body: jsonBody(ResponseCreate)
  }),
  messages: endpoint({
    ...row,
    id: "gateway.messages",
    path: "/v1/gateway/messages",
    summary: "Creates a message by a governed model.",
    platform,
    body: jsonBody(MessageCreate)
  })
} as const
