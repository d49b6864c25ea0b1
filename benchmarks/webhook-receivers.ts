/**
 * Receivers of webhooks, in a process of their own, each on a port of its own as real ones are hosts of their own. The
 * last one is a hole: it never answers. Prints its control address: `GET /` answers the receivers' ports and what came
 * since the last call.
 *
 * They read no more of HTTP than they need: real receivers run elsewhere, and here they share the sender's cores.
 */
import { createServer as createTeller } from "node:http"
import { type AddressInfo, createServer, type Socket } from "node:net"

const COUNT = Number(process.argv[2])
const ANSWER = "HTTP/1.1 204 No Content\r\n\r\n"
let delaysMs: Array<number> = []

const listen = (connected: (socket: Socket) => void): Promise<number> => {
  const server = createServer({ noDelay: true }, (socket) => connected(socket.on("error", () => undefined)))
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))
}

/** One request after the other, as a client that waits for each answer sends them. */
const takes = (socket: Socket): void => {
  let text = ""
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk
    const head = text.indexOf("\r\n\r\n")
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    if (head < 0 || length === undefined || text.length < head + 4 + Number(length)) return
    // From the commit of the event until it is here whole: both clocks are this host's.
    const created = text.indexOf('"created_at":"', head) + 14
    delaysMs.push(Date.now() - Date.parse(text.slice(created, text.indexOf('"', created))))
    text = ""
    socket.write(ANSWER)
  })
}

const ports = await Promise.all([
  ...Array.from({ length: COUNT }, () => listen(takes)),
  listen((socket) => void socket.resume())
])
const teller = createTeller({ keepAliveTimeout: 60_000 }, (_, response) => {
  response.end(JSON.stringify({ ports, delaysMs }))
  delaysMs = []
})
teller.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(teller.address() as AddressInfo).port}`))
process.on("SIGTERM", () => process.exit(0))
