/**
 * The interface description: an OpenAPI 3.1 document that follows from the table of endpoints and nothing else. Spec:
 * document 1 section 9; api.md, Conventions. Decision 0017.
 */
import { type EventType, eventTypes, type RefusalTag, roles as allRoles } from "@flyball/contract"
import {
  type AnyEndpoint,
  type Body,
  endpoints,
  JSON_MEDIA,
  LINES_MEDIA,
  type Param,
  problems,
  type Query
} from "@flyball/contract/http"
import type { Schema } from "effect"
import { type Components, components } from "./components.ts"
import { mayBeLeftOut } from "./json-schema.ts"
import type { Header, OpenApi, Operation, Parameter, Response } from "./document-types.ts"
import {
  governanceProblems,
  headers,
  type ProblemForm,
  problemResponses,
  requestIdHeader
} from "./problem-responses.ts"
import { webhooksOf } from "./webhooks.ts"

/** The version of the description, which is not the program's. Spec: document 1 section 9. */
export const INTERFACE_VERSION = "0.1.0"

/** The parts that differ between the descriptions of the two specifications. */
export interface Described {
  readonly about: string
  readonly bearer: string
  readonly groups: { readonly [group: string]: string }
  /** Parameters of an endpoint beside those of its path and query. */
  readonly parameters: (endpoint: AnyEndpoint) => ReadonlyArray<Parameter>
  /** Describes the callers of an endpoint. */
  readonly callers: (endpoint: AnyEndpoint) => string
  readonly problems: ProblemForm
  /** Headers of every response, with their descriptions. */
  readonly headers: { readonly [name: string]: Header }
  /** Events that the server sends. */
  readonly events: ReadonlyArray<EventType>
}

/** Descriptions of the groups of endpoints, as the page shows them. */
const groups: { readonly [group: string]: string } = {
  bound: "Bounded autonomy: envelopes, waivers, evaluations of what agents intend, and what follows a trigger.",
  kill: "The kill switch: activate, release, and the state that agents go by.",
  reviews: "Reviews: people answer what an envelope does not let an agent do alone.",
  standing_approvals: "Standing approvals: a box of inputs that needs no further review.",
  breakers: "Circuit breakers: limits on what an agent does that stop it by themselves.",
  system: "Liveness, and who is calling.",
  agents: "The registry of agents.",
  behavior: "Whether the behaviour of agents changed.",
  evals: "Results of eval suites, compared run by run.",
  mcp: "Tool servers: the lists of tools that agents saw, and what changed in them.",
  fairness: "Rates of outcomes, compared between groups of decisions.",
  models: "The models that agents use.",
  decisions: "Capture: what agents decided.",
  chain: "The tamper-evident chain.",
  evidence: "Evidence packs.",
  ingest_keys: "The keys that agents carry.",
  platform_keys: "The keys of the platform API.",
  access_mapping: "Which people may do what.",
  webhooks: "Which receivers get which events, and how each delivery went."
}

const about = [
  "The governor for autonomous software agents.",
  "Every request but those to public endpoints carries `Authorization: Bearer <token>`: an ingest key, or an " +
    "OIDC session (a JWT).",
  "An input that is not as described is 422 with every problem listed, and members that a body does not have " +
    "are refused, and so are query parameters that an endpoint does not know. Any other refusal is a " +
    "sentence in `detail` and a word in `code`.",
  "Members of a response are always there; what is absent is null. In a body a member that may be left out may " +
    "be null as well, where its type says so, with the same meaning; but in the body of a PATCH what is left out " +
    "stays as it is, and null empties what may be empty; and `args`, `result`, `labels` and `signals` hold any " +
    "JSON, of which null is one: it is kept, and another content than none. Where no body is needed, the JSON " +
    "value null is none. Times take any RFC 3339 offset and come out as UTC. Lengths of text count code points, " +
    "after NFC; U+0000 and halves of surrogate pairs are refused.",
  "A list is whole, unless `limit` asks for a piece of it or has a default.",
  "Every GET answers HEAD, and every path OPTIONS. A response carries `X-Request-Id`, which the caller may choose."
].join("\n\n")

const bearer =
  "An ingest key of an org unit, which registers agents and witnesses decisions; or the JWT of a person, whose " +
  "claims the access mapping turns into roles, each in an org unit. Each is judged by itself. A token with a " +
  "dot is a JWT."

/** The description of the governance API. */
const governance = (): Described => ({
  about,
  bearer,
  groups,
  parameters: () => [],
  callers: callersOf,
  problems: governanceProblems,
  headers: {},
  events: eventTypes
})

/** Name of an operation: the endpoint's id, as programming languages write names. */
export const operationIdOf = ({ id }: AnyEndpoint): string =>
  id.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The description of a table of endpoints, mounted at a prefix. */
