/** Tests of the bytes on the wire: lengths, slowness, heads, hosts, and input that is no HTTP. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Packs } from "@flyball/core"
import { Context, Deferred, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { givenServers } from "./testing/given-servers.ts"
import { rawConnection } from "./testing/raw-client.ts"

const { beside, opened } = givenServers()

describe("bodies on the wire", () => {
  it("are refused by their announced length, unread; the connection continues", async () => {
    const { key, port } = await opened()
    const head = (extra: string) =>
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ` +
      `application/json\r\n${extra}\r\n\r\n`
    const { socket, until } = await rawConnection(port, head("content-length: 2000000"))
    const first = await until((text) => text.includes("body_too_large"))
    assert.match(first, /^HTTP\/1\.1 413 /)
    socket.write(" ".repeat(2_000_000) + head("content-length: 2") + "{}")
    await until((text) => text.includes("HTTP/1.1 422"))
    socket.destroy()
  })

  it("are requested only after the caller was admitted", async () => {
    const { key, port } = await opened()
    const head = (authorization: string) =>
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: ` +
      `application/json\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n`
    const stranger = await rawConnection(port, head("Bearer x"))
    assert.match(await stranger.until((text) => text.includes("unauthorized")), /^HTTP\/1\.1 401 /)
    stranger.socket.destroy()
    const known = await rawConnection(port, head(`Bearer ${key}`))
    assert.match(await known.until((text) => text.includes("100")), /^HTTP\/1\.1 100 Continue/)
    known.socket.write("{}")
    assert.include(await known.until((text) => text.includes("missing")), "HTTP/1.1 422")
    known.socket.destroy()
  })

  it("longer than announced are a broken request, whatever came before", async () => {
    const { key, port } = await opened()
    const { ended } = await rawConnection(
      port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ` +
        `application/json\r\ncontent-length: 2\r\n\r\n{}{"name":"hidden"}\r\n\r\n`
    )
    const text = await ended()
    // The request that came whole has its own answer first: a 400 for one that was done would be a lie.
    assert.match(text, /^HTTP\/1\.1 422 /)
    assert.include(text, "HTTP/1.1 400 Bad Request")
    assert.include(text, '"code":"bad_request"')
    assert.match(text.slice(text.indexOf("HTTP/1.1 400")), /x-request-id: [0-9a-f-]{36}/)
    assert.notInclude(text, "hidden")
  })

  it("that say their length in two ways are refused", async () => {
    const { key, port } = await opened()
    const { ended } = await rawConnection(
      port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ` +
        `application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
    )
    assert.match(await ended(), /^HTTP\/1\.1 400 /)
  })

  it("that trickle end with 408", async () => {
    const { key, port } = await opened({ server: { times: { headersMs: 40, requestMs: 60, checkMs: 20 } } })
    const { ended } = await rawConnection(
      port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: ` +
        `application/json\r\ncontent-length: 20\r\n\r\n{`
    )
    assert.match(await ended(), /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
    const head = await rawConnection(port, "GET /status HTTP/1.1\r\nhost:")
    assert.match(await head.ended(), /^HTTP\/1\.1 408 /)
  })

  it("heads over 16 KiB are 431", async () => {
    const { port } = await opened()
    const { ended } = await rawConnection(
      port,
      `GET /status HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`
    )
    assert.match(await ended(), /^HTTP\/1\.1 431 [^]*"code":"headers_too_large"/)
  })

  it("without a host are 400 like every other problem", async () => {
    const { port } = await opened()
    const text = await (await rawConnection(port, "GET /status HTTP/1.1\r\n\r\n")).ended()
    assert.match(text, /^HTTP\/1\.1 400 /)
    assert.match(text, /x-request-id: [0-9a-f-]{36}/)
    assert.include(text, '"code":"bad_request"')
    assert.match(await (await rawConnection(port, "GET /status HTTP/1.0\r\n\r\n")).ended(), /^HTTP\/1\.1 200 /)
  })

  it("take one byte order mark before a body, as every reader of JSON does", async () => {
    const { admin, send } = await opened()
    const body = `\ufeff${JSON.stringify({ name: "marked", org_unit: "ops" })}`
    const headers = { "content-type": "application/json" }
    assert.strictEqual((await send("POST", "/api/v1/agents", { token: admin, body, headers })).status, 201)
  })

  it("with two tokens are 401, whichever of them is good", async () => {
    const { key, port } = await opened()
    for (const [one, two] of [
      [key, "x"],
      ["x", key],
      [key, key]
    ]) {
      const text = await (
        await rawConnection(
          port,
          `GET /api/v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ` +
            `${one}\r\nauthorization: Bearer ${two}\r\n\r\n`
        )
      ).ended()
      assert.match(text, /^HTTP\/1\.1 401 /)
    }
  })

  it("what is no HTTP is 400, and an absolute target is its path", async () => {
    const { port } = await opened()
    assert.match(await (await rawConnection(port, "\0\r\n\r\n")).ended(), /^HTTP\/1\.1 400 /)
    const absolute = await rawConnection(
      port,
      "GET http://elsewhere.example/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    assert.match(await absolute.ended(), /^HTTP\/1\.1 200 /)
  })
})

describe("a broken request behind a good one", () => {
  it("does not write into the answer under way", async () => {
    const world = await opened()
    const seen = Deferred.makeUnsafe<void>()
    const { port } = await beside(world, (context) => {
      const packs = Context.get(context, Packs)
      const chunks = async function* () {
        yield Buffer.from("first")
        await Effect.runPromise(Deferred.await(seen))
        yield Buffer.from("last")
      }
      return Context.add(context, Packs, { ...packs, build: () => Effect.succeed(chunks()) })
    })
    const pack = await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })
    const { ended, socket, until } = await rawConnection(
      port,
      `GET /api/v1/evidence/packs/${pack.json.id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
    )
    await until((text) => text.includes("first"))
    socket.write("\0garbage\r\n\r\n")
    assert.notInclude(await ended(), "400 Bad Request")
    await Effect.runPromise(Deferred.succeed(seen, undefined))
  })
})
