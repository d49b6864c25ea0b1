/** The interface description of the platform API: its rows with their scopes, limits and quotas. Spec: document 2. */
import { limitWords } from "@flyball/contract"
import { type AnyEndpoint, isRepeatable } from "@flyball/contract/http"
import type { Header, Parameter } from "../openapi/document-types.ts"
import type { Described } from "../openapi/document.ts"
import { shown } from "./shown.ts"

const about = [
  "The products of the platform. Every request carries `Authorization: Bearer <token>`: a platform key, or an OIDC " +
    "session (a JWT).",
  "Members of a body and parameters that an endpoint does not know are ignored. An error is " +
    "`{error: {code, message, type, param, request_id}}`; `Accept: application/problem+json` gets RFC 9457.",
  "A list is `{data, has_more, next_cursor}`: `limit` is 1 to 100 (20), `cursor` the last answer's `next_cursor`.",
  "Every answer says the limit that binds: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, and the IETF's `RateLimit`."
].join("\n\n")

const bearer =
  "A platform key, which has a plan, an org unit and scopes; or the JWT of a person, who has the plan of the server."

const header = (description: string, type: string): Header => ({ description, required: true, schema: { type } })

/** `rate_limit_exceeded` as the name of a shape. */
const shapeName = (code: string): string => code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255 },
  example: "order-7"
}

const callers = ({ access: { scope }, platform }: AnyEndpoint): string => {
  const { operation, quota } = platform ?? { operation: null, quota: null }
  return [
    `Callers: platform keys with the scope \`${scope}\`, and people.`,
    ...(operation === null ? [] : [`Limit: ${limitWords(operation)}.`]),
    ...(quota === null ? [] : [`Quota: \`${quota.resource}\` a month.`])
  ].join(" ")
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly type: string
}
const errorOf = (body: { readonly [name: string]: unknown }): ErrorBody => body["error"] as ErrorBody

/** The description of the platform API. */
export const platformDescribed: Described = {
  about,
  bearer,
  groups: {
    usage: "What an org unit used, and what its callers may do.",
    webhooks: "Which receivers get which events, and how each delivery went.",
    events: "The events of an org unit.",
    gateway: "Governed models.",
    documents: "Fields out of documents.",
    fleet: "Routes and positions of vehicles."
  },
  parameters: (endpoint) => (isRepeatable(endpoint) ? [idempotencyKey] : []),
  callers,
  headers: {
    "X-RateLimit-Limit": header("Most requests in the window of the limit that binds.", "integer"),
    "X-RateLimit-Remaining": header("Requests that are left of it.", "integer"),
    "X-RateLimit-Reset": header("When more are. Unit: seconds since 1970 UTC.", "integer")
  },
  events: [],
  problems: {
    shown: ({ problem }) => {
      const seen = shown(problem, { requestId: "req_01JD0000000000000000000000", request: { headers: {} } })
      return { name: shapeName(errorOf(seen.body).code), problem: seen }
    },
    schema: ({ problem: { body } }) => {
      const { code, type } = errorOf(body)
      return {
        type: "object",
        properties: {
          error: {
            type: "object",
            properties: {
              code: { type: "string", const: code },
              message: { type: "string", description: "A sentence for people. Its words may change." },
              type: { type: "string", const: type },
              param: { type: ["string", "null"], description: "The first field that is wrong: `rows[3].age`." },
              request_id: { type: "string", description: "As in `X-Request-Id`." }
            },
            required: ["code", "message", "type", "param", "request_id"]
          }
        },
        required: ["error"]
      }
    },
    says: ({ body }) => ({ code: errorOf(body).code, sentence: errorOf(body).message }),
    discriminator: null
  }
}
