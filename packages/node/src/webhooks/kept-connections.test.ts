import { once } from "node:events"
import * as http from "node:http"
import { createServer, type Socket } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { closeAll, sending } from "../testing/sending.ts"
import { pinnedAgents, pinTo } from "./pinned-agents.ts"

const { loopback, opened, receiver, request, sender, tcp } = sending("")
afterEach(closeAll(opened))

const PIN = pinTo(["127.0.0.1"])

/** Asks, reads the answer, and tells over which connection, once it is free again. */
const asking = (port: number) => {
  const agents = pinnedAgents(undefined)
  opened.push(agents.close)
  return async (): Promise<Socket> => {
    const sent = http.get({ host: "a.example", port, agent: agents.http, lookup: PIN.lookup })
    const [answer] = (await once(sent, "response")) as [http.IncomingMessage]
    const socket = answer.socket
    await once(answer.resume(), "end")
    await new Promise((resolve) => setImmediate(resolve))
    return socket
  }
}

/** A receiver that answers each request in the same way, and hands out its side of the connections. */
const answering = async (text = "HTTP/1.1 204 No Content\r\n\r\n") => {
  const sides: Array<Socket> = []
  const port = await tcp(
    createServer((socket) => {
      sides.push(socket)
      opened.push(() => socket.destroy())
      socket.on("error", () => undefined).on("data", () => socket.write(text))
    })
  )
  return { port, sides }
}

describe("a connection that waits for its next request", () => {
  test("is the one that was used last", async () => {
    const { port } = await answering()
    const ask = asking(port)
    const [first, second] = await Promise.all([ask(), ask()])
    expect(first).not.toBe(second)
    const third = await ask()
    expect([first, second]).toContain(third)
    expect(await ask()).toBe(third)
  })

  test("is closed when unsolicited bytes arrive: they would pass for the next answer", async () => {
    const { port, sides } = await answering()
    const ask = asking(port)
    const first = await ask()
    const read = first.bytesRead
    sides[0]!.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    while (first.bytesRead === read) await new Promise((resolve) => setImmediate(resolve))
    expect(first.destroyed).toBe(true)
    expect(await ask()).not.toBe(first)
  })

  test("is closed when more than the answer came with it", async () => {
    const { port } = await answering("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    const ask = asking(port)
    expect(await ask()).not.toBe(await ask())
  })

  test("is closed when no byte came for a second, and not while a request uses it", async () => {
    const { port } = await answering()
    const ask = asking(port)
    const first = await ask()
    expect(first.timeout).toBe(1_000)
    first.emit("timeout")
    expect(first.destroyed).toBe(true)
    const there = await receiver(() => undefined)
    const agents = pinnedAgents(undefined)
    opened.push(agents.close)
    const [busy] = (await once(
      http
        .get({ host: "a.example", port: there.port, agent: agents.http, lookup: PIN.lookup })
        .on("error", () => undefined),
      "socket"
    )) as [Socket]
    await once(busy, "connect")
    busy.emit("timeout")
    expect(busy.destroyed).toBe(false)
  })

  test("is checked again: one whose other end is not an address that was vetted is closed, and not used", async () => {
    const { port } = await answering()
    const ask = asking(port)
    const first = await ask()
    Object.defineProperty(first, "remoteAddress", { value: "127.0.0.9" })
    const second = await ask()
    expect([second === first, first.destroyed, second.destroyed]).toEqual([false, true, false])
  })

  test("does not end the process when it breaks", async () => {
    const { port } = await answering()
    const ask = asking(port)
    const first = await ask()
    const closed = new Promise((resolve) => first.once("close", resolve))
    first.destroy(new Error("reset"))
    await closed
    expect(await ask()).not.toBe(first)
  })

  test("is one of sixteen at most", async () => {
    const { port } = await answering()
    const ask = asking(port)
    const sockets = await Promise.all(Array.from({ length: 20 }, ask))
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBe(16)
  })

  test.each([
    ["timeout=0", 2],
    ["timeout=1, max=5", 2],
    ["timeout=2", 1],
    ["timeout=15", 1],
    ["max=5", 1]
  ])("is kept as long as the receiver says: %s", async (keepAlive, connections) => {
    const there = await receiver((_, response) => response.setHeader("keep-alive", keepAlive).end())
    const mine = sender(loopback)
    for (let count = 0; count < 2; count++) await mine.send(request(`http://127.0.0.1:${there.port}/`))
    expect(there.connections()).toBe(connections)
  })
})
