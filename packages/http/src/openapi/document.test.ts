/**
 * The interface description against the table of endpoints, and against the rules of OpenAPI 3.1. Spec: document 1
 * sections 7 to 9.
 */
import { readFileSync } from "node:fs"
import { eventTypes, type RefusalTag } from "@flyball/contract"
import {
  access,
  type AnyEndpoint,
  endpoint,
  endpoints,
  faultTags,
  internalError,
  json,
  type Problem,
  problemOf,
  problems,
  refusalExamples,
  refusalsOf
} from "@flyball/contract/http"
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { interfaceDescription, operationIdOf } from "./document.ts"
import type { JsonSchema } from "./json-schema.ts"
import type { OpenApi, Operation, Response } from "./document-types.ts"
import { problemsOfValue } from "./testing/check-schema.ts"

const description = interfaceDescription()
const schemas = description.components.schemas
const operationOf = ({ method, path }: AnyEndpoint): Operation => description.paths[path]![method.toLowerCase()]!

/** Everything in a value that is an object or a list, with where it stands. */
const nodes = (value: unknown, at = "#"): ReadonlyArray<readonly [string, object]> =>
  typeof value !== "object" || value === null
    ? []
    : [[at, value] as const, ...Object.entries(value).flatMap(([name, inner]) => nodes(inner, `${at}/${name}`))]

const responseOf = (operation: Operation, status: number): Response => {
  const response = operation.responses[status]
  assert.isDefined(response, `${operation.operationId} says nothing of ${status}`)
  return "$ref" in response! ? description.components.responses[response.$ref.split("/").at(-1)!]! : response!
}

const fits = (schema: JsonSchema, value: unknown, closed = true) =>
  assert.deepStrictEqual(problemsOfValue(schema, value, "it", { schemas, closed }), [])

describe("the interface description", () => {
  it("is version 0.1.0 of the specification's interface, in OpenAPI 3.1", () => {
    assert.deepStrictEqual([description.openapi, description.info.version], ["3.1.0", "0.1.0"])
  })

  it("has the endpoints of the table, each once, and nothing else", () => {
    const written = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    )
    assert.deepStrictEqual(written.sort(), endpoints.map(({ method, path }) => `${method} ${path}`).sort())
    const ids = endpoints.map(operationIdOf)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[a-z][A-Za-z]*$/)
  })

  it("changes with the table, and with nothing else", () => {
    assert.strictEqual(JSON.stringify(interfaceDescription()), JSON.stringify(description))
    const added = endpoint({
      id: "agents.count",
      method: "GET",
      path: "/api/v1/agent-count",
      summary: "How many.",
      access: access.read,
      success: json(200, Schema.Int)
    })
    const more = interfaceDescription([...endpoints, added])
    const { [added.path]: path, ...others } = more.paths
    assert.deepStrictEqual({ ...more, paths: others }, description)
    assert.strictEqual(path!["get"]!.operationId, "agentsCount")
    const fewer = interfaceDescription(endpoints.filter(({ id }) => id !== "models.create"))
    assert.notProperty(fewer.components.schemas, "ModelCreate")
    assert.notProperty(fewer.components.schemas, "ModelTaken")
  })

  it("has no dangling reference, and no unused definition", () => {
    const targets = nodes(description).flatMap(([, node]) => ("$ref" in node ? [String(node.$ref)] : []))
    const defined = Object.entries(description.components)
      .filter(([kind]) => kind !== "securitySchemes")
      .flatMap(([kind, all]) => Object.keys(all).map((name) => `#/components/${kind}/${name}`))
    assert.deepStrictEqual([...new Set(targets)].sort(), defined.sort())
    for (const name of defined) assert.match(name.split("/").at(-1)!, /^[A-Za-z0-9._-]+$/)
  })

  it("keeps the rules of OpenAPI that tools depend on", () => {
    const tags = description.tags.map(({ name }) => name)
    for (const tag of description.tags)
      assert.notStrictEqual(tag.description, tag.name, "a group says what it is about")
    for (const [path, methods] of Object.entries(description.paths)) {
      assert.match(path, /^\//)
      for (const operation of Object.values(methods)) {
        assert.deepStrictEqual(
          operation.tags.filter((tag) => !tags.includes(tag)),
          []
        )
        assert.isNotEmpty(operation.summary)
        const places = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
        assert.strictEqual(new Set(places).size, places.length)
        assert.deepStrictEqual(
          operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
          [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
        )
        for (const parameter of operation.parameters) if (parameter.in === "path") assert.isTrue(parameter.required)
        for (const [status, response] of Object.entries(operation.responses)) {
          assert.match(status, /^[1-5]\d\d$/)
          if (!("$ref" in response)) assert.isNotEmpty(response.description)
        }
        for (const scheme of operation.security ?? [])
          for (const name of Object.keys(scheme)) assert.property(description.components.securitySchemes, name)
      }
    }
    assert.deepStrictEqual(
      nodes(description).filter(([, node]) => "nullable" in node || "undefined" in node),
      [],
      "nothing of OpenAPI 3.0"
    )
    assert.deepStrictEqual(JSON.parse(JSON.stringify(description)), description)
  })

  it("has only schemas whose keywords are known, whose patterns compile, and whose examples fit", () => {
    for (const schema of Object.values(schemas)) problemsOfValue(schema, {}, "it", { schemas, closed: false })
    for (const [at, node] of nodes(description)) {
      if ("pattern" in node && typeof node.pattern === "string")
        assert.instanceOf(new RegExp(node.pattern, "u"), RegExp)
      if ("required" in node && Array.isArray(node.required))
        assert.includeMembers(Object.keys((node as JsonSchema)["properties"] as object), node.required, at)
      if ("examples" in node)
        for (const example of node.examples as ReadonlyArray<unknown>) fits(node as JsonSchema, example)
      if ("default" in node) fits(node as JsonSchema, node.default)
      if ("in" in node && "example" in node)
        fits((node as unknown as { readonly schema: JsonSchema }).schema, node.example)
    }
  })

  it("has the events of the catalogue, each with its envelope", () => {
    assert.deepStrictEqual(Object.keys(description.webhooks), [...eventTypes])
    for (const [type, { post }] of Object.entries(description.webhooks)) {
      const sent = readFileSync(new URL(`../../../../fixtures/webhooks/${type}.json`, import.meta.url), "utf8")
      const schema = post.requestBody.content["application/json"]!.schema
      fits(schema, JSON.parse(sent))
      assert.throws(() => fits(schema, { ...JSON.parse(sent), type: "another.type" }))
    }
  })

  it("names the specification's shapes as it does", () => {
    for (const name of [
      "AgentOut",
      "AgentCreate",
      "AgentUpdate",
      "IdentityIn",
      "OwnershipTransfer",
      "ProvenanceCreate",
      "ProvenanceOut",
      "HTTPValidationError"
    ])
      assert.property(schemas, name)
  })

  it("asks for a token where the table does", () => {
    assert.deepStrictEqual(description.security, [{ bearer: [] }])
    for (const one of endpoints)
      assert.deepStrictEqual(operationOf(one).security, one.access.anonymous ? [] : undefined, one.id)
  })
})

