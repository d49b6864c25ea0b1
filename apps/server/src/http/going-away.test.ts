/** Callers that go away before their answer, and a server that goes away with answers under way. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Chain, StorageUnavailable } from "@flyball/core"
import { Context, Deferred, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { makeServer } from "./server.ts"
import { givenServers } from "./testing/given-servers.ts"
import { rawConnection } from "./testing/raw-client.ts"

const { beside, opened, withHead } = givenServers()

describe("callers that go away", () => {
  it("interrupt what is done for them", async () => {
    const begun = Deferred.makeUnsafe<void>()
    const interrupted = Deferred.makeUnsafe<void>()
    const never = Effect.never.pipe(Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)))
    const world = await opened()
    const { log, nextLog, port } = await withHead(world, Effect.andThen(Deferred.succeed(begun, undefined), never))
    const { socket } = await rawConnection(
      port,
      `GET /api/v1/chain/head HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
    )
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
    const { socket } = await rawConnection(
      port,
      `POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.key}\r\ncontent-type: ` +
        `application/json\r\ncontent-length: 100\r\n\r\n{"name":`
    )
    const logged = nextLog()
    socket.end()
    await logged
    assert.strictEqual(log[0]!.status, 0)
    assert.strictEqual(await world.size(), before)
  })
})

describe("going away", () => {
  it("healthz reports it first, everything else is still answered", async () => {
    const { admin, log, send, server } = await opened()
    server.drain()
    const health = await send("GET", "/healthz")
    assert.deepStrictEqual([health.status, health.json.code], [503, "draining"])
    assert.deepStrictEqual(
      log.filter(({ route }) => route === "/healthz").map(({ problem, status }) => [status, problem]),
      [[503, null]],
      "nothing to investigate"
    )
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
    const head = Effect.andThen(
      Deferred.succeed(begun, undefined),
      Effect.andThen(Deferred.await(go), Effect.fail(new StorageUnavailable({ reason: "late", wrote: "no" })))
    )
    const { get, server, url } = await withHead(world, head)
    const answer = get("/api/v1/chain/head")
    await Effect.runPromise(Deferred.await(begun))
    const closed = server.close()
    await Effect.runPromise(Deferred.succeed(go, undefined))
    assert.strictEqual((await answer).status, 503)
    await closed
    assert.strictEqual(
      await fetch(`${url}/status`).then(
        () => "answered",
        () => "refused"
      ),
      "refused"
    )
    await server.close()
  })

  it("cuts what does not end in time", async () => {
    const world = await opened()
    const server = makeServer({
      context: Context.add(world.context, Chain, { ...Context.get(world.context, Chain), head: Effect.never }),
      verifier: world.issuer,
      version: "x",
      times: { closeMs: 20 }
    })
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 })
    const { ended, socket } = await rawConnection(
      port,
      `GET /api/v1/chain/head HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
    )
    await fetch(`http://127.0.0.1:${port}/status`)
    await Promise.all([server.close(), ended()])
    socket.destroy()
  })

  it("a port that is taken is an error of listen", async () => {
    const { context, port } = await opened()
    const second = makeServer({ context, verifier: null, version: "x" })
    assert.strictEqual(
      await second.listen({ host: "127.0.0.1", port }).catch((error: NodeJS.ErrnoException) => error.code),
      "EADDRINUSE"
    )
  })
})
