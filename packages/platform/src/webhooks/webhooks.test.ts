/** Webhooks and events of an org unit, as callers of `/v1` see them. Spec: document 2 sections 2, 4 and 6. */
import { platformEventTypes } from "@flyball/contract"
import { endpoint, json, platformAccess } from "@flyball/contract/http"
import {
  type Attempted,
  type Capability,
  defineModule,
  type Governor,
  Mailer,
  memoryStorage,
  oneUnit,
  openGovernor,
  type OutgoingRequest,
  platformEvent,
  SecretBox,
  Storage,
  WebhookSender,
  webhooksChoice
} from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { verify } from "@octokit/webhooks-methods"
import { Effect, Layer, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import { Webhook as Svix } from "svix"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { platform } from "../index.ts"

const emitRow = endpoint({
  id: "trial.emit",
  method: "POST",
  path: "/v1/trial/emit",
  summary: "Emits an event of the caller's org unit.",
  access: platformAccess("documents:write"),
  platform: { module: "trial" },
  success: json(200, Schema.Struct({ emitted: Schema.Boolean }))
})

/** Emits an extraction of the caller's org unit. */
const trial: Capability = {
  name: "trial",
  modules: [
    defineModule({
      name: "trial",
      rows: { emit: emitRow },
      operations: {
        emit: Effect.fnUntraced(function* (_, { scope }) {
          const unit = yield* oneUnit(scope, undefined)
          const data = {
            id: "ext_1",
            document_type: "invoice",
            confidence: 0.5,
            fields: { card: "4111 1111 1111 1111", total: "12" }
          }
          const storage = yield* Storage
          yield* storage.commit({ events: [platformEvent("extraction.completed", unit, data)] })
          return { emitted: true }
        })
      },
      layer: Layer.empty
    })
  ]
}

const took: Omit<Attempted, "statusCode"> = { durationMs: 1, errorCode: null, responseExcerpt: "", retryAfterMs: null }
let arrived: Array<OutgoingRequest> = []
/** Receivers that take everything; those below `down.example` nothing. */
const receivers = webhooksChoice(
  "trial",
  Layer.mergeAll(
    Layer.succeed(WebhookSender, {
      send: (request) =>
        Effect.sync((): Attempted => {
          arrived.push(request)
          return request.url.startsWith("https://down.example")
            ? { ...took, statusCode: 500, errorCode: "http_status" }
            : { ...took, statusCode: 204 }
        }),
      urlProblem: (url) => (url.includes("10.0.0.1") ? "URL leads to a private address" : null)
    }),
    Layer.succeed(SecretBox, {
      keyId: "trial",
      seal: (secret) => Effect.succeed(Uint8Array.from(secret)),
      open: (sealed) => Effect.succeed(sealed)
    }),
    Layer.succeed(Mailer, { send: () => Effect.void })
  )
)

let governor: Governor
let api: HttpApi
const keys: { [unit: string]: string } = {}
beforeEach(async () => {
  arrived = []
  governor = await openGovernor({
    storage: memoryStorage(),
    log: () => undefined,
    webhooks: receivers,
    capabilities: [platform(), trial]
  })
  api = openHttp(governor, {
    authentication: {
      authenticate: ({ headers }) => {
        const role = headers.get("x-role") as "admin" | "auditor" | null
        const units = headers.get("x-units")?.split(",") ?? ["sales"]
        return role === null ? null : { subject: role, grants: units.map((org_unit) => ({ role, org_unit })) }
      }
    }
  })
  for (const unit of ["sales", "shop"])
    keys[unit] = (
      await governor.platformKeys.mint({ name: unit, org_unit: unit, plan: "enterprise", scopes: ["*"] })
    ).key
})
afterEach(() => governor.close())

const send = async (
  method: string,
  path: string,
  body?: object,
  headers: { readonly [name: string]: string } = { authorization: `Bearer ${keys["sales"]}` }
) => {
  const init = {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) }
  }
  const response = await api.fetch(
    new Request(`http://host.example${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  )
  return { status: response.status, json: (await response.json()) as any }
}
const shop = () => ({ authorization: `Bearer ${keys["shop"]}` })
const created = async (more: object = {}, headers?: { readonly [name: string]: string }) =>
  (
    await send(
      "POST",
      "/v1/webhooks",
      { url: "https://hooks.example/in", events: ["extraction.completed"], ...more },
      headers
    )
  ).json
const until = async (holds: () => boolean | Promise<boolean>) => {
  for (let turn = 0; !(await holds()); turn++) {
    assert.isBelow(turn, 5_000)
    await new Promise(setImmediate)
  }
}

describe("/v1/webhooks", () => {
  it("has a bound for each org unit, which a revoked webhook leaves", async () => {
    const [first] = await Promise.all(Array.from({ length: 100 }, () => created()))
    const disable = await send("PATCH", `/v1/webhooks/${first.id}`, { status: "disabled" })
    assert.strictEqual(disable.status, 200)
    const { error } = await created()
    assert.deepStrictEqual([error.code, error.limit], ["plan_limit_reached", 100])
    assert.isString((await created({}, shop())).id, "another unit has its own")
    assert.strictEqual((await send("DELETE", `/v1/webhooks/${first.id}`)).status, 200)
    assert.isString((await created()).id)
  })

  it("repeats no secret to a person whose org units are others than they were", async () => {
    const wanted = { url: "https://hooks.example/in", events: ["extraction.completed"] }
    const as = (units: string) =>
      send("POST", "/v1/webhooks?org_unit=sales", wanted, {
        "x-role": "admin",
        "x-units": units,
        "idempotency-key": "p"
      })
    const first = await as("sales,shop")
    assert.deepStrictEqual((await as("shop,sales")).json, first.json)
    const later = await as("sales")
    assert.deepStrictEqual([later.status, later.json.error.code], [422, "idempotency_key_reused"])
  })

  it("keeps no refusal of a wrong form: the key is free for the right one", async () => {
    const keyed = { authorization: `Bearer ${keys["sales"]}`, "idempotency-key": "w" }
    const wrong = await created({ url: "https://user@hooks.example/in" }, keyed)
    assert.strictEqual(wrong.error.code, "invalid_request")
    const right = await created({}, keyed)
    assert.isString(right.id, JSON.stringify(right))
  })

  it("keeps the answer of a creation, a change and a rotation in the form in which it was answered", async () => {
    const keyed = (method: string, path: string, body: object) =>
      send(method, path, body, { authorization: `Bearer ${keys["sales"]}`, "idempotency-key": `${method} ${path}` })
    const input = { url: "https://hooks.example/in", events: ["extraction.completed"] }
    const first = await keyed("POST", "/v1/webhooks", input)
    assert.deepStrictEqual(await keyed("POST", "/v1/webhooks", input), first)
    const at = `/v1/webhooks/${first.json.id}`
    const changed = await keyed("PATCH", at, { description: "ERP" })
    assert.deepStrictEqual(await keyed("PATCH", at, { description: "ERP" }), changed)
    const rotated = await keyed("POST", `${at}/rotate-secret`, {})
    assert.deepStrictEqual(await keyed("POST", `${at}/rotate-secret`, {}), rotated)
    assert.notStrictEqual(rotated.json.secret, first.json.secret)
    assert.lengthOf((await send("GET", "/v1/webhooks")).json.data, 1)
  })

  it("answers the members of document 2 and no others, the secret once, and changes what is named", async () => {
    const { secret, ...made } = await created({ description: "ERP" })
    assert.match(secret, /^whsec_/)
    assert.deepStrictEqual(Object.keys(made).sort(), ["created_at", "description", "events", "id", "status", "url"])
    assert.deepStrictEqual((await send("GET", `/v1/webhooks/${made.id}`)).json, made)
    const changed = (
      await send("PATCH", `/v1/webhooks/${made.id}`, {
        url: "https://hooks.example/next",
        description: null,
        events: ["alert.triggered", "alert.resolved"],
        status: "disabled"
      })
    ).json
    assert.deepStrictEqual(changed, {
      id: made.id,
      url: "https://hooks.example/next",
      events: ["alert.triggered", "alert.resolved"],
      status: "disabled",
      created_at: made.created_at
    })
    const rotated = (await send("POST", `/v1/webhooks/${made.id}/rotate-secret`, { overlap_hours: 0 })).json
    assert.notStrictEqual(rotated.secret, secret)
    assert.deepStrictEqual({ ...rotated, secret: null }, { ...changed, secret: null })
    assert.deepInclude((await send("DELETE", `/v1/webhooks/${made.id}`)).json, { status: "revoked" })
    assert.strictEqual(
      (await send("PATCH", `/v1/webhooks/${made.id}`, { status: "active" })).json.error.code,
      "webhook_revoked"
    )
  })

  it("delivers an event to its org unit alone, masked, and as three libraries verify", async () => {
    const { id, secret } = await created()
    await created({}, shop())
    await governor.webhooks.create({ url: "https://hooks.example/governance", events: ["key.minted"] })
    assert.strictEqual((await send("POST", "/v1/trial/emit")).status, 200)
    await until(async () => (await send("GET", `/v1/webhooks/${id}/deliveries`)).json.data[0]?.state === "succeeded")
    assert.strictEqual(arrived.length, 1)
    const [{ body, headers, url }] = arrived as [OutgoingRequest]
    assert.strictEqual(url, "https://hooks.example/in")
    const text = new TextDecoder().decode(body)
    const event = JSON.parse(text)
    assert.deepStrictEqual(event.data, {
      id: "ext_1",
      document_type: "invoice",
      confidence: 0.5,
      fields: { card: "**** **** **** 1111", total: "12" }
    })
    assert.deepStrictEqual(Object.keys(event).sort(), ["created_at", "data", "id", "type"])
    const sent = Object.fromEntries(Object.entries(headers))
    new Webhook(secret).verify(text, sent)
    new Svix(secret).verify(text, sent)
    const signature = Object.entries(sent).find(([name]) => name.toLowerCase() === "x-platform-signature")![1]
    assert.isTrue(await verify(secret, text, signature))
    assert.isFalse(await verify(secret, `${text} `, signature))
    const listed = await send("GET", "/v1/events")
    assert.deepStrictEqual(listed.json, { data: [event], has_more: false, next_cursor: null })
    assert.deepStrictEqual((await send("GET", "/v1/events", undefined, shop())).json.data, [])
    assert.deepStrictEqual((await send("GET", "/v1/events?type=alert.resolved")).json.data, [])
    const again = await send(
      "POST",
      `/v1/webhooks/${id}/deliveries/${(await send("GET", `/v1/webhooks/${id}/deliveries`)).json.data[0].id}/redeliver`
    )
    assert.deepInclude(again.json, { event_id: event.id, sequence: 2 })
    assert.deepInclude((await send("POST", `/v1/webhooks/${id}/test`)).json, { delivered: true })
    const since = { since: new Date(Date.parse(event.created_at) - 1_000).toISOString() }
    assert.deepInclude((await send("POST", `/v1/webhooks/${id}/recover`, since)).json, { count: 0, has_more: false })
  })

  it("makes one webhook of one Idempotency-Key, and answers the same secret", async () => {
    const headers = { authorization: `Bearer ${keys["sales"]}`, "idempotency-key": "k1" }
    const first = await created({}, headers)
    assert.match(first.secret, /^whsec_/)
    assert.deepStrictEqual(await created({}, headers), first)
    assert.strictEqual((await send("GET", "/v1/webhooks")).json.data.length, 1)
  })

  it("is not there for another org unit, nor for a person without the role", async () => {
    const { id } = await created()
    const governance = await governor.webhooks.create({ url: "https://hooks.example/x", events: ["key.minted"] })
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { status: "disabled" }],
      ["DELETE", "", undefined],
      ["POST", "/test", undefined],
      ["POST", "/rotate-secret", undefined],
      ["GET", "/deliveries", undefined],
      ["POST", `/deliveries/dlv_${"0".repeat(26)}/redeliver`, undefined],
      ["POST", "/recover", { since: "2026-01-01T00:00:00Z" }]
    ] as const) {
      for (const of of [id, governance.id]) {
        const { json: answer, status } = await send(method, `/v1/webhooks/${of}${path}`, body, shop())
        assert.deepStrictEqual([status, answer.error?.code], [404, "not_found"], `${method} ${path}`)
      }
    }
    assert.deepStrictEqual((await send("GET", "/v1/webhooks", undefined, shop())).json.data, [])
    assert.deepStrictEqual(
      (await governor.webhooks.list()).map((one) => one.id),
      [governance.id]
    )
    assert.strictEqual((await send("GET", `/v1/webhooks/${id}`, undefined, { "x-role": "admin" })).status, 200)
    assert.strictEqual((await send("GET", `/v1/webhooks/${id}`, undefined, { "x-role": "auditor" })).status, 403)
    assert.strictEqual((await send("GET", "/v1/events", undefined, { "x-role": "auditor" })).status, 200)
  })

  it("refuses what is wrong with its field, and keeps nothing of it", async () => {
    const { id } = await created()
    const before = (await governor.chain.head())?.seq
    const paramOf = async (method: string, path: string, body?: object) => {
      const { json: answer, status } = await send(method, path, body)
      return [status, answer.error?.param]
    }
    const url = "https://hooks.example/in"
    const events = ["alert.triggered"]
    for (const [body, param] of [
      [{ events }, "url"],
      [{ url: "https://ada:secret@hooks.example/", events }, "url"],
      [{ url: "https://10.0.0.1/", events }, "url"],
      [{ url, events: [] }, "events"],
      [{ url, events: ["alert.triggered", "agent.suspended"] }, "events[1]"],
      [{ url, events: "alert.triggered" }, "events"],
      [{ url, events, description: 7 }, "description"]
    ] as const)
      assert.deepStrictEqual(await paramOf("POST", "/v1/webhooks", body), [400, param], JSON.stringify(body))
    for (const [body, param] of [
      [{ status: "failed" }, "status"],
      [{ url: null }, "url"],
      [{ url: "https://10.0.0.1/" }, "url"],
      [{ events: ["webhook.test"] }, "events[0]"]
    ] as const)
      assert.deepStrictEqual(await paramOf("PATCH", `/v1/webhooks/${id}`, body), [400, param])
    for (const [query, param] of [
      ["limit=0", "limit"],
      ["limit=101", "limit"],
      ["limit=abc", "limit"],
      ["sort=url", "sort"],
      ["created_after=2026-01-01", "created_after"],
      ["created_before=2026-01-01T00:00:00", "created_before"],
      ["cursor=abc", "cursor"],
      ["cursor=a%20b", "cursor"],
      ["status=gone", "status"],
      ["org_unit=shop", "org_unit"]
    ] as const)
      assert.deepStrictEqual(await paramOf("GET", `/v1/webhooks?${query}`), [400, param], query)
    assert.deepStrictEqual(await paramOf("GET", "/v1/events?type=agent.suspended"), [400, "type"])
    assert.deepStrictEqual(await paramOf("GET", `/v1/webhooks/${id}/deliveries?sort=created_at`), [400, "sort"])
    for (const type of platformEventTypes) {
      const refused = await governor.webhooks.create({ url, events: [type] }).then(
        () => null,
        (error: { readonly code: string }) => error.code
      )
      assert.strictEqual(refused, "invalid_input", "no event of document 2 is subscribable in document 1")
    }
    assert.strictEqual((await send("GET", "/v1/webhooks")).json.data.length, 1)
    assert.strictEqual((await governor.chain.head())?.seq, before)
  })

  it("lists pages whose cursors belong to their query", async () => {
    const made: Array<string> = []
    for (let n = 0; n < 5; n++) made.push((await created()).id)
    const page = await send("GET", "/v1/webhooks?limit=2")
    const newest = made.toSorted().toReversed()
    assert.deepStrictEqual(
      page.json.data.map(({ id }: { readonly id: string }) => id),
      newest.slice(0, 2)
    )
    const next = `/v1/webhooks?limit=3&cursor=${page.json.next_cursor}`
    const rest = await send("GET", next)
    assert.deepStrictEqual(
      rest.json.data.map(({ id }: { readonly id: string }) => id),
      newest.slice(2)
    )
    assert.deepInclude(rest.json, { has_more: false, next_cursor: null })
    assert.strictEqual((await send("GET", `${next}&status=active`)).json.error.param, "cursor")
    assert.strictEqual((await send("GET", next, undefined, shop())).json.error.param, "cursor")
    assert.strictEqual((await send("GET", `/v1/events?cursor=${page.json.next_cursor}`)).json.error.param, "cursor")
    await send("PATCH", `/v1/webhooks/${newest[0]}`, { status: "disabled" })
    const active = await send("GET", "/v1/webhooks?status=active&sort=created_at")
    assert.deepStrictEqual(
      active.json.data.map(({ id }: { readonly id: string }) => id),
      made.toSorted().slice(0, 4)
    )
  })

  it("lists each event and each delivery once, page by page, and cuts lists at times", async () => {
    const { id } = await created()
    for (let n = 0; n < 5; n++) await send("POST", "/v1/trial/emit")
    await send("POST", "/v1/trial/emit", undefined, shop())
    await until(() => arrived.length === 5)
    const walk = async (path: string) => {
      const found: Array<any> = []
      for (let cursor = ""; ;) {
        const { json: page } = await send("GET", `${path}?limit=2${cursor}`)
        found.push(...page.data)
        if (!page.has_more) return found
        cursor = `&cursor=${page.next_cursor}`
      }
    }
    const events = await walk("/v1/events")
    const ids = events.map((one) => one.id)
    assert.deepStrictEqual(
      ids,
      arrived
        .map(({ headers }) => headers["webhook-id"]!)
        .toSorted()
        .toReversed()
    )
    const deliveries = await walk(`/v1/webhooks/${id}/deliveries`)
    assert.deepStrictEqual(
      deliveries.map(({ sequence }) => sequence),
      [5, 4, 3, 2, 1]
    )
    for (const path of ["/v1/events", `/v1/webhooks/${id}/deliveries`]) {
      const at = events[0].created_at
      const after = (await send("GET", `${path}?created_after=${at}`)).json.data
      const before = (await send("GET", `${path}?created_before=${at}`)).json.data
      const count = events.filter(({ created_at }) => created_at !== at).length
      assert.deepStrictEqual([after.length, before.length], [0, count], path)
    }
    assert.strictEqual((await send("GET", "/v1/events?sort=created_at")).json.error.param, "sort")
  })
})
