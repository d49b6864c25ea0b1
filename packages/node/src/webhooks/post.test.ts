import { createServer } from "node:net"
import type { Attempted } from "@flyball/core"
import { afterEach, describe, expect, test, vi } from "vitest"
import { testAuthority } from "../testing/certificate.ts"
import { answering, closeAll, sending, short } from "../testing/sending.ts"

const { loopback, opened, receiver, request, sender, tcp } = sending('{"id":"evt_1"}')
const close = closeAll(opened)
afterEach(() => {
  // The spy first: restored later, it would put the faked timer back, for every file that shares the process.
  vi.restoreAllMocks()
  vi.useRealTimers()
  return close()
})

describe("limits", () => {
  const faked = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
  const hanging = async (first: string | null) => {
    let reached!: () => void
    const there = new Promise<void>((resolve) => {
      reached = resolve
    })
    const port = await tcp(
      createServer((socket) => {
        opened.push(() => socket.destroy())
        socket
          .on("error", () => undefined)
          .once("data", () => (first === null ? reached() : socket.write(first, reached)))
      })
    )
    return { port, there }
  }
  const state = async (answer: Promise<Attempted>) =>
    Promise.race([answer.then(short), new Promise((resolve) => setImmediate(() => resolve("open")))])

  test.each([
    ["nothing", null],
    ["half a header", "HTTP/1.1 200 OK\r\nx: "],
    ["a 1xx that promises more", "HTTP/1.1 103 Early Hints\r\n\r\n"]
  ])("five seconds for everything before the body: %s comes", async (_, first) => {
    const { port, there } = await hanging(first)
    faked()
    const answer = sender(loopback).send(request(`http://127.0.0.1:${port}/`))
    await there
    vi.advanceTimersByTime(4_999)
    expect(await state(answer)).toBe("open")
    vi.advanceTimersByTime(1)
    expect(short(await answer)).toEqual(["timeout", null])
  })

  test("five seconds for a name that nobody answers for", async () => {
    faked()
    const answer = sender({ ...loopback, resolve: () => new Promise(() => undefined) }).send(
      request("http://hooks.example/")
    )
    vi.advanceTimersByTime(4_999)
    expect(await state(answer)).toBe("open")
    vi.advanceTimersByTime(1)
    expect(short(await answer)).toEqual(["timeout", null])
  })

  test("the time that the name took is not given to the connection again", async () => {
    const { port, there } = await hanging(null)
    faked()
    const answer = sender({
      ...loopback,
      resolve: () => (vi.advanceTimersByTime(4_000), Promise.resolve(["127.0.0.1"]))
    }).send(request(`http://hooks.example:${port}/`))
    await there
    vi.advanceTimersByTime(999)
    expect(await state(answer)).toBe("open")
    vi.advanceTimersByTime(1)
    expect(short(await answer)).toEqual(["timeout", null])
  })

  test("one second for the body: a status that came has decided", async () => {
    const { port, there } = await hanging("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart")
    faked()
    const timers = vi.spyOn(globalThis, "setTimeout")
    const answer = sender(loopback).send(request(`http://127.0.0.1:${port}/`))
    await there
    // The second begins when the headers were read.
    for (let turn = 0; !timers.mock.calls.some(([, ms]) => ms === 1_000); turn++) {
      expect(turn, "no timer of a second").toBeLessThan(1_000_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    vi.advanceTimersByTime(999)
    expect(await state(answer)).toBe("open")
    vi.advanceTimersByTime(1)
    expect(await answer).toMatchObject({ errorCode: null, statusCode: 200, responseExcerpt: "part" })
  })

  test("64 KiB of a body that never ends", async () => {
    let written = 0
    let gone!: () => void
    const ended = new Promise<void>((resolve) => {
      gone = resolve
    })
    const port = await tcp(
      createServer((socket) => {
        const chunk = Buffer.alloc(16_384, "x")
        const pour = (): void => {
          while (!socket.destroyed && (written += chunk.length) && socket.write(chunk));
        }
        socket
          .on("error", () => undefined)
          .on("close", gone)
          .once("data", () => (socket.write("HTTP/1.1 500 Oh\r\n\r\n"), pour()))
          .on("drain", pour)
      })
    )
    const answer = await sender(loopback).send(request(`http://127.0.0.1:${port}/`))
    expect([short(answer), answer.responseExcerpt.length]).toEqual([["http_status", 500], 4_096])
    // The rest is not read: the connection is given up.
    await ended
  })

  test("16 KiB of headers", async () => {
    const port = await tcp(
      createServer((socket) =>
        socket
          .on("error", () => undefined)
          .once("data", () => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`))
      )
    )
    expect(short(await sender(loopback).send(request(`http://127.0.0.1:${port}/`)))).toEqual(["body_too_large", null])
  })

  test("16 informational responses before the answer: a receiver that sends 1xx for ever is cut", async () => {
    let written = 0
    let gone!: () => void
    const ended = new Promise<void>((resolve) => {
      gone = resolve
    })
    const port = await tcp(
      createServer((socket) => {
        const one = Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")
        const pour = (): void => {
          while (!socket.destroyed && (written += one.length) && socket.write(one));
        }
        socket
          .on("error", () => undefined)
          .on("close", gone)
          .once("data", pour)
          .on("drain", pour)
      })
    )
    // Nothing but the count ends it: the five seconds stand still.
    faked()
    expect(short(await sender(loopback).send(request(`http://127.0.0.1:${port}/`)))).toEqual(["body_too_large", null])
    await ended
  })

  test.each([
    [16, [null, 200]],
    [17, ["body_too_large", null]]
  ])("%i informational responses, 100 and 102 among them, then 200: %j", async (count, expected) => {
    const port = await tcp(
      createServer((socket) =>
        socket
          .on("error", () => undefined)
          .once("data", () => {
            const before = Array.from(
              { length: count },
              (_, index) => `HTTP/1.1 ${[100, 102, 103][index % 3]} Soon\r\n\r\n`
            )
            socket.end(`${before.join("")}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`)
          })
      )
    )
    expect(short(await sender(loopback).send(request(`http://127.0.0.1:${port}/`)))).toEqual(expected)
  })

  test.each([
    ["no HTTP", "SSH-2.0-x\r\n\r\n"],
    ["an end", ""],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"]
  ])("%s is no answer", async (_, text) => {
    const port = await tcp(
      createServer((socket) => socket.on("error", () => undefined).once("data", () => socket.end(text)))
    )
    expect(short(await sender(loopback).send(request(`http://127.0.0.1:${port}/`)))).toEqual(["connect", null])
  })

  test("aborting ends the connection", async () => {
    let end!: () => void
    const gone = new Promise<void>((resolve) => {
      end = resolve
    })
    const begun = new AbortController()
    const port = await tcp(
      createServer((socket) =>
        socket
          .on("error", () => undefined)
          .on("close", end)
          .once("data", () => begun.abort())
      )
    )
    await expect(sender(loopback).send(request(`http://127.0.0.1:${port}/`), begun.signal)).rejects.toThrow()
    await gone
  })
})

describe("TLS", () => {
  const authority = testAuthority()
  const trusting = { ca: authority.ca, egressAllow: ["127.0.0.0/8"], resolve: answering("127.0.0.1"), allowHttp: false }

  test("speaks to the name: SNI, certificate and Host, though the connection goes to an address", async () => {
    const there = await receiver((_, response) => response.end("ok"), {
      tls: authority.issue(["hooks.example", "127.0.0.1"])
    })
    const mine = sender(trusting)
    for (let count = 0; count < 3; count++)
      expect(short(await mine.send(request(`https://hooks.example:${there.port}/`)))).toEqual([null, 200])
    expect(short(await mine.send(request(`https://127.0.0.1:${there.port}/`)))).toEqual([null, 200])
    expect(there.requests.map(({ headers, servername }) => [headers.host, servername])).toEqual([
      ...Array.from({ length: 3 }, () => [`hooks.example:${there.port}`, "hooks.example"]),
      [`127.0.0.1:${there.port}`, ""]
    ])
    expect(there.connections()).toBe(2)
  })

  test("that does not verify is no TLS", async () => {
    const there = await receiver((_, response) => response.end(), { tls: authority.issue(["other.example"]) })
    const plain = await receiver((_, response) => response.end())
    const closing = await tcp(
      createServer((socket) => socket.on("error", () => undefined).once("data", () => socket.destroy()))
    )
    expect(short(await sender(trusting).send(request(`https://hooks.example:${there.port}/`)))).toEqual(["tls", null])
    expect(
      short(await sender({ ...trusting, ca: testAuthority().ca }).send(request(`https://other.example:${there.port}/`)))
    ).toEqual(["tls", null])
    expect(short(await sender(trusting).send(request(`https://hooks.example:${plain.port}/`)))).toEqual(["tls", null])
    expect(short(await sender(trusting).send(request(`https://hooks.example:${closing}/`)))).toEqual(["tls", null])
    expect([there.requests.length, plain.requests.length]).toEqual([0, 0])
  })
})
