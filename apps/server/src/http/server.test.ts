/** The server as a thing on a socket: ids, methods, limits, time, faults, going away. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Chain, layerOf, memoryStorage, Packs, Storage, storageChoice, StorageCorrupt, StorageUnavailable } from "@flyball/core"
import { Context, Deferred, Effect, Layer } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { inNetworks, readNetworks } from "../host/network.ts"
import { openWorld, type World } from "./http-world.ts"
import { makeServer, type ServerTimes } from "./server.ts"
import { rawConnection } from "./raw-client.ts"
import type { Services } from "./call.ts"
import type { RequestLog } from "./log.ts"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** Chunks of 64 KiB that the stream under test could make: many times what sockets hold. */
const SOURCE_CHUNKS = 2_000

const opened = async (...args: Parameters<typeof openWorld>): Promise<World> => {
  const world = await openWorld(...args)
  open.push(world.close)
  return world
}

/** A second server over the same governor, in which some services are others. */
const beside = async (world: World, change: (context: Context.Context<Services>) => Context.Context<Services>, times: Partial<ServerTimes> = {}) => {
  const log: Array<RequestLog> = []
  const logged: Array<() => void> = []
  const server = makeServer({
    context: change(world.context),
    verifier: world.issuer,
    version: "0.0.0-test",
    times,
    log: (entry) => {
      log.push(entry)
      logged.splice(0).forEach((wake) => wake())
    }
  })
  const { port, url } = await server.listen({ host: "127.0.0.1", port: 0 })
  open.push(server.close)
  const get = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${world.admin}` } })
  const nextLog = () => new Promise<void>((resolve) => logged.push(resolve))
  return { server, port, url, get, log, nextLog }
}

const withHead = (world: World, head: Effect.Effect<never, StorageUnavailable | StorageCorrupt>) =>
  beside(world, (context) => Context.add(context, Chain, { ...Context.get(context, Chain), head }))

describe("request ids", () => {
  it("are made for every response, and taken from the caller where sane", async () => {
    const { send } = await opened()
    const own = await send("GET", "/status", { headers: { "x-request-id": "trace-1:a/b" } })
    assert.strictEqual(own.headers.get("x-request-id"), "trace-1:a/b")
    for (const odd of ["a b", "ä".normalize("NFC"), "x".repeat(129), "<script>"]) {
      const got = await send("GET", "/status", { headers: { "x-request-id": odd } })
      assert.match(got.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/)
    }
    for (const path of ["/nothing", "/api/v1/me", "/healthz"]) assert.isNotEmpty((await send("GET", path)).headers.get("x-request-id"))
  })
})

describe("methods", () => {
  it("that a path does not take are 405 with Allow", async () => {
    const { admin, send } = await opened()
    const got = await send("DELETE", "/api/v1/agents", { token: admin })
    assert.deepStrictEqual([got.status, got.json.code, got.headers.get("allow")], [405, "method_not_allowed", "GET, HEAD, OPTIONS, POST"])
    assert.strictEqual((await send("POST", "/status")).headers.get("allow"), "GET, HEAD, OPTIONS")
    assert.strictEqual((await send("HEAD", "/api/v1/chain/erasures", { token: admin })).status, 405)
  })

  it("HEAD answers as GET does, without the body", async () => {
    const { admin, send } = await opened()
    const get = await send("GET", "/api/v1/agents", { token: admin })
    const head = await send("HEAD", "/api/v1/agents", { token: admin })
    assert.deepStrictEqual([head.status, head.text, head.headers.get("content-length")], [200, "", get.headers.get("content-length")])
    assert.strictEqual((await send("HEAD", "/api/v1/agents")).status, 401)
    assert.strictEqual((await send("HEAD", "/api/v1/agents/x", { token: admin })).text, "")
  })

  it("OPTIONS tells the methods of a path", async () => {
    const { send } = await opened()
    const got = await send("OPTIONS", "/api/v1/agents/x/decisions")
    assert.deepStrictEqual([got.status, got.headers.get("allow")], [204, "GET, HEAD, OPTIONS, POST"])
    assert.strictEqual((await send("OPTIONS", "/nothing")).status, 404)
  })
})

describe("bodies on the wire", () => {
  it("are refused by their announced length, unread; the connection goes on", async () => {
    const { key, port } = await opened()
    const head = (extra: string) => `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${extra}\r\n\r\n`
    const { socket, until } = await rawConnection(port, head("content-length: 2000000"))
    const first = await until((text) => text.includes("body_too_large"))
    assert.match(first, /^HTTP\/1\.1 413 /)
    socket.write(" ".repeat(2_000_000) + head("content-length: 2") + "{}")
    await until((text) => text.includes("HTTP/1.1 422"))
    socket.destroy()
  })

  it("are asked for only after the caller was admitted", async () => {
    const { key, port } = await opened()
    const head = (authorization: string) =>
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n`
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
    const { ended } = await rawConnection(port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}{"name":"hidden"}\r\n\r\n`)
    const text = await ended()
    // The request that came whole has its own answer first: a 400 for one that was done would be a lie.
    assert.match(text, /^HTTP\/1\.1 422 /)
    assert.include(text, "HTTP/1.1 400 Bad Request")
    assert.include(text, "\"code\":\"bad_request\"")
    assert.match(text.slice(text.indexOf("HTTP/1.1 400")), /x-request-id: [0-9a-f-]{36}/)
    assert.notInclude(text, "hidden")
  })

  it("that say their length in two ways are refused", async () => {
    const { key, port } = await opened()
    const { ended } = await rawConnection(port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`)
    assert.match(await ended(), /^HTTP\/1\.1 400 /)
  })

  it("that trickle end with 408", async () => {
    const { key, port } = await opened({ server: { times: { headersMs: 40, requestMs: 60, lookMs: 20 } } })
    const { ended } = await rawConnection(port, `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{`)
    assert.match(await ended(), /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
    const head = await rawConnection(port, "GET /status HTTP/1.1\r\nhost:")
    assert.match(await head.ended(), /^HTTP\/1\.1 408 /)
  })

  it("heads over 16 KiB are 431", async () => {
    const { port } = await opened()
    const { ended } = await rawConnection(port, `GET /status HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`)
    assert.match(await ended(), /^HTTP\/1\.1 431 [^]*"code":"headers_too_large"/)
  })

  it("without a host are 400 like every other problem", async () => {
    const { port } = await opened()
    const text = await (await rawConnection(port, "GET /status HTTP/1.1\r\n\r\n")).ended()
    assert.match(text, /^HTTP\/1\.1 400 /)
    assert.match(text, /x-request-id: [0-9a-f-]{36}/)
    assert.include(text, "\"code\":\"bad_request\"")
    assert.match(await (await rawConnection(port, "GET /status HTTP/1.0\r\n\r\n")).ended(), /^HTTP\/1\.1 200 /)
  })

  it("with two tokens are 401, whichever of them is good", async () => {
    const { key, port } = await opened()
    for (const [one, two] of [[key, "x"], ["x", key], [key, key]]) {
      const text = await (await rawConnection(port, `GET /api/v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${one}\r\nauthorization: Bearer ${two}\r\n\r\n`)).ended()
      assert.match(text, /^HTTP\/1\.1 401 /)
    }
  })

  it("what is no HTTP is 400, and an absolute target is its path", async () => {
    const { port } = await opened()
    assert.match(await (await rawConnection(port, "\0\r\n\r\n")).ended(), /^HTTP\/1\.1 400 /)
    const absolute = await rawConnection(port, "GET http://elsewhere.example/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert.match(await absolute.ended(), /^HTTP\/1\.1 200 /)
  })
})

