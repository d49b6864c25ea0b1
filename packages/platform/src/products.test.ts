/** Rows of products: every check runs before a product does, and before 501 where there is none. Spec: document 2. */
import { documents, gateway, type ReceivedFile } from "@flyball/contract/http"
import { type Capability, defineModule, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import { platform } from "./index.ts"
import { installedProducts } from "./testing/installed-products.ts"

let governor: Governor
let api: HttpApi
const open = async (...more: ReadonlyArray<Capability>) => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [platform(), ...more] })
  api = openHttp(governor)
}
afterEach(() => governor.close())

type Plan = "free" | "starter" | "enterprise"
const keyOf = async (plan: Plan = "enterprise", org_unit = "ops") =>
  (await governor.platformKeys.mint({ name: "k", org_unit, plan, scopes: ["*"] })).key
const send = async (key: string, path: string, body?: BodyInit, type = "application/json", more = {}) => {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": type }), ...more }
  const init = body === undefined ? { headers } : { method: "POST", headers, body, duplex: "half" }
  const response = await api.fetch(new Request(`http://host.example${path}`, init))
  return { status: response.status, headers: response.headers, json: (await response.json()) as any }
}
const errorOf = ({ json, status }: { readonly status: number; readonly json: any }) => [
  status,
  json.error.code,
  json.error.param
]

const position = { vehicle_id: "v", at: new Date().toISOString(), latitude: 52.5, longitude: 13.4 }
const bodies: { readonly [id: string]: object } = {
  "gateway.chat": { model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 600 },
  "gateway.responses": { model: "m", input: "Hi", max_output_tokens: 600, more: true },
  "gateway.messages": { model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 600 },
  "gateway.sdk_messages": { model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 600 },
  "documents.extract": { url: "https://files.example/a.pdf" }
}
const rows = [gateway, documents].flatMap((group) => Object.values(group)).filter(({ id }) => Object.hasOwn(bodies, id))

describe.each(rows)("$id", ({ id, path, platform: facts, success }) => {
  const module = facts?.module
  const body = JSON.stringify(bodies[id])
  const resource: "documents" | "tokens" | null = facts?.quota?.resource ?? null
  const used = async (key: string) => {
    const { json } = await send(key, "/v1/usage")
    return { documents: json.documents_processed, tokens: json.tokens_used }
  }

  it("answers 501 where nobody installed it, and uses no quota", async () => {
    await open()
    const key = await keyOf()
    const answer = await send(key, path, body)
    assert.deepStrictEqual(errorOf(answer), [501, "module_not_installed", null])
    assert.deepInclude(answer.json.error, { module, type: "api_error" })
    assert.deepStrictEqual(await used(key), { documents: 0, tokens: 0 })
    assert.strictEqual((await send(key, path, "{}")).status, id === "documents.extract" ? 501 : 400)
  })

  it("runs what is installed, and uses its quota", async () => {
    await open(installedProducts())
    const key = await keyOf()
    assert.strictEqual((await send(key, path, body)).status, success.status)
    // The request itself too, a token for four bytes.
    const tokens = 600 + Math.ceil(body.length / 4)
    const amount = { documents: { documents: 1, tokens: 0 }, tokens: { documents: 0, tokens } }
    assert.deepStrictEqual(await used(key), resource === null ? { documents: 0, tokens: 0 } : amount[resource])
    const other = await send(await keyOf("free"), path, body)
    assert.strictEqual(other.status, resource === null ? success.status : 429)
    if (resource === null) return
    assert.deepStrictEqual(errorOf(other), [429, "quota_exceeded", null])
    assert.strictEqual(other.headers.get("x-should-retry"), "false")
    assert.isAtMost(Number(other.headers.get("retry-after")), 2_147_483)
    assert.deepStrictEqual(await used(key), amount[resource], "what was refused used nothing")
  })
})

it("refuses bodies of the wrong size or form, and counts each position", async () => {
  await open(installedProducts())
  const key = await keyOf()
  const many = (count: number, of: object) => Array.from({ length: count }, () => of)
  const wrong = async (path: string, body: object) => errorOf(await send(key, path, JSON.stringify(body)))
  const positions = "/v1/fleet/positions"
  const misplaced = [position, { ...position, latitude: 91 }]
  assert.deepStrictEqual(await wrong(positions, { positions: misplaced }), [
    400,
    "invalid_request",
    "positions[1].latitude"
  ])
  const counted = await send(key, positions, JSON.stringify({ positions: many(1_000, position) }))
  assert.deepStrictEqual(counted.json, { accepted: 1, late: 0, repeated: 999 })
  assert.include(counted.headers.get("ratelimit") ?? "", '"operation:fleet.track_fleet";r=9000')
})

