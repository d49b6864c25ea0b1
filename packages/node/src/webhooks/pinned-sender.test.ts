import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { WebhookSender } from "@flyball/core"
import { Effect, Exit } from "effect"
import { afterEach, describe, expect, test } from "vitest"
import { closed, listening } from "../testing/receiver.ts"
import { answering, closeAll, sending, short } from "../testing/sending.ts"
import { spellingsOfFour, spellingsOfSix } from "../testing/spellings.ts"
import { EgressInvalid, egressProblem, pinnedSender, webhookSender } from "./pinned-sender.ts"

const body = '{"id":"evt_1"}'
const { loopback, opened, receiver, request, sender, tcp } = sending(body)
afterEach(closeAll(opened))

describe("a request that is delivered", () => {
  test("is one POST with the body as it is, to the name, at the vetted address", async () => {
    const there = await receiver((_, response) => response.writeHead(202).end("thanks"))
    const requested: Array<string> = []
    const mine = sender({ ...loopback, resolve: (name) => (requested.push(name), Promise.resolve(["127.0.0.1"])) })
    const { durationMs, ...answer } = await mine.send(
      request(`http://hooks.example:${there.port}/a?b=c`, { "webhook-id": "evt_1" })
    )
    expect(answer).toEqual({ statusCode: 202, errorCode: null, responseExcerpt: "thanks", retryAfterMs: null })
    expect([durationMs >= 0, durationMs < 5_000, Number.isInteger(durationMs), requested]).toEqual([
      true,
      true,
      true,
      ["hooks.example"]
    ])
    expect(there.requests).toMatchObject([
      {
        method: "POST",
        path: "/a?b=c",
        body: '{"id":"evt_1"}',
        headers: { host: `hooks.example:${there.port}`, "webhook-id": "evt_1", "content-length": "14" }
      }
    ])
  })

  test("continues to the next vetted address where the first is missing", async () => {
    const there = await receiver((_, response) => response.end(), { host: "127.0.0.2" })
    const answer = await sender({ ...loopback, resolve: answering("127.0.0.3", "127.0.0.2") }).send(
      request(`http://hooks.example:${there.port}/`)
    )
    expect(short(answer)).toEqual([null, 200])
  })

  test("is what the host's own resolver says too", async () => {
    const there = await receiver((_, response) => response.end())
    expect(
      short(await sender({ egressAllow: ["127.0.0.0/8", "::1"] }).send(request(`http://localhost:${there.port}/`)))
    ).toEqual([null, 200])
    expect(
      short(await sender({ egressAllow: ["x.example"] }).send(request(`http://localhost:${there.port}/`)))
    ).toEqual(["ssrf_blocked", null])
  })

  test("keeps Retry-After, and the answer's text", async () => {
    const there = await receiver((_, response) => response.writeHead(429, { "retry-after": "7" }).end("slow \0 down"))
    expect(await sender(loopback).send(request(`http://127.0.0.1:${there.port}/`))).toMatchObject({
      statusCode: 429,
      errorCode: "http_status",
      retryAfterMs: 7_000,
      responseExcerpt: "slow \ufffd down"
    })
  })

  test("as an Effect, and its connections end with the layer", async () => {
    const there = await receiver((_, response) => response.end())
    const ended = new Promise<void>((resolve) => {
      opened.push(() => resolve())
      endedBy = resolve
    })
    const open = createServer((socket) =>
      socket.on("close", endedBy).once("data", () => socket.write("HTTP/1.1 204 No Content\r\n\r\n"))
    )
    const port = await tcp(open)
    const sent = await Effect.runPromise(
      Effect.gen(function* () {
        const service = yield* WebhookSender
        expect(service.urlProblem("http://10.0.0.1/")).toMatch(/private/)
        expect(service.urlProblem("http://hooks.example/")).toBeNull()
        return [
          yield* service.send(request(`http://127.0.0.1:${there.port}/`)),
          yield* service.send(request(`http://127.0.0.1:${port}/`))
        ]
      }).pipe(Effect.provide(webhookSender({ ...loopback, allowHttp: true })))
    )
    expect(sent.map(short)).toEqual([
      [null, 200],
      [null, 204]
    ])
    await ended
  })
})
let endedBy: () => void

