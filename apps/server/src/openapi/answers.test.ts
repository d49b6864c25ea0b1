/** Compares the server's real answers with its description: status, headers, media type, every member. */
// First, as in the command.
import "effect/schema/SchemaJITCompiler/enable"
import { type AnyEndpoint, endpoints } from "@flyball/contract/http"
import { type JsonSchema, type OpenApi, problemsOfValue, type Response } from "@flyball/http/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { goodRequests } from "../http/http-requests.ts"
import { type Got, openWorld, type World } from "../http/http-world.ts"

let world: World
let good: Awaited<ReturnType<typeof goodRequests>>
let description: OpenApi

beforeAll(async () => {
  world = await openWorld()
  good = await goodRequests(world)
  description = (await world.send("GET", "/openapi.json")).json
})
afterAll(() => world.close())

const fits = (schema: JsonSchema, value: unknown, name: string) =>
  assert.deepStrictEqual(
    problemsOfValue(schema, value, "it", { schemas: description.components.schemas, closed: true }),
    [],
    name
  )

/** Holds an answer against its description. */
const described = ({ id, method, path }: AnyEndpoint, got: Got): void => {
  const response = description.paths[path]![method.toLowerCase()]!.responses[got.status]
  assert.isDefined(response, `${id} says nothing of ${got.status}: ${got.text.slice(0, 200)}`)
  const { content, headers } =
    "$ref" in response! ? description.components.responses[response.$ref.split("/").at(-1)!]! : (response as Response)
  for (const [name, header] of Object.entries(headers)) {
    const { required, schema } =
      "$ref" in header ? description.components.headers[header.$ref.split("/").at(-1)!]! : header
    const value = got.headers.get(name)
    if (required === true) assert.isNotNull(value, `${id} ${got.status} ${name}`)
    if (value !== null) fits(schema, schema["type"] === "integer" ? Number(value) : value, name)
  }
  const media = got.headers.get("content-type")!
  assert.property(content, media, `${id} ${got.status}`)
  fits(content[media]!.schema, media === "application/json" ? JSON.parse(got.text) : got.text, `${id} ${got.status}`)
}