it("two requests that together pass a quota are never both admitted, and a failure returns its share", async () => {
  let fails = true
  await open(
    installedProducts(() => {
      if (fails) throw new Error("broken")
    })
  )
  const key = await keyOf("starter")
  const completion = JSON.stringify({ model: "m", messages: [{ role: "user" }], max_tokens: 600_000 })
  const both = await Promise.all([1, 2].map(() => send(key, "/v1/gateway/chat/completions", completion)))
  assert.deepStrictEqual(both.map(({ status }) => status).sort(), [200, 429])
  const extract = () => send(key, "/v1/documents/extract", JSON.stringify(bodies["documents.extract"]))
  assert.strictEqual((await extract()).status, 500)
  assert.strictEqual((await send(key, "/v1/usage")).json.documents_processed, 0)
  fails = false
  assert.strictEqual((await extract()).status, 201)
  assert.strictEqual((await send(key, "/v1/usage")).json.documents_processed, 1)
})

it("gives the answer of one agent under an Idempotency-Key to no other", async () => {
  await open(installedProducts())
  const { agent } = await governor.agents.register({ name: "b", org_unit: "ops" })
  const own = await governor.platformKeys.mint({
    name: "k",
    org_unit: "ops",
    plan: "enterprise",
    scopes: ["*"],
    agent_id: agent.id
  })
  const body = JSON.stringify(bodies["gateway.chat"])
  const ask = (key: string, more = {}) =>
    send(key, "/v1/gateway/chat/completions", body, "application/json", { "idempotency-key": "k", ...more })
  const key = await keyOf()
  const [one, other] = [{ "x-flyball-agent": `agt_${"0".repeat(26)}` }, { "x-flyball-agent": agent.id }]
  assert.strictEqual((await ask(key, one)).status, 200)
  assert.strictEqual((await ask(key, one)).headers.get("idempotent-replayed"), "true")
  for (const answer of [await ask(key, other), await ask(own.key)])
    assert.deepStrictEqual(errorOf(answer), [422, "idempotency_key_reused", null])
})

it("a repeat under one Idempotency-Key uses no quota, also where there is none left", async () => {
  const files: Array<unknown> = []
  await open(installedProducts((file) => files.push(file)))
  const key = await keyOf("starter")
  const complete = (idempotencyKey: string, more = {}) =>
    send(
      key,
      "/v1/gateway/chat/completions",
      JSON.stringify({ model: "m", messages: [{ role: "user" }], max_tokens: 600_000, ...more }),
      "application/json",
      { "idempotency-key": idempotencyKey }
    )
  assert.strictEqual((await complete("a")).status, 200)
  assert.deepStrictEqual(errorOf(await complete("b")), [429, "quota_exceeded", null])
  assert.strictEqual((await complete("a")).headers.get("idempotent-replayed"), "true")
  assert.deepStrictEqual(errorOf(await complete("b")), [429, "quota_exceeded", null], "a 429 is not kept")
  assert.deepStrictEqual(errorOf(await complete("c", { stream: true })), [400, "idempotency_not_supported", null])
  const extract = (text: string) =>
    send(key, "/v1/documents/extract", text, "text/plain", { "idempotency-key": "document" })
  const [first, again, other] = [await extract("one"), await extract("one"), await extract("two")]
  assert.deepStrictEqual([again.json, again.headers.get("idempotent-replayed")], [first.json, "true"])
  assert.deepStrictEqual(errorOf(other), [422, "idempotency_key_reused", null])
  assert.lengthOf(files, 1)
  const { json } = await send(key, "/v1/usage")
  assert.deepInclude(json, { tokens_used: 600_016, documents_processed: 1 })
})

