/** Documents at an address: their media type is the caller's, else that of the answer, else they are refused. */
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "vitest"
import { openWorld } from "../gateway/world.ts"

const read: Array<string> = []
const reader = {
  read: (_: unknown, media: string) => {
    read.push(media)
    return Effect.fail({ code: "no_text" as const })
  }
}
const server = createServer((request, response) => {
  if (request.url === "/empty") return response.writeHead(200, { "content-type": "text/plain" }).end()
  if (request.url === "/gone") return response.writeHead(410).end()
  const [, type] = /type=(.*)/.exec(decodeURIComponent(request.url!)) ?? []
  response.writeHead(200, type === undefined ? {} : { "content-type": type }).end("Total: 1.00 EUR")
})
let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld({ documents: { reader } })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  server.close()
  await world.close()
})

const extract = (path: string, media_type?: string) =>
  fetch(`${world.url}/v1/documents/extract?wait=10`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, media_type })
  })

it.each([
  ["/empty", "empty"],
  ["/gone", "(410)"]
])("%s is refused as the address that it is, and says what came", async (path, said) => {
  const response = await extract(path, "text/plain")
  const { error } = (await response.json()) as any
  assert.deepStrictEqual([response.status, error.param], [400, "url"])
  assert.include(error.message, said)
})

it.each([
  [undefined, "Text/HTML; charset=utf-8", "text/html"],
  ["text/plain", "text/html", "text/plain"],
  ["text/plain", undefined, "text/plain"],
  [undefined, undefined, null],
  [undefined, "video/mp4", null],
  ["video/mp4", "text/html", null]
])("stated as %s and answered as %s is %s", async (media_type, type, expected) => {
  read.length = 0
  const response = await extract(`/a${type === undefined ? "" : `?type=${encodeURIComponent(type)}`}`, media_type)
  const { error } = (await response.json()) as any
  assert.deepStrictEqual(
    [response.status, error.param ?? error.code],
    expected === null ? [400, "media_type"] : [201, "no_text"]
  )
  assert.deepStrictEqual(read, expected === null ? [] : [expected])
})