describe("what goes in", () => {
  const parameter = (path: string, name: string) =>
    description.paths[path]!["get"]!.parameters.find((one) => one.name === name)!

  it("has integers with their bounds in paths and queries", () => {
    const integers = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ parameters }) =>
        parameters
          .filter(({ schema }) => schema["type"] === "integer")
          .map(({ name, schema }) => `${path} ${name} ${String(schema["minimum"])}..${String(schema["maximum"])}`)
      )
    )
    const most = Number.MAX_SAFE_INTEGER
    assert.deepStrictEqual(
      [...new Set(integers)].sort(),
      [
        ...[
          "agents",
          "agents/orphans",
          "agents/{agent_id}/provenance",
          "models",
          "bound/envelopes/{envelope_id}/versions",
          "bound/envelopes/{envelope_id}/waivers",
          "bound/agents/{agent_id}/breakers",
          "bound/kill/drills",
          "bound/safety",
          "bound/standing-approvals",
          "chain/keys",
          "evidence/packs",
          "admin/ingest-keys",
          "admin/platform-keys",
          "webhooks"
        ].map((list) => `/api/v1/${list} limit 1..1000`),
        "/api/v1/bound/kill/events limit 1..1000",
        `/api/v1/bound/kill/events before 0..${most}`,
        "/api/v1/bound/kill/status wait_ms 0..25000",
        "/api/v1/bound/reviews limit 1..1000",
        `/api/v1/bound/reviews before 0..${most}`,
        "/api/v1/bound/reviews/{review_id} wait_ms 0..25000",
        `/api/v1/bound/envelopes/{envelope_id}/versions after 1..${most}`,
        "/api/v1/agents/{agent_id}/decisions limit 1..1000",
        "/api/v1/agents/{agent_id}/timeline limit 1..1000",
        `/api/v1/agents/{agent_id}/timeline before 0..${most}`,
        `/api/v1/agents/{agent_id}/decisions before 0..${most}`,
        "/api/v1/behavior/agents/{agent_id}/change lookback 10..2000",
        "/api/v1/behavior/agents/{agent_id}/change window 5..1000",
        "/api/v1/evals/eval-runs limit 1..1000",
        `/api/v1/evals/eval-runs before 0..${most}`,
        `/api/v1/fairness/mcp-screen before 0..${most}`,
        "/api/v1/fairness/screens limit 1..1000",
        `/api/v1/fairness/screens before 0..${most}`,
        "/api/v1/bound/evaluations limit 1..1000",
        `/api/v1/bound/evaluations before 0..${most}`,
        "/api/v1/bound/envelopes limit 1..1000",
        `/api/v1/bound/envelopes/{envelope_id}/diff from 0..${most}`,
        `/api/v1/bound/envelopes/{envelope_id}/diff to 0..${most}`,
        "/api/v1/bound/envelopes/{envelope_id}/versions/{version} version 1..1000000",
        `/api/v1/chain/verify from 0..${most}`,
        `/api/v1/chain/verify to 0..${most}`,
        `/api/v1/chain/records from 0..${most}`,
        "/api/v1/chain/records limit 1..1000",
        `/api/v1/chain/records/{seq} seq 0..${most}`,
        `/api/v1/chain/records/{seq}/parts/{name} seq 0..${most}`,
        `/api/v1/chain/records/{seq}/proof seq 0..${most}`,
        `/api/v1/chain/records/{seq}/proof tree_size 1..${most}`,
        `/api/v1/chain/consistency from 0..${most}`,
        `/api/v1/chain/consistency to 0..${most}`,
        "/api/v1/webhooks/{webhook_id}/deliveries limit 1..1000",
        `/api/v1/webhooks/{webhook_id}/deliveries before 1..${most}`
      ].sort()
    )
  })

  it("has the specification's bounds of the agent list", () => {
    assert.deepStrictEqual(parameter("/api/v1/agents", "name").schema, { type: "string", maxLength: 200 })
    assert.deepStrictEqual(parameter("/api/v1/agents", "q").schema, { type: "string", maxLength: 200 })
    assert.deepStrictEqual(parameter("/api/v1/agents", "status").schema, {
      type: "string",
      enum: ["draft", "active", "suspended", "decommissioned"]
    })
    assert.deepStrictEqual(parameter("/api/v1/agents", "autonomy_tier").schema, {
      type: "string",
      enum: ["L0", "L1", "L2", "L3", "L4"]
    })
  })

  it("says which parameters are needed, and the form of ids", () => {
    assert.deepStrictEqual(
      [parameter("/api/v1/chain/consistency", "from").required, parameter("/api/v1/chain/consistency", "to").required],
      [true, false]
    )
    assert.strictEqual(
      parameter("/api/v1/agents/{agent_id}", "agent_id").schema["pattern"],
      "^agt_[0-9a-hjkmnp-tv-z]{26}$"
    )
  })

  it("has bodies where the table has them, required where the table requires them", () => {
    for (const one of endpoints)
      assert.strictEqual(
        operationOf(one).requestBody?.required,
        one.body === null ? undefined : !one.body.optional,
        one.id
      )
  })

  it("describes defaults, null, lists, one or many, and names that are no org unit", () => {
    const member = (shape: string, name: string) =>
      (schemas[shape]!["properties"] as { readonly [name: string]: JsonSchema })[name]
    assert.deepStrictEqual(member("DecisionIn", "kind"), {
      type: "string",
      enum: ["tool_call", "tool_list", "model_call", "message", "handoff", "approval", "other"],
      default: "other"
    })
    assert.deepStrictEqual(member("MappingIn", "trust_canonical"), { type: "boolean", default: false })
    assert.deepStrictEqual(member("AgentCreate", "autonomy_tier"), {
      type: ["string", "null"],
      enum: ["L0", "L1", "L2", "L3", "L4", null]
    })
    assert.deepStrictEqual(member("AgentCreate", "org_unit"), {
      type: "string",
      minLength: 1,
      maxLength: 100,
      description: "Text should have a visible character and no control characters.",
      not: { const: "*" }
    })
    assert.deepStrictEqual(member("AgentCreate", "owner_email"), {
      type: ["string", "null"],
      minLength: 3,
      maxLength: 254,
      format: "email"
    })
    assert.deepStrictEqual(member("RecertifyIn", "recert_due_at"), { type: "string", format: "date-time" })
    assert.deepStrictEqual(member("DecisionIn", "args"), {})
    assert.deepStrictEqual(member("EvaluationIn", "signals"), { type: "object" })
    assert.deepStrictEqual(member("DecisionIn", "usage"), {
      anyOf: [{ $ref: "#/components/schemas/Usage" }, { type: "null" }]
    })
    assert.deepStrictEqual(
      operationOf(endpoints.find(({ id }) => id === "decisions.witness")!).requestBody!.content["application/json"]!
        .schema,
      {
        anyOf: [{ $ref: "#/components/schemas/DecisionBatchIn" }, { $ref: "#/components/schemas/DecisionIn" }]
      }
    )
  })
})