describe("faults and defects", () => {
  it("a store that cannot be reached is 503, and the reason stays in the log", async () => {
    const { get, log } = await withHead(await opened(), Effect.fail(new StorageUnavailable({ reason: "db.internal:5432 refused", wrote: "no" })))
    const got = await get("/api/v1/chain/head")
    const body = await got.text()
    assert.deepStrictEqual([got.status, JSON.parse(body).code, got.headers.get("retry-after")], [503, "storage_unavailable", "1"])
    assert.notInclude(body, "db.internal")
    assert.include(log[0]!.problem, "db.internal")
  })

  it("a store that is corrupt is 503 too, with its own code", async () => {
    const { get } = await withHead(await opened(), Effect.fail(new StorageCorrupt({ reason: "row 7" })))
    const got = await get("/api/v1/chain/head")
    assert.deepStrictEqual([got.status, (await got.json()).code, got.headers.get("retry-after")], [503, "storage_corrupt", null])
  })

  it("a defect is 500 with the request's id and nothing else", async () => {
    const { get, log } = await withHead(await opened(), Effect.die(new Error("secret internals")))
    const got = await get("/api/v1/chain/head")
    const body = await got.json()
    const id = got.headers.get("x-request-id")!
    assert.deepStrictEqual([got.status, body], [500, { detail: `Something went wrong inside the server. The log names this request: ${id}.`, code: "internal_error" }])
    assert.include(log[0]!.problem, "secret internals")
    assert.strictEqual(log[0]!.requestId, id)
  })

  it("healthz is 503 when the store fails, and status does not ask it", async () => {
    const world = await opened()
    const { get } = await beside(world, (context) =>
      Context.add(context, Storage, { ...Context.get(context, Storage), head: Effect.fail(new StorageUnavailable({ reason: "gone", wrote: "no" })) }))
    assert.strictEqual((await get("/healthz")).status, 503)
    assert.strictEqual((await get("/status")).status, 200)
  })

  it("healthz is 503 while the store takes no writes, though it is read, and 200 once one was taken", async () => {
    let full = false
    const disk = storageChoice("memory", Layer.effect(Storage, Effect.map(Storage, (storage) => Storage.of({
      ...storage, commit: (change) => full ? Effect.fail(new StorageUnavailable({ reason: "the disk is full", wrote: "no" })) : storage.commit(change)
    }))).pipe(Layer.provide(layerOf(memoryStorage()))))
    const { key, send } = await opened({ storage: disk })
    const register = async (name: string): Promise<number> => (await send("POST", "/api/v1/agents", { token: key, json: { name } })).status
    full = true
    assert.deepStrictEqual([await register("a"), (await send("GET", "/api/v1/agents", { token: key })).status], [503, 200])
    const health = await send("GET", "/healthz")
    assert.deepStrictEqual([health.status, health.json.code, health.headers.get("retry-after")], [503, "not_writing", "5"])
    full = false
    assert.deepStrictEqual([await register("a"), (await send("GET", "/healthz")).status], [201, 200])
  })
})

