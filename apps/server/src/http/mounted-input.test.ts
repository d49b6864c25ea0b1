/** Wrong input, and what is too much, too early or too late, through each adapter on a real framework. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { EventEmitter, once } from "node:events"
import { request as nodeRequest } from "node:http"
import { BODY_LIMIT_BYTES } from "@flyball/contract"
import type { RequestLog } from "@flyball/http/server"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, UNIT, type World } from "./http-world.ts"
import { seen } from "./testing/given-refused-world.ts"
import { onEffect, onExpress, onFastify, onHono } from "./testing/mounted-servers.ts"

const adapters = [
  ["Express", onExpress({ parsed: false }), "unread"],
  ["Express, behind its JSON parser", onExpress({ parsed: true }), "parsed"],
  ["Fastify, without parsers", onFastify({ parsed: false }), "unread"],
  ["Fastify, with its parsers", onFastify({ parsed: true }), "parsed"],
  ["Hono", onHono, "unread"],
  ["Effect's HttpRouter", onEffect, "unread"]
] as const

const chunked = (text: string, pieces: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  const size = Math.ceil(bytes.length / pieces)
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, (at += size)))
    }
  })
}

for (const [name, serve, reads] of adapters)
  describe(`mounted on ${name}`, () => {
    let world: World
    let agent: string
    /** Hears of requests whose caller did not get a whole answer. */
    const logged = new EventEmitter()
    beforeAll(async () => {
      const log = (entry: RequestLog): void => void (entry.status === 0 && logged.emit("left", entry))
      world = await openWorld({ serve, server: { log } })
      agent = await world.register("of the adapters")
    })
    afterAll(() => world.close())

    const decisions = (): string => `/api/v1/agents/${agent}/decisions`
    const nothingWritten = async (act: () => Promise<void>): Promise<void> => {
      const before = await world.size()
      await act()
      assert.strictEqual(await world.size(), before)
    }

    it("refuses a body beyond the limit, with its length and without", () =>
      nothingWritten(async () => {
        const text = JSON.stringify({ name: "x".repeat(BODY_LIMIT_BYTES), org_unit: UNIT })
        for (const body of [text, chunked(text, 64)]) {
          const got = await world.send("POST", "/api/v1/agents", { token: world.admin, body })
          assert.deepStrictEqual(seen(got), [413, "body_too_large"], got.text.slice(0, 200))
        }
      }))

    it("takes a body in many small pieces", async () => {
      const body = chunked(JSON.stringify({ name: "in pieces", org_unit: UNIT }), 40)
      const got = await world.send("POST", "/api/v1/agents", { token: world.admin, body })
      assert.strictEqual(got.status, 201, got.text)
      assert.strictEqual(got.json.name, "in pieces")
    })

    it("refuses other content types, and what is not JSON", () =>
      nothingWritten(async () => {
        const text = await world.send("POST", "/api/v1/agents", {
          token: world.admin,
          body: "hello",
          headers: { "content-type": "text/html" }
        })
        assert.strictEqual(text.status, 415)
        const broken = await world.send("POST", "/api/v1/agents", { token: world.admin, body: '{"name": ' })
        assert.strictEqual(broken.status, reads === "parsed" ? 400 : 422, broken.text)
        if (reads === "unread") assert.deepStrictEqual(seen(broken), [422, "json_invalid", "body"])
      }))

    it("refuses bytes that are not UTF-8, where no parser of the host has replaced them", async () => {
      const before = await world.size()
      const body = Buffer.concat([
        Buffer.from('{"name":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from(`","org_unit":"${UNIT}"}`)
      ])
      const got = await world.send("POST", "/api/v1/agents", { token: world.admin, body })
      if (reads === "parsed") return assert.strictEqual(got.json.name, "\ufffd\ufffd")
      assert.deepStrictEqual(seen(got), [422, "json_invalid", "body"])
      assert.strictEqual(await world.size(), before)
    })

    it("keeps numbers as they were sent, or refuses where the host's parser has rounded one", async () => {
      const sent = `{"client_ref":"n","action":"pay","args":{"cents":12345678901234567890,"rate":1.50}}`
      const before = await world.size()
      const got = await world.send("POST", decisions(), { token: world.admin, body: sent })
      if (reads === "parsed") {
        assert.deepStrictEqual(seen(got), [422, "json_invalid", "body"])
        return assert.strictEqual(await world.size(), before)
      }
      assert.strictEqual(got.status, 201, got.text)
      const { seq } = got.json.receipts[0]
      const part = await world.send("GET", `/api/v1/chain/records/${seq}/parts/args`, { token: world.admin })
      assert.include(part.text, "12345678901234567890")
    })

    it("answers HEAD and OPTIONS, a wrong method, and what does not exist, in the API's form", async () => {
      const { admin, send } = world
      const head = await send("HEAD", "/api/v1/agents", { token: admin })
      assert.deepStrictEqual([head.status, head.bytes.length], [200, 0])
      const options = await send("OPTIONS", "/api/v1/agents")
      assert.deepStrictEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS, POST"])
      assert.deepStrictEqual(seen(await send("DELETE", "/api/v1/agents", { token: admin })), [
        405,
        "method_not_allowed"
      ])
      assert.deepStrictEqual(seen(await send("GET", "/api/v1/nothing", { token: admin })), [404, "not_found"])
      for (const path of ["", "/", "/docs", "/openapi.json", "/metrics"])
        assert.strictEqual((await send("GET", path)).status, 404, path)
      assert.isNotEmpty((await send("GET", "/status")).headers.get("x-request-id"))
    })

    it("takes a POST without any body where none is needed", async () => {
      const id = await world.register("without a body", UNIT, {
        owner_name: "Ada Lovelace",
        owner_email: "ada@example.org"
      })
      const done = await world.send("POST", `/api/v1/agents/${id}/activate`, { token: world.admin })
      assert.strictEqual(done.status, 200, done.text)
    })

    it("ends what its sender breaks off, and writes nothing of it", () =>
      nothingWritten(async () => {
        const { hostname, pathname, port } = new URL(`${world.url}/api/v1/agents`)
        const sending = nodeRequest({
          host: hostname,
          port,
          path: pathname,
          method: "POST",
          headers: {
            authorization: `Bearer ${world.admin}`,
            "content-type": "application/json",
            "content-length": "1000"
          }
        })
        sending.on("error", () => undefined)
        const ended = new Promise<void>((resolve) => sending.on("close", () => resolve()))
        // Behind a parser of the host the API hears nothing of it.
        const left = reads === "parsed" ? null : once(logged, "left")
        await new Promise<void>((resolve) => sending.write('{"name":"half of ', () => resolve()))
        // Another request is answered before this one is broken off, so that its half has arrived.
        await world.send("GET", "/status")
        sending.destroy()
        await Promise.all([ended, left])
        assert.strictEqual((await world.send("GET", "/status")).status, 200)
      }))

    it("streams a pack, and stops making one that its reader leaves", async () => {
      const { admin, send } = world
      const many = Array.from({ length: 200 }, (_, index) => ({
        client_ref: `long-${index}`,
        action: "pay",
        args: { text: "x".repeat(40_000) }
      }))
      assert.strictEqual((await send("POST", decisions(), { token: admin, json: { decisions: many } })).status, 201)
      const requested = { token: admin, json: { kind: "full", disclose: "all" } }
      const { id } = (await send("POST", "/api/v1/evidence/packs", requested)).json
      const path = `/api/v1/evidence/packs/${id}`
      const whole = await send("GET", path, { token: admin })
      assert.strictEqual(whole.status, 200, whole.text.slice(0, 200))
      assert.match(whole.headers.get("content-disposition")!, /^attachment; filename="/)
      assert.isAbove(whole.bytes.length, 8_000_000)
      const left = once(logged, "left")
      const leaving = new AbortController()
      const response = await fetch(world.url + path, {
        headers: { authorization: `Bearer ${admin}` },
        signal: leaving.signal
      })
      const reader = response.body!.getReader()
      await reader.read()
      leaving.abort()
      const [entry] = (await left) as [RequestLog]
      assert.strictEqual(entry.route, "/api/v1/evidence/packs/{pack_id}")
    })
  })