export const interfaceDescription = (
  of: ReadonlyArray<AnyEndpoint> = endpoints,
  prefix = "",
  described: Described = governance()
): OpenApi => {
  const every = {
    ...requestIdHeader,
    ...Object.fromEntries(
      Object.keys(described.headers).map((name) => [name, { $ref: `#/components/headers/${name}` }])
    )
  }
  const shapes = components()
  const responses = new Map<string, Response>()
  // What goes in first: a shape that does both keeps its name there.
  const inputs = new Map(of.map((endpoint) => [endpoint.id, inputOf(endpoint, shapes)]))
  const paths: { [path: string]: { [method: string]: Operation } } = {}
  for (const endpoint of of) {
    const at = (paths[endpoint.path] ??= {})
    const input = inputs.get(endpoint.id)!
    at[endpoint.method.toLowerCase()] = {
      operationId: operationIdOf(endpoint),
      tags: [groupOf(endpoint)],
      summary: endpoint.summary,
      description: described.callers(endpoint),
      ...(endpoint.access.anonymous ? { security: [] } : {}),
      ...input,
      parameters: [...input.parameters, ...described.parameters(endpoint)],
      responses: {
        [endpoint.success.status]: { ...successOf(endpoint, shapes), headers: every },
        ...problemResponses(endpoint, shapes, (tag) => membersOf(tag, shapes), {
          responses,
          every,
          form: described.problems
        })
      }
    }
  }
  const webhooks = webhooksOf(shapes, described.events)
  const used = [...new Set(of.map(groupOf))]
  return {
    openapi: "3.1.0",
    info: {
      title: "Flyball",
      version: INTERFACE_VERSION,
      description: described.about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    },
    servers: [{ url: prefix === "" ? "/" : prefix }],
    tags: used.map((name) => ({ name, description: described.groups[name] ?? name })),
    security: [{ bearer: [] }],
    paths,
    webhooks,
    components: {
      schemas: shapes.schemas(),
      responses: Object.fromEntries([...responses].sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: { ...headers, ...described.headers },
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: described.bearer } }
    }
  }
}

const groupOf = ({ id }: AnyEndpoint): string => id.slice(0, id.indexOf("."))

const inputOf = (
  { body, params, query }: AnyEndpoint,
  shapes: Components
): Pick<Operation, "parameters" | "requestBody"> => ({
  parameters: [
    ...Object.entries(params as { readonly [name: string]: Param<unknown> }).map(
      ([name, { example, schema }]): Parameter => {
        const written = shapes.schema(schema, "input")
        return {
          name,
          in: "path",
          required: true,
          schema: written,
          example: written["type"] === "integer" ? Number(example) : example
        }
      }
    ),
    ...(query === null ? [] : parametersOf(query, shapes))
  ],
  ...(body === null
    ? {}
    : {
        requestBody: {
          required: !body.optional,
          description: `At most ${body.limitBytes} bytes.`,
          content: {
            "application/json": { schema: shapes.schema(body.schema, "input") },
            ...Object.fromEntries(
              ((body as Body).file?.media ?? []).map((media) => [
                media,
                { schema: { type: "string", format: "binary", maxLength: (body as Body).file!.limitBytes } }
              ])
            )
          }
        }
      })
})

const parametersOf = ({ fields }: Query<unknown>, shapes: Components): ReadonlyArray<Parameter> =>
  Object.entries<Schema.Top>(fields).map(([name, schema]) => ({
    name,
    in: "query",
    required: !mayBeLeftOut(schema.ast),
    schema: shapes.schema(schema, "input")
  }))

const successOf = (
  { success: { line, media, schema, status } }: AnyEndpoint,
  shapes: Components
): Pick<Response, "description" | "content"> => ({
  description: status === 201 ? "Done, and recorded." : "Done.",
  content: {
    ...(schema === null || media !== JSON_MEDIA ? { [media]: { schema: { type: "string" } } } : {}),
    ...(schema === null ? {} : { [JSON_MEDIA]: { schema: shapes.schema(schema, "output") } }),
    ...(line === null
      ? {}
      : {
          [LINES_MEDIA]: {
            schema: {
              type: "string",
              description: "The same items one a line, each ended by a line feed, where `Accept` asks for it."
            }
          }
        })
  }
})

const membersOf = (tag: RefusalTag, shapes: Components) =>
  Object.fromEntries(
    Object.entries(problems[tag].members ?? {}).map(([name, { schema }]) => [name, shapes.schema(schema, "output")])
  )

const callersOf = ({ access: { anonymous, everyUnit, ingestKey, roles } }: AnyEndpoint): string => {
  if (anonymous) return "Anyone may call this, without a token."
  const people =
    roles.length === allRoles.length
      ? "people with any role"
      : `people with the role ${roles.toReversed().join(" or ")}`
  return `Callers: ${ingestKey ? "ingest keys, and " : ""}${people}${everyUnit ? ", of the org unit `*`" : ""}.`
}
