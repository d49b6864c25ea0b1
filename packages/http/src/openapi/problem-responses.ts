/** Every answer that is not a success, by status: which codes it can carry, and what stands beside them. */
import { codeOf, detailTypes, type RefusalTag } from "@flyball/contract"
import {
  type AnyEndpoint,
  faultTags,
  internalError,
  type Problem,
  problemOf,
  problems,
  refusalExamples,
  refusalsOf
} from "@flyball/contract/http"
import { badRequests } from "../request/bad-request.ts"
import type { Components } from "./components.ts"
import type { JsonSchema } from "./json-schema.ts"
import type { Header, Reference, Response } from "./document-types.ts"

/** An answer that is not a success, under the name it has in the description. */
interface Named {
  readonly name: string
  readonly problem: Problem
}

/** Headers that a description has once. `x-request-id` is on every response. */
export const headers: { readonly [name: string]: Header } = {
  RequestId: {
    description:
      "The id of the request, as the log has it: the caller's own where it matches the pattern, else a new one.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._:/@+-]{1,128}$" }
  },
  Allow: { description: "The methods of the path.", required: true, schema: { type: "string" } },
  Authenticate: {
    description: "How to say who is calling.",
    required: true,
    schema: { type: "string", const: "Bearer" }
  },
  RetryAfter: {
    description:
      "When to come again. Unit: seconds. It is not there for `storage_corrupt`, which an operator must resolve first.",
    schema: { type: "integer", minimum: 0 }
  }
}

const componentOf: { readonly [header: string]: string } = {
  allow: "Allow",
  "www-authenticate": "Authenticate",
  "retry-after": "RetryAfter"
}
const spelling: { readonly [header: string]: string } = {
  allow: "Allow",
  "www-authenticate": "WWW-Authenticate",
  "retry-after": "Retry-After"
}

/** Header of every response. */
export const requestIdHeader: { readonly [name: string]: Reference } = {
  "X-Request-Id": { $ref: "#/components/headers/RequestId" }
}

const refusal = (tag: RefusalTag, endpoint: AnyEndpoint | null = null): Named => ({
  name: tag,
  problem: problemOf(refusalExamples[tag], endpoint)!
})

const general: ReadonlyArray<Named> = [
  refusal("MethodNotAllowed"),
  { name: "InternalError", problem: internalError("1f1c1b0e-6f0b-4a57-9d0c-6f8a4b0f2d11") },
  ...Object.values(badRequests).map(({ problem, tag }) => ({ name: tag, problem }))
]
const faults: ReadonlyArray<Named> = faultTags.map((tag) => ({ name: tag, problem: problemOf({ _tag: tag })! }))

/** Faults that not every endpoint can meet. */
const faultsOfSome: { readonly [tag: string]: (endpoint: AnyEndpoint) => boolean } = {
  IssuerUnavailable: ({ access }) => !access.anonymous,
  TrustStoreUnavailable: ({ id }) => id === "agents.attach_identity"
}

/** The problems of an endpoint by status, ascending. */
export const problemsOf = (endpoint: AnyEndpoint): ReadonlyMap<number, ReadonlyArray<Named>> => {
  // A segment that is no UTF-8, or is empty, leads nowhere.
  const path = Object.keys(endpoint.params).length > 0 ? [refusal("NotFound")] : []
  const ofFaults = faults.filter(({ name }) => !Object.hasOwn(faultsOfSome, name) || faultsOfSome[name]!(endpoint))
  const all = [...path, ...refusalsOf(endpoint).map((tag) => refusal(tag, endpoint)), ...general, ...ofFaults]
  return new Map([...Map.groupBy(all, ({ problem }) => problem.status)].sort(([a], [b]) => a - b))
}

/** Writes the problems of an endpoint: a reference for each status. `responses` takes what is referred to. */
export const problemResponses = (
  endpoint: AnyEndpoint,
  { add }: Components,
  membersOf: (tag: RefusalTag) => { readonly [name: string]: JsonSchema },
  responses: Map<string, Response>
): { readonly [status: string]: Reference } =>
  Object.fromEntries(
    [...problemsOf(endpoint)].map(([status, named]) => {
      const name = named.map((one) => one.name).join("Or")
      if (!responses.has(name)) {
        const schemas = named.map((one) =>
          add(
            one.name === "InvalidInput" ? "HTTPValidationError" : one.name,
            one.name === "InvalidInput" ? validationError(add) : schemaOf(one, membersOf)
          )
        )
        responses.set(name, responseOf(named, schemas))
      }
      return [String(status), { $ref: `#/components/responses/${name}` }]
    })
  )

const schemaOf = (
  { name, problem }: Named,
  membersOf: (tag: RefusalTag) => { readonly [name: string]: JsonSchema }
): JsonSchema => {
  const members = Object.hasOwn(problems, name) ? membersOf(name as RefusalTag) : {}
  return {
    type: "object",
    properties: {
      detail: { type: "string", description: "A sentence for people. Its words may change." },
      code: { type: "string", const: problem.body["code"] },
      ...members
    },
    required: ["detail", "code", ...Object.keys(members)],
    examples: [problem.body]
  }
}

const validationError = (add: Components["add"]): JsonSchema => ({
  type: "object",
  properties: {
    detail: {
      type: "array",
      items: add("ValidationError", {
        type: "object",
        properties: {
          loc: {
            type: "array",
            items: { type: "string" },
            description: "`body`, `query` or `path`, then names of members and indexes."
          },
          msg: { type: "string", description: "A sentence for people. Its words may change." },
          type: { type: "string", enum: [...detailTypes] },
          input: {
            description: "What was seen, cut at 256 characters; null where it is secret, absent or has no JSON form."
          },
          ctx: { type: "object", description: "The bound that was missed." }
        },
        required: ["loc", "msg", "type", "input", "ctx"]
      })
    }
  },
  required: ["detail"],
  examples: [refusal("InvalidInput").problem.body]
})

const responseOf = (named: ReadonlyArray<Named>, schemas: ReadonlyArray<JsonSchema>): Response => {
  const given = [...new Set(named.flatMap(({ problem }) => Object.keys(problem.headers)))]
    .filter((header) => componentOf[header] !== undefined)
    .sort()
  const [only] = schemas
  const mapping = Object.fromEntries(named.map(({ problem }, index) => [problem.body["code"], schemas[index]!["$ref"]]))
  return {
    description: named
      .map(({ name, problem }) =>
        name === "InvalidInput"
          ? "The input is not what the contract describes. Every problem is listed."
          : `\`${codeOf(name)}\`: ${String(problem.body["detail"])}`
      )
      .join("\n\n"),
    headers: {
      ...requestIdHeader,
      ...Object.fromEntries(
        given.map((header) => [spelling[header]!, { $ref: `#/components/headers/${componentOf[header]!}` }])
      )
    },
    content: {
      "application/json": {
        schema: schemas.length === 1 ? only! : { oneOf: schemas, discriminator: { propertyName: "code", mapping } }
      }
    }
  }
}