describe("a caller that leaves, or lost access", () => {
  const path = "/v1/gateway/chat/completions"
  const chat = JSON.stringify({ model: "m", messages: [{ role: "user" }], max_tokens: 1_000 })

  /** A gateway that answers nobody. */
  const silent: Capability = {
    name: "silent",
    modules: [
      defineModule({
        name: "gateway",
        rows: gateway,
        operations: {
          chat: () => Effect.never,
          messages: () => Effect.never,
          responses: () => Effect.never,
          sdkMessages: () => Effect.never
        },
        layer: Layer.empty
      })
    ]
  }

  it("leaves nothing of the quota reserved, whenever it leaves", async () => {
    await open(silent)
    const key = await keyOf()
    for (let turns = 0; turns < 100; turns++) {
      const leave = new AbortController()
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const init = { method: "POST", headers, body: chat, signal: leave.signal }
      const left = api.fetch(new Request(`http://host.example${path}`, init)).catch(() => "left")
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      leave.abort()
      await left
    }
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    assert.strictEqual((await send(key, "/v1/usage")).json.tokens_used, 0)
  })

  it("gets no repeat of what it was answered for an org unit that it has no longer", async () => {
    await open(installedProducts())
    let units = ["*"]
    const grants = () => units.map((org_unit) => ({ role: "admin", org_unit }) as const)
    api = openHttp(governor, { authentication: { authenticate: () => ({ subject: "ada", grants: grants() }) } })
    const call = async (body: string) => {
      const headers = { "content-type": "application/json", "idempotency-key": "k" }
      const request = new Request(`http://host.example${path}?org_unit=hr`, { method: "POST", headers, body })
      const response = await api.fetch(request)
      return [response.status, response.headers.get("idempotent-replayed"), await response.json()] as const
    }
    assert.strictEqual((await call(chat))[0], 200)
    assert.deepStrictEqual((await call(chat)).slice(0, 2), [200, "true"])
    units = ["sales"]
    const refused = await call(chat)
    assert.deepStrictEqual([refused[0], refused[1]], [400, null])
  })

  it("cannot repeat a body that has no canonical form, and may send it without a key", async () => {
    await open(installedProducts())
    const key = await keyOf()
    const routes = "/v1/gateway/responses"
    for (const input of ["1e400", '"\\ud83d"']) {
      const body = `{"model": "m", "input": ${input}}`
      assert.strictEqual((await send(key, routes, body)).status, 200, input)
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "i" }
      const response = await api.fetch(new Request(`http://host.example${routes}`, { method: "POST", headers, body }))
      const { error } = (await response.json()) as any
      assert.deepStrictEqual([response.status, error.param], [400, "Idempotency-Key"], input)
    }
  })
})

describe("a document as a body", () => {
  const path = "/v1/documents/extract"
  const pieces = (count: number, bytes: number) =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (count-- > 0) controller.enqueue(new Uint8Array(bytes).fill(count % 251))
        else controller.close()
      }
    })

  it("is streamed to a file that is there until the answer", async () => {
    const seen: Array<ReceivedFile> = []
    const digests: Array<string> = []
    await open(
      installedProducts((document) => {
        const file = document as ReceivedFile
        seen.push(file)
        digests.push(createHash("sha256").update(readFileSync(file.path)).digest("hex"))
      })
    )
    const key = await keyOf()
    assert.strictEqual((await send(key, path, pieces(50, 1_048_576), "Application/PDF; x=y")).status, 201)
    assert.deepInclude(seen[0], { bytes: 50 * 1_048_576, media: "application/pdf", sha256: digests[0]! })
    await new Promise(setImmediate)
    assert.isFalse(existsSync(seen[0]!.path))
  })

  it("that a framework has read already is the host's fault, not an empty document", async () => {
    await open(installedProducts())
    const host = createServer((request, response) => {
      request.resume().once("end", () => api.node(request, response))
    }).listen(0, "127.0.0.1")
    try {
      await new Promise((resolve) => host.once("listening", resolve))
      const answer = await fetch(`http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${await keyOf()}`, "content-type": "application/pdf" },
        body: "%PDF-1.7"
      })
      assert.deepStrictEqual([answer.status, ((await answer.json()) as any).error.code], [500, "internal_error"])
    } finally {
      host.close()
    }
  })

  it("is refused where it is too large, empty, of another type or cut off", async () => {
    const seen: Array<unknown> = []
    await open(installedProducts((document) => seen.push(document)))
    const key = await keyOf()
    const refused = async (body: BodyInit, type = "application/pdf") => errorOf(await send(key, path, body, type))
    assert.deepStrictEqual(await refused(pieces(51, 1_048_576)), [413, "payload_too_large", null])
    assert.deepStrictEqual(await refused(pieces(0, 0)), [400, "invalid_request", null])
    assert.deepStrictEqual(await refused(pieces(1, 10), "application/zip"), [415, "unsupported_media_type", null])
    assert.deepStrictEqual(await refused('{"document_type": "x"}', "application/json"), [
      400,
      "invalid_request",
      "document_type"
    ])
    const cut = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("gone"))
    })
    await send(key, path, cut, "application/pdf").then(
      () => assert.fail("an answer to a body that was cut off"),
      () => undefined
    )
    assert.deepStrictEqual(seen, [])
    assert.strictEqual((await send(key, "/v1/usage")).json.documents_processed, 0)
  })
})

it("two products of one name are refused at the start", async () => {
  await open()
  const twice = [installedProducts(), installedProducts()]
  await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: twice }).then(
    () => assert.fail("it opened"),
    (error: Error) => assert.include(String(error), "installed twice")
  )
})