/** Values that are right for some member and wrong for most. */
const pool: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  1,
  3,
  4,
  -1,
  1.5,
  2 ** 53,
  "",
  "x",
  "*",
  "a b",
  "ab",
  "args",
  "abc.d",
  "e30=",
  "x".repeat(65),
  "x".repeat(201),
  "x".repeat(257),
  "x".repeat(5_000),
  "2026-01-01T00:00:00Z",
  "L1",
  "ok",
  "full",
  "all",
  "tool_call",
  [],
  ["x"],
  ["a b"],
  ["args"],
  ["abc"],
  [1],
  Array(65).fill("abc"),
  Array(1_001).fill("x"),
  {},
  { a: 1 },
  { input_tokens: -1 },
  { claim: "roles", value: "x" },
  [{ match: { claim: "roles", value: "x" }, role: "admin", org_unit: "*" }],
  { card: "e30=" },
  { card: "e30=", zzz: 1 },
  `agt_${"0".repeat(26)}`
]

/** Codes of problems that JSON Schema cannot express, or only as a note. */
const beyondSchemas = new Set(["value_error", "datetime_parsing"])

describe("bodies are described as they are decoded", () => {
  for (const { body, id } of endpoints.filter((one) => one.body !== null)) {
    it(id, () => {
      const whole = operationOf(endpoints.find((one) => one.id === id)!).requestBody!.content["application/json"]!
        .schema
      // Where the body is a list, its items are tried, one at a time.
      const isList = whole["type"] === "array"
      const schema = isList ? (whole["items"] as JsonSchema) : whole
      const shape =
        schema["$ref"] === undefined ? schemas["DecisionIn"]! : schemas[String(schema["$ref"]).split("/").at(-1)!]!
      const members = Object.keys(shape["properties"] as object)
      let agreed = 0
      for (const member of [...members, "zzz"]) {
        for (const value of pool) {
          const input = { [member]: value }
          const decoded = body!.decode(isList ? [input] : input) as Result.Result<
            unknown,
            ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly type: string }>
          >
          // Other members are missing on both sides, which says nothing of this one.
          const refused = Result.isFailure(decoded)
            ? decoded.failure
                .map((one) => (isList ? { ...one, loc: one.loc.toSpliced(1, 1) } : one))
                .filter(({ loc, type }) => loc[1] === member && !(type === "missing" && loc.length === 2))
            : []
          const described =
            member === "zzz"
              ? shape["additionalProperties"] === false
                ? ["closed"]
                : []
              : problemsOfValue(
                  (shape["properties"] as { readonly [name: string]: JsonSchema })[member]!,
                  value,
                  member,
                  { schemas, closed: false }
                )
          const seen =
            `${member}: ${JSON.stringify(value).slice(0, 80)} ` +
            `${JSON.stringify(refused).slice(0, 300)} ${described.join()}`
          if (described.length > 0) assert.isNotEmpty(refused, seen)
          else
            assert.isEmpty(
              refused.filter(({ type }) => !beyondSchemas.has(type)),
              seen
            )
          agreed += 1
        }
      }
      assert.strictEqual(agreed, (members.length + 1) * pool.length)
    })
  }
})