describe("what the server answers is what its description says", () => {
  for (const endpoint of endpoints) {
    it(`${endpoint.method} ${endpoint.path}`, async () => {
      const { json, path } = await good(endpoint)
      const send = (sending: Parameters<World["send"]>[2], at = path) => world.send(endpoint.method, at, sending)
      const body = json === null ? {} : { json }
      const done = await send({ token: world.admin, ...body })
      // Nobody approved the review of that request: a test of its own below has one that somebody did.
      const status = endpoint.id === "standing_approvals.propose" ? 404 : endpoint.success.status
      assert.strictEqual(done.status, status, done.text)
      described(endpoint, done)
      const statuses = [done.status]
      const refused = [
        // The first again: what may be done once is refused now.
        await send({ token: world.admin, ...body }),
        await send(body),
        await send({ token: world.key, ...body }),
        await send({ token: world.tokens.auditor, ...body }),
        await send({ token: await world.token("admin", "elsewhere"), ...body }),
        ...(endpoint.query === null
          ? []
          : [
              await send(
                { token: world.admin },
                `${endpoint.path.includes("{") ? path : endpoint.path}?limit=x&from=x&tree_size=x`
              )
            ]),
        ...(endpoint.method === "GET"
          ? []
          : [
              await send({ token: world.admin, json: { ...json, zzz: 1 } }),
              await send({ token: world.admin, body: "{" }),
              await send({ token: world.admin, body: "x", headers: { "content-type": "text/plain" } }),
              await send({ token: world.admin, body: " ".repeat((endpoint.body?.limitBytes ?? 1_048_576) + 1) })
            ]),
        ...Object.keys(endpoint.params).map(async (name) =>
          send(
            { token: world.admin, ...body },
            endpoint.path.replace(`{${name}}`, name === "seq" ? "9007199254740991" : "nobody")
          )
        ),
        ...Object.keys(endpoint.params).map(async (name) =>
          send({ token: world.admin, ...body }, endpoint.path.replace(`{${name}}`, "%ff"))
        )
      ]
      for (const got of await Promise.all(refused)) {
        described(endpoint, got)
        statuses.push(got.status)
      }
      const all = new Set(statuses)
      if (!endpoint.access.anonymous) assert.isTrue(all.has(401), "called without a token")
      if (endpoint.method !== "GET") assert.includeMembers([...all], [413, 415, 422])
      if (Object.keys(endpoint.params).length > 0) assert.isTrue(all.has(404))
    })
  }

  it("a standing approval that the reviewer proposes", async () => {
    const [resolve, propose] = ["reviews.resolve", "standing_approvals.propose"].map((id) =>
      endpoints.find((one) => one.id === id)!
    )
    const { json: answer, path } = await good(resolve!)
    assert.strictEqual((await world.send("POST", path, { token: world.admin, json: answer })).status, 200)
    const { json } = await good(propose!)
    const review_id = path.split("/")[5]
    const done = await world.send("POST", propose!.path, { token: world.admin, json: { ...json, review_id } })
    assert.strictEqual(done.status, 201, done.text)
    described(propose!, done)
  })

  it("a body that fits its description is taken, as far as it goes", async () => {
    for (const endpoint of endpoints.filter(({ body }) => body !== null)) {
      const { json } = await good(endpoint)
      fits(
        description.paths[endpoint.path]![endpoint.method.toLowerCase()]!.requestBody!.content["application/json"]!
          .schema,
        json,
        endpoint.id
      )
    }
  })

  it("a whole decision with its outcome, an agent with everything, a pack of each kind", async () => {
    const find = (id: string) => endpoints.find((one) => one.id === id)!
    const post = (path: string, json: unknown) => world.send("POST", path, { token: world.admin, json })
    const agent = await world.register("everything", "claims", {
      owner_name: "Ada",
      owner_email: "ada@example.org",
      blast_radius: { a: [1] },
      recert_due_at: "2099-01-01T00:00:00+02:00",
      purpose: "p",
      agent_version: "1",
      framework: "f",
      model_ids: ["m"],
      risk_class: "high",
      labels: { l: null }
    })
    described(find("agents.get"), await world.send("GET", `/api/v1/agents/${agent}`, { token: world.admin }))
    const usage = { input_tokens: 1, output_tokens: 2, cost_micro_usd: null }
    const [decision] = (
      await post(`/api/v1/agents/${agent}/decisions`, {
        decisions: [
          {
            client_ref: "a",
            action: "b",
            tool_server: "s",
            run_id: "r",
            step: 1,
            observed_at: "2026-01-01T00:00:00Z",
            model: "m",
            usage,
            latency_ms: 1,
            mode: "observed",
            decided_by: "server",
            writer_seq: 1,
            result: 1
          }
        ]
      })
    ).json.receipts
    await post(`/api/v1/decisions/${decision.decision_id}/settle`, { status: "ok", usage, latency_ms: 2, result: null })
    described(
      find("decisions.list"),
      await world.send("GET", `/api/v1/agents/${agent}/decisions`, { token: world.admin })
    )
    for (const json of [
      { kind: "full", disclose: "all" },
      { kind: "range", from: 0, to: 1, disclose: ["args"] },
      { kind: "sparse", kinds: ["decision.made"], since: "2026-01-01T00:00:00Z", run_id: "r" }
    ])
      described(find("evidence.create"), await post("/api/v1/evidence/packs", json))
    described(find("evidence.list"), await world.send("GET", "/api/v1/evidence/packs", { token: world.admin }))
  })

  it("records one a line, each as in the list", async () => {
    const list = await world.send("GET", "/api/v1/chain/records?limit=1000", { token: world.admin })
    const lines = await world.send("GET", "/api/v1/chain/records?limit=1000", {
      token: world.admin,
      headers: { accept: "application/x-ndjson" }
    })
    described(
      endpoints.find(({ id }) => id === "chain.records")!,
      lines
    )
    assert.deepStrictEqual(
      lines.text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
      list.json
    )
    assert.isTrue(lines.text.endsWith("\n"))
  })
})