describe("callers that go away", () => {
  it("interrupt what is done for them", async () => {
    const begun = Deferred.makeUnsafe<void>()
    const interrupted = Deferred.makeUnsafe<void>()
    const never = Effect.never.pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
    const world = await opened()
    const { log, nextLog, port } = await withHead(world, Effect.andThen(Deferred.succeed(begun, undefined), never))
    const { socket } = await rawConnection(port, `GET /api/v1/chain/head HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`)
    await Effect.runPromise(Deferred.await(begun))
    const logged = nextLog()
    socket.destroy()
    await Effect.runPromise(Deferred.await(interrupted))
    await logged
    assert.deepStrictEqual([log[0]!.status, log[0]!.problem], [0, null])
  })

  it("in the middle of a body leave nothing behind", async () => {
    const world = await opened()
    const { log, nextLog, port } = await beside(world, (context) => context)
    const before = await world.size()
    const { socket } = await rawConnection(port, `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"name":`)
    const logged = nextLog()
    socket.end()
    await logged
    assert.strictEqual(log[0]!.status, 0)
    assert.strictEqual(await world.size(), before)
  })
})

describe("streams", () => {
  const streaming = (world: World, chunks: (made: { count: number; closed: boolean }) => AsyncIterable<Uint8Array>) => {
    const made = { count: 0, closed: false }
    return Effect.runPromise(Effect.promise(async () => ({
      made,
      ...await beside(world, (context) => {
        const packs = Context.get(context, Packs)
        return Context.add(context, Packs, { ...packs, build: () => Effect.succeed(chunks(made)) })
      })
    })))
  }
  const packOf = async (world: World): Promise<string> =>
    `/api/v1/evidence/packs/${(await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })).json.id}`

  it("wait for a slow reader, and stop when it leaves", async () => {
    const world = await opened()
    const { log, made, nextLog, port } = await streaming(world, async function*(made) {
      try {
        // It ends, so that a server that does not wait fails this test instead of filling the machine's memory.
        while (made.count < SOURCE_CHUNKS) {
          made.count++
          yield new Uint8Array(65_536)
        }
      } finally {
        made.closed = true
      }
    })
    const { socket, until } = await rawConnection(port, `GET ${await packOf(world)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`)
    await until((text) => text.length > 200_000)
    socket.pause()
    const logged = nextLog()
    socket.destroy()
    await logged
    assert.strictEqual(log[0]!.status, 0)
    assert.isTrue(made.closed)
    assert.isBelow(made.count, SOURCE_CHUNKS / 2)
  })

  it("cut a reader that takes nothing any more", async () => {
    const world = await opened()
    const closed = Deferred.makeUnsafe<void>()
    const chunks = async function*() {
      try {
        for (let count = 0; count < SOURCE_CHUNKS; count++) yield new Uint8Array(65_536)
      } finally {
        await Effect.runPromise(Deferred.succeed(closed, undefined))
      }
    }
    const { port } = await beside(world, (context) => Context.add(context, Packs, { ...Context.get(context, Packs), build: () => Effect.succeed(chunks()) }), { stallMs: 20 })
    const { socket, until } = await rawConnection(port, `GET ${await packOf(world)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`)
    await until((text) => text.length > 100_000)
    socket.pause()
    await Effect.runPromise(Deferred.await(closed))
    socket.destroy()
  })

  it("are looked at by HEAD without a trace, and a person has a pseudonym only once a pack was read", async () => {
    const world = await opened()
    const path = await packOf(world)
    const visitor = await world.token("auditor", "*", "new here")
    const before = await world.size()
    assert.strictEqual((await world.send("HEAD", path, { token: visitor })).status, 200)
    assert.strictEqual(await world.size(), before)
    await world.send("GET", path, { token: visitor })
    assert.strictEqual(await world.size(), before + 2, "principal.seen and evidence.exported")
    await world.send("GET", path, { token: await world.token("auditor", "*", "second") })
    assert.strictEqual(await world.size(), before + 2, "reading again leaves no record")
  })

  it("that fail before the first byte are a proper answer, later they are cut", async () => {
    const world = await opened()
    const early = await streaming(world, async function*() {
      throw new StorageUnavailable({ reason: "gone", wrote: "no" })
    })
    assert.strictEqual((await early.get(await packOf(world))).status, 503)
    const seen = Deferred.makeUnsafe<void>()
    const late = await streaming(world, async function*() {
      yield new Uint8Array(10)
      await Effect.runPromise(Deferred.await(seen))
      throw new StorageUnavailable({ reason: "gone", wrote: "no" })
    })
    const got = await late.get(await packOf(world))
    assert.strictEqual(got.status, 200)
    await Effect.runPromise(Deferred.succeed(seen, undefined))
    let failed = false
    await got.arrayBuffer().catch(() => (failed = true))
    assert.isTrue(failed)
    assert.strictEqual(late.log[0]!.status, 0)
    assert.include(late.log[0]!.problem, "gone")
  })

  it("a pack has a name to be saved under", async () => {
    const world = await opened()
    const path = await packOf(world)
    const got = await world.send("GET", path, { token: world.admin })
    assert.strictEqual(got.headers.get("content-type"), "application/vnd.flyball.evidence-pack")
    assert.strictEqual(got.headers.get("content-disposition"), `attachment; filename="${path.split("/").at(-1)}.evp"`)
    assert.strictEqual((await world.send("HEAD", path, { token: world.admin })).text, "")
  })

  it("records come one a line where that is asked for", async () => {
    const { admin, send } = await opened()
    const lines = await send("GET", "/api/v1/chain/records?limit=3", { token: admin, headers: { accept: "application/x-ndjson" } })
    const array = await send("GET", "/api/v1/chain/records?limit=3", { token: admin })
    assert.strictEqual(lines.headers.get("content-type"), "application/x-ndjson")
    assert.deepStrictEqual(lines.text.trimEnd().split("\n").map((line) => JSON.parse(line)), array.json)
    const one = await send("GET", "/api/v1/chain/records/1", { token: admin })
    assert.strictEqual(`${one.text}\n`, `${lines.text.split("\n")[1]}\n`)
  })
})

