/**
 * The limit of asking for the kill state, as a process of its own: bare `node:http` that answers 304 for a known ETag,
 * and sends an event to every open stream for a POST, after one durable insert. No kill state, no authentication.
 */
import { createServer, type ServerResponse } from "node:http"
import { DatabaseSync } from "node:sqlite"

const db = new DatabaseSync(process.argv[2]!)
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE act (epoch INTEGER PRIMARY KEY, body TEXT)")
const insert = db.prepare("INSERT INTO act VALUES (?, ?)")

const etag = `"${"0".repeat(43)}"`
const kept = { etag, "cache-control": "private, max-age=5, must-revalidate" }
const streams = new Set<ServerResponse>()
let epoch = 0
const event = (): string =>
  `id: ${epoch}\nevent: kill\ndata: ${JSON.stringify({ epoch, halted: epoch % 2 === 1, padding: "x".repeat(400) })}\n\n`

const server = createServer((request, response) => {
  if (request.url === "/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(event())
    streams.add(response)
    response.once("close", () => streams.delete(response))
    return
  }
  if (request.method === "GET") {
    if (request.headers["if-none-match"] === etag) response.writeHead(304, kept).end()
    else response.writeHead(200, kept).end("{}")
    return
  }
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    insert.run(++epoch, Buffer.concat(chunks).toString("utf8"))
    const text = event()
    for (const stream of streams) stream.write(text)
    response.writeHead(200, { "content-type": "application/json" }).end(`{"epoch":${epoch}}`)
  })
})
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`)
})
process.on("SIGTERM", () => {
  server.closeAllConnections()
  server.close(() => process.exit(0))
})