describe("what comes out", () => {
  const everywhere: ReadonlyArray<Problem> = [problemOf(refusalExamples.MethodNotAllowed)!, internalError("id")]

  for (const one of endpoints) {
    it(`${one.id}: every status, with its body`, () => {
      const operation = operationOf(one)
      assert.isDefined(operation.responses[one.success.status])
      const faults = faultTags
        .filter((tag) =>
          tag === "TrustStoreUnavailable"
            ? one.id === "agents.attach_identity"
            : tag !== "IssuerUnavailable" || !one.access.anonymous
        )
        .map((tag) => problemOf({ _tag: tag })!)
      const expected = [
        ...everywhere,
        ...faults,
        ...refusalsOf(one).map((tag) => problemOf(refusalExamples[tag], one)!)
      ]
      for (const { body, headers, status } of expected) {
        const response = responseOf(operation, status)
        fits(response.content["application/json"]!.schema, body)
        for (const header of Object.keys(headers))
          assert.include(
            Object.keys(response.headers).map((name) => name.toLowerCase()),
            header
          )
        assert.throws(() =>
          fits(response.content["application/json"]!.schema, {
            ...body,
            ...("code" in body ? { code: "another" } : { detail: "x" })
          })
        )
      }
      const statuses = new Set([
        one.success.status,
        400,
        408,
        431,
        ...(Object.keys(one.params).length > 0 ? [404] : []),
        ...expected.map(({ status }) => status)
      ])
      assert.deepStrictEqual(Object.keys(operation.responses).map(Number).sort(), [...statuses].sort(), "and no other")
    })
  }

  it("describes times as date-time", () => {
    const members = Object.entries(schemas).flatMap(([name, schema]) =>
      [schema, ...((schema["allOf"] as ReadonlyArray<JsonSchema> | undefined) ?? [])]
        .flatMap((one) => Object.entries(one["properties"] ?? {}) as ReadonlyArray<[string, JsonSchema]>)
        .map(([member, of]) => [`${name}.${member}`, of] as const)
    )
    const times = members.filter(([name]) => /(_at|_until|_since|\.since|\.until)$/.test(name))
    assert.isAbove(times.length, 30)
    assert.deepStrictEqual(
      times.filter(([, of]) => of["format"] !== "date-time").map(([name]) => name),
      []
    )
  })

  it("carries an id on every response, and the challenge on 401", () => {
    const all = [
      ...Object.values(description.components.responses),
      ...endpoints.map((one) => responseOf(operationOf(one), one.success.status))
    ]
    for (const response of all)
      assert.deepStrictEqual(response.headers["X-Request-Id"], { $ref: "#/components/headers/RequestId" })
    assert.deepStrictEqual(
      responseOf(operationOf(endpoints.find(({ id }) => id === "agents.list")!), 401).headers["WWW-Authenticate"],
      { $ref: "#/components/headers/Authenticate" }
    )
  })

  it("has every member of every response: what is absent is null", () => {
    const answered = new Set<object>()
    const walk = (value: unknown): void => {
      const node =
        typeof value === "object" && value !== null && "$ref" in value
          ? String(value.$ref)
              .split("/")
              .slice(1)
              .reduce((in_: unknown, name) => (in_ as { readonly [name: string]: unknown })[name], description)
          : value
      if (typeof node !== "object" || node === null || answered.has(node)) return
      answered.add(node)
      Object.values(node).forEach(walk)
    }
    for (const one of endpoints) walk(operationOf(one).responses)
    for (const node of answered)
      if ("properties" in node)
        assert.deepStrictEqual(
          (node as JsonSchema)["required"],
          Object.keys(node.properties as object),
          JSON.stringify(node)
        )
  })

  it("names the media types other than JSON", () => {
    const content = (id: string) =>
      Object.keys(responseOf(operationOf(endpoints.find((one) => one.id === id)!), 200).content)
    assert.deepStrictEqual(content("chain.records"), ["application/json", "application/x-ndjson"])
    assert.deepStrictEqual(content("chain.checkpoint"), ["text/plain; charset=utf-8"])
    assert.deepStrictEqual(content("evidence.download"), ["application/vnd.flyball.evidence-pack"])
  })

  it("describes the members of every refusal that has some", () => {
    for (const [tag, { members = {} }] of Object.entries(problems) as ReadonlyArray<
      [RefusalTag, { readonly members?: object }]
    >) {
      if (tag === "InvalidInput" || schemas[tag] === undefined) continue
      assert.deepStrictEqual(schemas[tag]!["required"], ["detail", "code", ...Object.keys(members)])
      assert.strictEqual(
        Object.keys(problemOf(refusalExamples[tag])!.body).join(),
        ["detail", "code", ...Object.keys(members)].join()
      )
    }
  })
})

describe("a schema construct that the description does not know", () => {
  const described = (schema: Schema.Top): OpenApi =>
    interfaceDescription([
      endpoint({ id: "a.b", method: "GET", path: "/a", summary: "", access: access.public, success: json(200, schema) })
    ])

  it("is an error, so that no schema accepts more than the service", () => {
    assert.throws(() => described(Schema.String.check(Schema.isMinLength(2))), /does not know a check/)
    assert.throws(() => described(Schema.Struct({ a: Schema.Date })), /no JSON Schema for/)
  })
})