describe("a broken request behind a good one", () => {
  it("does not write into the answer under way", async () => {
    const world = await opened()
    const seen = Deferred.makeUnsafe<void>()
    const { port } = await beside(world, (context) => {
      const packs = Context.get(context, Packs)
      const chunks = async function*() {
        yield Buffer.from("first")
        await Effect.runPromise(Deferred.await(seen))
        yield Buffer.from("last")
      }
      return Context.add(context, Packs, { ...packs, build: () => Effect.succeed(chunks()) })
    })
    const pack = await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })
    const { ended, socket, until } = await rawConnection(port, `GET /api/v1/evidence/packs/${pack.json.id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`)
    await until((text) => text.includes("first"))
    socket.write("\0garbage\r\n\r\n")
    assert.notInclude(await ended(), "400 Bad Request")
    await Effect.runPromise(Deferred.succeed(seen, undefined))
  })
})

describe("going away", () => {
  it("healthz says so first, everything else is still answered", async () => {
    const { admin, send, server } = await opened()
    server.drain()
    const health = await send("GET", "/healthz")
    assert.deepStrictEqual([health.status, health.json.code], [503, "draining"])
    assert.strictEqual((await send("GET", "/api/v1/agents", { token: admin })).status, 200)
    assert.strictEqual((await send("GET", "/status")).headers.get("connection"), "close")
  })

  it("takes new connections until it closes, and ends those that were open before with their next answer", async () => {
    const { port, server } = await opened()
    const request = "GET /status HTTP/1.1\r\nhost: x\r\n\r\n"
    const before = await rawConnection(port, request)
    assert.match(await before.until((text) => text.includes("live")), /connection: keep-alive/i)
    server.drain()
    before.socket.write(request)
    const [answers, late] = [await before.ended(), await (await rawConnection(port, request)).ended()]
    assert.strictEqual(answers.match(/200 OK/g)?.length, 2)
    assert.match(answers.slice(answers.lastIndexOf("HTTP/1.1")), /connection: close/i)
    assert.match(late, /200 OK[^]*connection: close/i)
  })

  it("finishes what is under way, then refuses connections", async () => {
    const world = await opened()
    const begun = Deferred.makeUnsafe<void>()
    const go = Deferred.makeUnsafe<void>()
    const head = Effect.andThen(Deferred.succeed(begun, undefined), Effect.andThen(Deferred.await(go), Effect.fail(new StorageUnavailable({ reason: "late", wrote: "no" }))))
    const { get, server, url } = await withHead(world, head)
    const answer = get("/api/v1/chain/head")
    await Effect.runPromise(Deferred.await(begun))
    const closed = server.close()
    await Effect.runPromise(Deferred.succeed(go, undefined))
    assert.strictEqual((await answer).status, 503)
    await closed
    assert.strictEqual(await fetch(`${url}/status`).then(() => "answered", () => "refused"), "refused")
    await server.close()
  })

  it("cuts what does not end in time", async () => {
    const world = await opened()
    const server = makeServer({
      context: Context.add(world.context, Chain, { ...Context.get(world.context, Chain), head: Effect.never }),
      verifier: world.issuer, version: "x", times: { closeMs: 20 }
    })
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 })
    const { ended, socket } = await rawConnection(port, `GET /api/v1/chain/head HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`)
    await fetch(`http://127.0.0.1:${port}/status`)
    await Promise.all([server.close(), ended()])
    socket.destroy()
  })

  it("a port that is taken is an error of listen", async () => {
    const { context, port } = await opened()
    const second = makeServer({ context, verifier: null, version: "x" })
    assert.strictEqual(await second.listen({ host: "127.0.0.1", port }).catch((error: NodeJS.ErrnoException) => error.code), "EADDRINUSE")
  })
})

