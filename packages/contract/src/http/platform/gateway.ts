/** The endpoints of the gateway. Spec: document 2 section 8, "gateway"; api.md "Document 2". */
import { BATCH_LIMIT_BYTES } from "../../foundation/limits.ts"
import { ChatCompletionCreate, Completion, MessageCreate, PayingUnit, ResponseCreate } from "../../platform/products.ts"
import { platformAccess } from "../access.ts"
import { endpoint, jsonBody, passed, queryOf } from "../endpoint.ts"

/** Tokens of an answer that are reserved where a request does not say how many it may take. */
const MOST_TOKENS = 4_096
/** Most tokens of a request that are reserved: no model takes more at once. */
const MOST_INPUT = 200_000
/** Bytes of a request that are about one token. */
export const BYTES_PER_TOKEN = 4

interface Bounded {
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly max_output_tokens?: number | null
  readonly n?: number | null
}

/** Tokens that a request takes, by its bytes: what counts until the upstream says it. */
export const inputEstimate = (bytes: number): number => Math.min(MOST_INPUT, Math.ceil(bytes / BYTES_PER_TOKEN))

/** Tokens that a request may take at its most. */
export const mostTokens = (body: Bounded, bytes: number): number =>
  inputEstimate(bytes) +
  (body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ?? MOST_TOKENS) * (body.n ?? 1)

const row = {
  method: "POST",
  access: platformAccess("gateway:write"),
  query: queryOf(PayingUnit),
  success: passed(Completion),
  refusals: [
    "ModuleNotInstalled",
    "AgentNotFound",
    "GatewayHalted",
    "ModelNotServed",
    "QuotaExceeded",
    "RateLimitExceeded",
    "UpstreamFailed"
  ]
} as const
const platform = {
  module: "gateway",
  operation: "gateway.proxy",
  idempotent: ({ stream }: { readonly stream?: boolean | null }) => stream !== true,
  quota: {
    resource: "tokens",
    byOperation: true,
    most: mostTokens
  }
} as const
const large = { limitBytes: BATCH_LIMIT_BYTES }

const messages = {
  ...row,
  platform,
  body: jsonBody(MessageCreate, large)
} as const

/** Endpoints of the gateway: the three forms that clients speak. Spec: document 2 section 8, "gateway". */
export const gateway = {
  chat: endpoint({
    ...row,
    id: "gateway.chat",
    path: "/v1/gateway/chat/completions",
    summary: "Completes a chat by a governed model.",
    platform,
    body: jsonBody(ChatCompletionCreate, large)
  }),
  responses: endpoint({
    ...row,
    id: "gateway.responses",
    path: "/v1/gateway/responses",
    summary: "Creates a response by a governed model.",
    platform,
    body: jsonBody(ResponseCreate, large)
  }),
  messages: endpoint({
    ...messages,
    id: "gateway.messages",
    path: "/v1/gateway/messages",
    summary: "Creates a message by a governed model."
  }),
  /** Where Anthropic's client sends it below the base URL of the other two. */
  sdkMessages: endpoint({
    ...messages,
    id: "gateway.sdk_messages",
    path: "/v1/gateway/v1/messages",
    summary: "Creates a message by a governed model, below a base URL to which a client adds `/v1`."
  })
} as const
