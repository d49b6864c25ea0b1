/**
 * Receivers of webhooks, in a process of their own, each on a port of its own as real ones are hosts of their own. The last one is a hole: it never answers. Prints where it tells: `GET /` answers the
 * receivers' ports and what came since it was asked before.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

const COUNT = Number(process.argv[2])
let delaysMs: Array<number> = []

const listen = (answer: RequestListener): Promise<number> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer)
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))
}

const takes: RequestListener = (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    // From the commit of the event until it is here whole: both clocks are this host's.
    const created = /"created_at":"([^"]+)"/.exec(Buffer.concat(chunks).toString())
    delaysMs.push(Date.now() - Date.parse(created?.[1] ?? ""))
    response.writeHead(204).end()
  })
}

const ports = await Promise.all([...Array.from({ length: COUNT }, () => listen(takes)), listen((request) => void request.resume())])
const port = await listen((_, response) => {
  response.end(JSON.stringify({ ports, delaysMs }))
  delaysMs = []
})
console.log(`http://127.0.0.1:${port}`)
process.on("SIGTERM", () => process.exit(0))
