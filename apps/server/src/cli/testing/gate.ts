/** A way to a database that can be closed and opened again, as a network that fails does. */
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"

/** A running gate. */
export interface Gate {
  /** The address that it was given, through the gate. */
  readonly url: string
  /** Cuts every connection, and refuses new ones. */
  readonly close: () => Promise<void>
  readonly open: () => Promise<void>
}

/** Opens a gate before the server of this address. */
export const gateBefore = async (target: string): Promise<Gate> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, "127.0.0.1", resolve))
  await listen(0)
  const own = (server.address() as AddressInfo).port
  const through = new URL(target)
  through.port = String(own)
  return {
    url: through.href,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    open: () => listen(own)
  }
}
