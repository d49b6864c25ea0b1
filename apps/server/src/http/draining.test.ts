/** A server that drains ends every connection with its next answer, also where the request came before. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Chain, Packs, StorageUnavailable } from "@flyball/core"
import { utf8 } from "@flyball/evidence"
import { Context, Deferred, Effect } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { givenServers } from "./testing/given-servers.ts"

const { beside, opened } = givenServers()

/**
 * A client that keeps its own half of the connection open whatever the server does, as some do; everything received,
 * and that the server has ended it.
 */
const stubborn = async (port: number, text: string) => {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
  let received = ""
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
  socket.on("error", () => undefined)
  await once(socket, "connect")
  const ended = once(socket, "end").then(() => received)
  socket.write(text)
  return { socket, ended }
}

/** A second server whose chain answers after `go`. */
const slow = async (answer: Effect.Effect<never, StorageUnavailable>) => {
  const world = await opened()
  const [begun, go] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  const head = Effect.andThen(Deferred.succeed(begun, undefined), Effect.andThen(Deferred.await(go), answer))
  // Far beyond what the test takes: only an answer that ends its connection lets `close` come to its end in time.
  const { port, server } = await beside(
    world,
    (context) => Context.add(context, Chain, { ...Context.get(context, Chain), head }),
    { closeMs: 3_600_000 }
  )
  const client = await stubborn(
    port,
    `GET /api/v1/chain/head HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
  )
  await Effect.runPromise(Deferred.await(begun))
  return { client, server, go: () => Effect.runPromise(Deferred.succeed(go, undefined)) }
}
const unavailable = Effect.fail(new StorageUnavailable({ reason: "late", wrote: "no" }))

describe("a request that began before the server drained", () => {
  it("is answered with the word that its connection ends, and it ends", async () => {
    const { client, go, server } = await slow(unavailable)
    server.drain()
    await go()
    assert.match(await client.ended, /^HTTP\/1.1 503[^]*\r\nconnection: close\r\n/i)
    await server.close()
    client.socket.destroy()
  })

  it("does not hold up the exit, though its client never hangs up", async () => {
    const { client, go, server } = await slow(unavailable)
    const closed = server.close()
    await go()
    await closed
    assert.match(await client.ended, /connection: close/i)
    client.socket.destroy()
  })

  it("ends its connection too where its answer was half written, and its client never hangs up", async () => {
    const world = await opened()
    const [begun, go] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    const chunks = async function* () {
      yield utf8("first ")
      await Effect.runPromise(Deferred.await(go))
      yield utf8("last")
    }
    const { port, server } = await beside(
      world,
      (context) => Context.add(context, Packs, { ...Context.get(context, Packs), build: () => Effect.sync(chunks) }),
      { closeMs: 3_600_000 }
    )
    const client = await stubborn(
      port,
      `GET /api/v1/evidence/packs/pck_${"0".repeat(26)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ` +
        `${world.admin}\r\n\r\n`
    )
    client.socket.on("data", (chunk: Buffer) =>
      chunk.includes("first ") ? Effect.runSync(Deferred.succeed(begun, undefined)) : undefined
    )
    await Effect.runPromise(Deferred.await(begun))
    const closed = server.close()
    await Effect.runPromise(Deferred.succeed(go, undefined))
    await closed
    assert.match(await client.ended, /connection: keep-alive[^]*first [^]*last[^]*\r\n0\r\n\r\n$/i)
    client.socket.destroy()
  })

  it("is waited for; a connection that a client opened in advance is not", async () => {
    const world = await opened()
    const { port, server } = await beside(world, (context) => context, { closeMs: 3_600_000 })
    const sockets = [connect({ host: "127.0.0.1", port }), connect({ host: "127.0.0.1", port })]
    for (const socket of sockets) {
      socket.on("error", () => undefined)
      await once(socket, "connect")
    }
    // The server has accepted both by the time that it answers on a later one.
    await stubborn(port, "GET /status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").then(({ ended }) => ended)
    const closed = sockets.map((socket) => once(socket, "close"))
    await server.close()
    await Promise.all(closed)
  })

  it("is no other than one that came after, where nothing drains", async () => {
    const { client, go } = await slow(unavailable)
    const answered = once(client.socket, "data")
    await go()
    assert.match(String((await answered)[0]), /connection: keep-alive/i)
    client.socket.destroy()
  })
})
