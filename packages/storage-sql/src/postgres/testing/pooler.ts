/** Begins sessions as a pooler does: of the start-up parameters it passes on those that it knows. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { connect, createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"

/** Start-up parameters that every pooler knows. */
const known = new Set(["user", "database", "client_encoding", "application_name"])

/** The protocol's number of a start-up message, 3.0; others are requests for TLS or for a cancellation. */
const startUp = 196_608

/** Runs one before a server until the scope closes, with a session of the server for each of its own. */
export const parameterDroppingPooler = (target: string): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(target)),
      ({ close }) => Effect.promise(close)
    ),
    ({ url }) => ({ url })
  )

const start = async (target: string): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ port: Number(port), host: hostname })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on("error", () => to.destroy())
      from.on("close", () => to.destroy())
    }
    client.once("data", (first) => {
      upstream.write(withoutUnknown(first as Buffer))
      client.pipe(upstream)
    })
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const through = new URL(target)
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}

/** A start-up message with the parameters that are known. It arrives in one piece. */
const withoutUnknown = (message: Buffer): Buffer => {
  if (message.readInt32BE(4) !== startUp) return message
  const words = message.subarray(8, -2).toString("latin1").split("\0")
  let kept = ""
  for (let at = 0; at < words.length; at += 2) if (known.has(words[at]!)) kept += `${words[at]}\0${words[at + 1]}\0`
  const made = Buffer.from(`\0\0\0\0\0\0\0\0${kept}\0`, "latin1")
  made.writeInt32BE(made.length, 0)
  made.writeInt32BE(startUp, 4)
  return made
}
