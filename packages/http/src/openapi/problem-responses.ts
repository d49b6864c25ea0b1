/** Every answer that is not a success, by status: which codes it can carry, and what stands beside them. */
import { detailTypes, type RefusalTag } from "@flyball/contract"
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
export interface Named {
  readonly name: string
  readonly problem: Problem
}

/** The members of a refusal beside its sentence and its code, as shapes. */
export type MembersOf = (tag: RefusalTag) => { readonly [name: string]: JsonSchema }

/** How problems are written. */
export interface ProblemForm {
  /** A problem as callers get it, under the name of its shape. */
  readonly shown: (named: Named) => Named
  readonly schema: (named: Named, membersOf: MembersOf, add: Components["add"]) => JsonSchema
  /** The code in the body of a problem, and the sentence; null where it has neither. */
  readonly says: (problem: Problem) => { readonly code: string; readonly sentence: string } | null
  /** The member of the body that has the code, for the discriminator; null where none at the top has it. */
  readonly discriminator: string | null
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
  membersOf: MembersOf,
  {
    every,
    form,
    responses
  }: {
    readonly responses: Map<string, Response>
    readonly every: Response["headers"]
    readonly form: ProblemForm
  }
): { readonly [status: string]: Reference } => {
  const shown = new Map(
    [...problemsOf(endpoint).values()].flat().map((one) => {
      const named = form.shown(one)
      return [named.name, { named, of: one }] as const
    })
  )
  const byStatus = Map.groupBy(shown.values(), ({ named }) => named.problem.status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, all]) => {
        const name = all.map(({ named }) => named.name).join("Or")
        if (!responses.has(name)) {
          const schemas = all.map(({ named, of }) =>
            add(named.name, form.schema({ name: of.name, problem: named.problem }, membersOf, add))
          )
          responses.set(
            name,
            responseOf(
              all.map(({ named }) => named),
              schemas,
              { every, form }
            )
          )
        }
        return [String(status), { $ref: `#/components/responses/${name}` }]
      })
  )
}

/** Problems as document 1 has them. */
export const governanceProblems: ProblemForm = {
  shown: ({ name, problem }) => ({ name: name === "InvalidInput" ? "HTTPValidationError" : name, problem }),
  schema: (named, membersOf, add) =>
    named.name === "InvalidInput" ? validationError(add) : schemaOf(named, membersOf),
  says: ({ body }) =>
    body["code"] === undefined ? null : { code: String(body["code"]), sentence: String(body["detail"]) },
  discriminator: "code"
}

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

const responseOf = (
  named: ReadonlyArray<Named>,
  schemas: ReadonlyArray<JsonSchema>,
  { every, form }: { readonly every: Response["headers"]; readonly form: ProblemForm }
): Response => {
  const given = [...new Set(named.flatMap(({ problem }) => Object.keys(problem.headers)))]
    .filter((header) => componentOf[header] !== undefined)
    .sort()
  const [only] = schemas
  const codes = named.map(({ problem }) => form.says(problem)?.code)
  const mapping = Object.fromEntries(codes.map((code, index) => [code, schemas[index]!["$ref"]]))
  // A validation error has no code to tell it by.
  const propertyName = codes.includes(undefined) ? null : form.discriminator
  return {
    description: named
      .map(({ problem }) => {
        const says = form.says(problem)
        return says === null
          ? "The input is not what the contract describes. Every problem is listed."
          : `\`${says.code}\`: ${says.sentence}`
      })
      .join("\n\n"),
    headers: {
      ...every,
      ...Object.fromEntries(
        given.map((header) => [spelling[header]!, { $ref: `#/components/headers/${componentOf[header]!}` }])
      )
    },
    content: {
      "application/json": {
        schema:
          schemas.length === 1
            ? only!
            : propertyName === null
              ? { anyOf: schemas }
              : { oneOf: schemas, discriminator: { propertyName, mapping } }
      }
    }
  }
}
