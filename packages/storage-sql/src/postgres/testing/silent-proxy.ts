/** A proxy to Postgres that can fall silent: it passes nothing on any more, and closes nothing. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { connect, createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"

/** A running proxy. */
export interface SilentProxy {
  /** The address that it was given, through the proxy. */
  readonly url: string
  /** Falls silent on all lines, those that are opened later included. */
  readonly silence: () => void
  /** Falls silent when this side says something that holds this text; the other side does not hear it. */
  readonly silenceAt: (side: "client" | "server", text: string) => void
  /** Lines opened from now on pass everything. Those that are silent stay so; the server hears that they are gone. */
  readonly heal: () => void
  /** Lines that the client has not closed: a byte is sent down each, and one that is gone answers with a reset. */
  readonly open: () => number
}

/** Runs a proxy until the scope closes. */
export const silentProxy = (target: string): Effect.Effect<SilentProxy, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(target)),
      ({ close }) => Effect.promise(close)
    ),
    ({ proxy }) => proxy
  )

const start = async (target: string): Promise<{ readonly proxy: SilentProxy; readonly close: () => Promise<void> }> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const newLines = () => ({
    silent: false,
    at: { client: null, server: null } as { client: string | null; server: string | null },
    upstream: new Set<Socket>()
  })
  /** State shared by the connections opened since the last reset. */
  let now = newLines()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const mine = now
    const upstream = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    mine.upstream.add(upstream)
    const pass = (side: "client" | "server", from: Socket, to: Socket): void => {
      sockets.add(from)
      from.on("error", () => {})
      from.on("data", (chunk) => {
        const text = mine.at[side]
        if (text !== null && chunk.includes(text)) mine.silent = true
        if (!mine.silent) to.write(chunk)
      })
      from.on("end", () => {
        if (!mine.silent) to.end()
      })
    }
    pass("client", client, upstream)
    pass("server", upstream, client)
    clients.add(client)
    client.on("close", () => {
      clients.delete(client)
      upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const through = new URL(target)
  through.port = String((server.address() as AddressInfo).port)
  return {
    proxy: {
      url: through.href,
      silence: () => {
        now.silent = true
      },
      silenceAt: (side, text) => {
        now.at[side] = text
      },
      heal: () => {
        for (const upstream of now.upstream) upstream.destroy()
        now = newLines()
      },
      open: () => {
        for (const client of clients) client.write("\0")
        return clients.size
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