describe("a request that goes nowhere", () => {
  test("to a denied address, in any spelling: nobody sees a connection", async () => {
    const four = await receiver((_, response) => response.end())
    const six = await receiver((_, response) => response.end(), { host: "::1" })
    const requested: Array<string> = []
    const mine = sender({ resolve: (name) => (requested.push(name), Promise.resolve(["127.0.0.1"])) })
    const urls = [
      ...["127.0.0.1", "127.0.0.2", "0.0.0.0"].flatMap((address) =>
        spellingsOfFour(address).map((host) => `http://${host}:${four.port}/`)
      ),
      ...["::1", "::"].flatMap((address) => spellingsOfSix(address).map((host) => `http://${host}:${six.port}/`)),
      `http://localhost:${four.port}/`,
      `http://127.0.0.1.nip.example:${four.port}/`
    ]
    const answers = await Promise.all(urls.map((url) => mine.send(request(url))))
    expect(
      urls.filter((_, index) => answers[index]!.errorCode !== "ssrf_blocked" || answers[index]!.statusCode !== null)
    ).toEqual([])
    // Only the last is a name at all; no other one reached a resolver.
    expect([requested, four.connections(), six.connections(), answers.length > 150]).toEqual([
      ["127.0.0.1.nip.example"],
      0,
      0,
      true
    ])
    // The listeners would have seen one.
    const control = sender({ egressAllow: ["127.0.0.1", "::1"] })
    expect(short(await control.send(request(`http://127.0.0.1:${four.port}/`)))).toEqual([null, 200])
    expect(short(await control.send(request(`http://[::1]:${six.port}/`)))).toEqual([null, 200])
    expect([four.connections(), six.connections()]).toEqual([1, 1])
  })

  test("to a name of which one address among many is denied", async () => {
    const there = await receiver((_, response) => response.end())
    for (const addresses of [
      ["8.8.8.8", "127.0.0.1"],
      ["127.0.0.1", "8.8.8.8"],
      ["::ffff:127.0.0.1"],
      ["8.8.8.8", "::1"],
      ["64:ff9b::7f00:1"],
      ["fe80::1%lo"],
      ["localhost"],
      ["127.1"]
    ]) {
      expect(
        short(await sender({ resolve: answering(...addresses) }).send(request(`http://hooks.example:${there.port}/`)))
      ).toEqual(["ssrf_blocked", null])
    }
    expect(there.connections()).toBe(0)
  })

  test("when the rules changed since the webhook was made", async () => {
    const there = await receiver((_, response) => response.end())
    const url = `http://127.0.0.1:${there.port}/`
    for (const options of [
      { ...loopback, allowHttp: false },
      { ...loopback, ports: [443] }
    ])
      expect(short(await sender(options).send(request(url)))).toEqual(["ssrf_blocked", null])
    for (const headers of [{ a: "b\r\nHost: evil" }, { host: "evil" }, { "a\n": "b" }])
      expect(short(await sender(loopback).send(request(url, headers)))).toEqual(["ssrf_blocked", null])
    expect(there.connections()).toBe(0)
  })

  test("when the name is missing, or nothing listens", async () => {
    const port = await listening(createServer())
    const gone = createServer()
    const free = await listening(gone)
    await closed(gone)
    expect(port).not.toBe(free)
    const mine = sender({
      ...loopback,
      resolve: (name) =>
        name === "none.example"
          ? Promise.resolve([])
          : name === "gone.example"
            ? Promise.reject(new Error("ENOTFOUND"))
            : Promise.resolve(["127.0.0.1"])
    })
    expect(short(await mine.send(request("http://none.example/")))).toEqual(["dns", null])
    expect(short(await mine.send(request("http://gone.example/")))).toEqual(["dns", null])
    expect(short(await mine.send(request(`http://hooks.example:${free}/`)))).toEqual(["connect", null])
  })

  test("through a proxy that the environment names", async () => {
    const proxy = await receiver((_, response) => response.end("proxied"))
    const there = await receiver((_, response) => response.end("direct"))
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL("../testing/sender-child.ts", import.meta.url)), `http://hooks.example:${there.port}/`],
      {
        env: {
          NODE_USE_ENV_PROXY: "1",
          NODE_TLS_REJECT_UNAUTHORIZED: "0",
          NODE_NO_WARNINGS: "1",
          ...Object.fromEntries(
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].map((name) => [
              name,
              `http://127.0.0.1:${proxy.port}`
            ])
          )
        },
        stdio: ["ignore", "pipe", "inherit"]
      }
    )
    const printed: Array<Buffer> = []
    for await (const chunk of child.stdout) printed.push(chunk as Buffer)
    // The usual way goes through it, which shows that the environment did name it.
    expect(JSON.parse(Buffer.concat(printed).toString())).toEqual({ sent: "direct", usual: "proxied" })
    expect([there.requests.length, proxy.requests.length]).toEqual([1, 1])
  })
})