describe("the log", () => {
  it("names route, status and caller, and holds no token, path, query or body", async () => {
    const { admin, key, keyId, log, otherKey, revokedKey, send } = await opened()
    log.length = 0
    await send("POST", "/api/v1/agents?password=hunter2", { token: key, json: { name: "private name", zzz: "hunter2" } })
    await send("GET", "/api/v1/agents/hunter2?q=hunter2", { token: admin })
    await send("GET", "/hunter2", { token: otherKey })
    await send("GET", "/api/v1/me", { token: revokedKey })
    assert.deepStrictEqual(log.map(({ caller, method, route, status }) => [method, route, status, caller]), [
      ["POST", "/api/v1/agents", 422, keyId], ["GET", "/api/v1/agents/{agent_id}", 404, "user"], ["GET", null, 404, null], ["GET", "/api/v1/me", 401, null]
    ])
    const text = JSON.stringify(log)
    for (const secret of [admin, key, otherKey, revokedKey, "hunter2", "private name"]) assert.notInclude(text, secret)
  })

  it("names the client past proxies that are trusted, and the socket's other end otherwise", async () => {
    const world = await opened({ server: { trustedProxy: inNetworks(readNetworks("127.0.0.1, 10.0.0.0/8")!) } })
    const clients = async ({ log, send }: World): Promise<ReadonlyArray<string | null>> => {
      log.length = 0
      for (const headers of [{}, { "x-forwarded-for": "203.0.113.9, 192.0.2.1, 10.0.0.2" }, { forwarded: "for=\"[2001:db8::7]:80\"" }, { "x-forwarded-for": "no address" }]) await send("GET", "/status", { headers })
      return log.map(({ client }) => client)
    }
    assert.deepStrictEqual(await clients(world), ["127.0.0.1", "192.0.2.1", "2001:db8::7", "127.0.0.1"])
    assert.deepStrictEqual(await clients(await opened()), ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"])
  })

  it("responses are not to be cached or guessed at", async () => {
    const { send } = await opened()
    for (const path of ["/status", "/nothing"]) {
      const { headers } = await send("GET", path)
      assert.deepStrictEqual([headers.get("cache-control"), headers.get("x-content-type-options")], ["no-store", "nosniff"])
    }
  })
})
