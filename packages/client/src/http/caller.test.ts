/** Answers where no server of ours answers: pages, halves of answers, floods and redirects. */
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import { gzipSync } from "node:zlib"
import { afterEach, assert, describe, it } from "vitest"
import { systemClock } from "../clock.ts"
import { makeCaller } from "./caller.ts"
import { refusedBy } from "./server-refused.ts"

const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

const callerOf = (url: string) => makeCaller({ url, key: "k", fetch: globalThis.fetch, clock: systemClock })

/** One request to a server that answers so. */
const ask = async (listener: RequestListener, timeoutMs = 10_000) =>
  callerOf(await listen(listener)).send({ method: "GET", path: "/x", timeoutMs })

describe("a request", () => {
  it("hands over what is no JSON as no answer of a Flyball server, with how it begins", async () => {
    const page = `<!doctype html><title>Sign in</title>${" ".repeat(1_000)}`
    for (const text of [page, '{"id": "evl_1", "outco']) {
      const answer = await ask((_, response) => response.end(text))
      assert.deepInclude(answer, { kind: "answer", status: 200, body: undefined, excerpt: text.slice(0, 200) })
      assert.include(refusedBy("The agent could not be looked up", answer).message, "no answer of a Flyball server")
    }
  })

  it("is unreachable where the connection ends in the middle of the answer", async () => {
    const answer = await ask((_, response) => {
      response.writeHead(200, { "content-length": "100" })
      response.write('{"id":')
      setImmediate(() => response.destroy())
    })
    assert.deepInclude(answer, { kind: "unreachable", isSlow: false })
  })

  it("takes an answer of 10 MB, and reads no further than 16 MiB, compressed or not", async () => {
    const large = JSON.stringify({ text: "x".repeat(10_000_000) })
    const taken = await ask((_, response) => response.end(large))
    assert.deepInclude(taken, { kind: "answer", status: 200 })
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, " "))
    const packed = await ask((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" })
      response.end(bomb)
    })
    assert.deepInclude(packed, { kind: "unreachable", reason: "an answer of over 16 MiB", isSlow: false })
    let closed = Promise.resolve<unknown>(null)
    const endless = await ask((_, response) => {
      closed = once(response, "close")
      const flood = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(1_048_576, " "), flood)
      }
      flood()
    })
    assert.deepInclude(endless, { kind: "unreachable", reason: "an answer of over 16 MiB" })
    await closed
  })

  it("says that an answer came too late, also where it began in time", async () => {
    const answer = await ask((_, response) => void response.write("{"), 50)
    assert.deepInclude(answer, { kind: "unreachable", reason: "no answer within 50 ms", isSlow: true })
  })

  it("follows no redirect, which would take the key along, and says where it leads", async () => {
    let followed = 0
    const elsewhere = await listen((_, response) => {
      followed++
      response.end("[]")
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const answer = await ask((_, response) => {
        response.writeHead(status, { location: `${elsewhere}/x` })
        response.end("moved")
      })
      assert.strictEqual(answer.kind, "unreachable")
      assert.include(
        refusedBy("The agent could not be looked up", answer).message,
        `a redirect (status ${status}) to ${elsewhere}/x, which is not followed`
      )
    }
    const stream = await listen((_, response) => {
      response.writeHead(302, { location: elsewhere })
      response.end()
    })
    assert.isNull(await callerOf(stream).open("/stream", {}, new AbortController().signal))
    assert.strictEqual(followed, 0)
  })
})