describe("a receiver that would lead it elsewhere", () => {
  test.each([300, 301, 302, 303, 304, 307, 308])("%s is an outcome, and no redirect is followed", async (status) => {
    const inside = await receiver((_, response) => response.end("secret"))
    const there = await receiver((_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/` }).end()
    )
    expect(
      short(
        await sender({ egressAllow: ["hooks.example", "127.0.0.0/8"], resolve: answering("127.0.0.1") }).send(
          request(`http://hooks.example:${there.port}/`)
        )
      )
    ).toEqual(["redirect", status])
    expect([there.requests.length, inside.connections()]).toEqual([1, 0])
  })

  test("a name that is public at the first look-up, and private after", async () => {
    const inside = await receiver((_, response) => response.end())
    const answers = [["127.0.0.2"], ["127.0.0.1"]]
    let requested = 0
    // 127.0.0.2 stands for the public address; 127.0.0.1 is denied here.
    const outside = await receiver((_, response) => response.end(), { host: "127.0.0.2" })
    const mine = sender({
      egressAllow: ["127.0.0.2"],
      resolve: () => Promise.resolve(answers[Math.min(requested++, 1)]!)
    })
    expect(short(await mine.send(request(`http://hooks.example:${outside.port}/`)))).toEqual([null, 200])
    // One look-up an attempt: what was vetted is what was connected to.
    expect(requested).toBe(1)
    expect(short(await mine.send(request(`http://hooks.example:${outside.port}/`)))).toEqual(["ssrf_blocked", null])
    expect(short(await mine.send(request(`http://hooks.example:${inside.port}/`)))).toEqual(["ssrf_blocked", null])
    expect([requested, outside.requests.length, inside.connections()]).toEqual([3, 1, 0])
  })

  test("an address that turns out to be another one once connected: not a byte is sent", async () => {
    const received: Array<Buffer> = []
    let connections = 0
    const done = new Promise<void>((resolve) => {
      endedBy = resolve
    })
    const port = await tcp(
      createServer((socket) => {
        connections++
        socket
          .on("data", (chunk: Buffer) => received.push(chunk))
          .on("error", () => undefined)
          .on("close", endedBy)
      })
    )
    // The system connects 0.0.0.0 to 127.0.0.1, which is not allowed.
    expect(short(await sender({ egressAllow: ["0.0.0.0"] }).send(request(`http://0.0.0.0:${port}/`)))).toEqual([
      "ssrf_blocked",
      null
    ])
    await done
    expect([connections, received]).toEqual([1, []])
  })

  test("101 is no success", async () => {
    const port = await tcp(
      createServer((socket) =>
        socket
          .on("error", () => undefined)
          .once("data", () =>
            socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
          )
      )
    )
    expect(short(await sender(loopback).send(request(`http://127.0.0.1:${port}/`)))).toEqual(["http_status", 101])
  })
})

describe("a connection that is kept", () => {
  const kept = async () => {
    const there = await receiver((_, response) => response.end("ok"))
    const ports = () => there.requests.map(({ fromPort }) => fromPort)
    return { there, ports }
  }

  test("serves one name at the same addresses in any order, and vets the name each time", async () => {
    const { ports, there } = await kept()
    let requested = 0
    const mine = sender({
      ...loopback,
      resolve: () => Promise.resolve(requested++ % 2 === 0 ? ["127.0.0.1", "127.0.0.9"] : ["127.0.0.9", "127.0.0.1"])
    })
    for (let count = 0; count < 4; count++)
      expect(short(await mine.send(request(`http://hooks.example:${there.port}/`)))).toEqual([null, 200])
    expect([requested, new Set(ports()).size]).toEqual([4, 1])
  })

  test("serves no other name, no other address, and not once the address is denied", async () => {
    const { ports, there } = await kept()
    let addresses = ["127.0.0.1"]
    const mine = sender({ egressAllow: ["127.0.0.1", "127.0.0.9"], resolve: () => Promise.resolve(addresses) })
    const send = (name: string) => mine.send(request(`http://${name}:${there.port}/`)).then(short)
    expect([await send("a.example"), await send("b.example"), await send("127.0.0.1")]).toEqual([
      [null, 200],
      [null, 200],
      [null, 200]
    ])
    addresses = ["127.0.0.9", "127.0.0.1"]
    expect(await send("a.example")).toEqual([null, 200])
    expect(new Set(ports()).size).toBe(4)
    addresses = ["127.0.0.1", "127.0.0.7"]
    expect([await send("a.example"), there.requests.length]).toEqual([["ssrf_blocked", null], 4])
  })

  test("is not used again once an answer was cut off", async () => {
    const there = await receiver((_, response) => response.end(Buffer.alloc(200_000, "x")))
    const mine = sender(loopback)
    const answers = [
      await mine.send(request(`http://127.0.0.1:${there.port}/`)),
      await mine.send(request(`http://127.0.0.1:${there.port}/`))
    ]
    expect(answers.map(({ errorCode, responseExcerpt }) => [errorCode, responseExcerpt.length])).toEqual([
      [null, 4_096],
      [null, 4_096]
    ])
    expect(there.connections()).toBe(2)
  })
})

describe("settings that cannot be used", () => {
  test.each([[{ egressAllow: ["*.example"] }], [{ ports: [0] }], [{ ports: [1.5] }]])("%j", async (options) => {
    expect(() => pinnedSender(options)).toThrow(EgressInvalid)
    const exit = await Effect.runPromiseExit(Effect.provide(WebhookSender, webhookSender(options)))
    expect(Exit.isFailure(exit)).toBe(true)
  })

  test("are named", () => {
    expect(egressProblem(["10.0.0.0/8", "receiver.internal"])).toBeNull()
    expect(egressProblem(["10.0.0.0/8", "10.0.0.1/8"])).toMatch(/^"10\.0\.0\.1\/8" cannot be allowed/)
  })
})
