/** The HTTP server: `node:http` over the endpoint table. Decision 0003 says why it is our own. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import {
  type Access,
  badRequestText,
  hostProblem,
  openSurface,
  PING_MS,
  requestId,
  type SurfaceOptions,
  type TokenVerifier,
  writeProblem
} from "@flyball/http/server"

// An import would read all that the module exports, and with it load Node's HTTP client and its WebSocket: a tenth of
// the start.
const { createServer, ServerResponse: NodeResponse } = process.getBuiltinModule("node:http")

/** How long the server waits for slow senders. Unit: milliseconds. */
export interface ServerTimes {
  /** For the head of a request. */
  readonly headersMs: number
  /**
   * For a request with its body, so that 16 MiB arrive over a slow line, and a trickle does not hold a socket for ever.
   */
  readonly requestMs: number
  /**
   * Between two requests of a connection; longer than the usual 60 s of a proxy, so that the proxy is the one to hang
   * up.
   */
  readonly keepAliveMs: number
  /**
   * For a reader that takes nothing of an answer, so that one who stops reading does not hold its source open for ever.
   */
  readonly stallMs: number
  /** How often a stream sends a comment where nothing happens, and checks its caller. */
  readonly pingMs: number
  /** How often the first two are checked. */
  readonly checkMs: number
  /** For what is under way when the server closes. */
  readonly closeMs: number
}

/** The default times of a server. */
export const defaultTimes: ServerTimes = {
  headersMs: 15_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  stallMs: 60_000,
  pingMs: PING_MS,
  checkMs: 5_000,
  closeMs: 10_000
}

/** Dependencies and settings of a server. */
export interface ServerOptions extends Pick<
  SurfaceOptions,
  "capabilities" | "context" | "log" | "planOfPeople" | "trustedProxy" | "version"
> {
  /** The verifier that vouches for people; null: none, every JWT is refused. */
  readonly verifier: TokenVerifier | null
  /** The rule that counts while no access mapping is set. */
  readonly bootstrap?: Access["bootstrap"]
  /** The caller of requests without a token: the demo's visitor. */
  readonly visitor?: Access["visitor"]
  /** Opens the metrics to those who are not on this host. */
  readonly metricsToken?: string | null
  readonly times?: Partial<ServerTimes>
}

/** A server that can be started and stopped. */
export interface FlyballServer {
  /** Listens; answers where. Port 0 takes a free one. */
  readonly listen: (at: {
    readonly host: string
    readonly port: number
  }) => Promise<{ readonly host: string; readonly port: number; readonly url: string }>
  /** Says at /healthz that it is going, and still answers everything else. */
  readonly drain: () => void
  /** Takes no new connections, finishes what is under way, and cuts what is not done in time. */
  readonly close: () => Promise<void>
}

/** Makes a server. It does not listen yet. */
export const makeServer = (options: ServerOptions): FlyballServer => {
  const times = { ...defaultTimes, ...options.times }
  let draining = false
  const surface = openSurface<IncomingMessage>({
    ...options,
    ...times,
    access: { verifier: options.verifier, bootstrap: options.bootstrap ?? null, visitor: options.visitor ?? null },
    prefix: "",
    pages: true,
    metricsToken: options.metricsToken ?? null,
    localMetrics: true,
    isClosing: () => draining,
    onAnswered: ({ socket }) => {
      // A connection that was in use when the server began to go would stay open until its idle time is over.
      // Nor is its end waited for: who reads on and sends nothing would hold up the exit.
      if (draining) socket.destroySoon()
    }
  })
  const server = createServer({
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
    insecureHTTPParser: false,
    // Node would answer these itself, in another form than everything else here.
    requireHostHeader: false,
    ServerResponse: responseOf(() => draining)
  })
  const connections = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    connections.add(socket)
    socket.once("close", () => connections.delete(socket))
  })
  const answering = new WeakMap<Socket, Answering>()
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, { request, response })
    const problem = hostProblem(request)
    if (problem !== null)
      return writeProblem(response, problem, {
        requestId: requestId(request.headers["x-request-id"]),
        bodiless: request.method === "HEAD"
      })
    surface.serve(request, response)
  }
  server.on("request", serve)
  // The body is requested only after the caller was admitted: see readBody.
  server.on("checkContinue", serve)
  server.on("checkExpectation", serve)
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const before = answering.get(socket)
    const answer = (): void => {
      if (socket.writable && error.code !== "ECONNRESET") socket.end(badRequestText(error.code))
      else socket.destroy()
    }
    if (before === undefined || before.response.writableFinished || !before.request.complete) answer()
    // The request before these bytes was whole, and may be written already: it gets its own answer, and 400 must not
    // pass for that.
    else if (!before.response.headersSent) before.response.once("finish", answer)
    // In the middle of an answer these bytes would pass for a part of it.
    else socket.destroy()
  })
  return {
    listen: async ({ host, port }) => {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen(port, host, () => {
          server.off("error", reject)
          resolve()
        })
      })
      const address = server.address() as AddressInfo
      const shown = address.family === "IPv6" ? `[${address.address}]` : address.address
      return { host: address.address, port: address.port, url: `http://${shown}:${address.port}` }
    },
    drain: () => {
      draining = true
    },
    close: async () => {
      draining = true
      if (!server.listening) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      // Node calls a connection idle once it had a request. On those that clients open in advance nothing is under way.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
      const cut = setTimeout(() => server.closeAllConnections(), times.closeMs)
      await closed
      clearTimeout(cut)
    }
  }
}

/**
 * Responses that end their connection from the moment the server drains, whenever their request came: what holds is
 * what holds when the head is written.
 */
const responseOf = (draining: () => boolean) =>
  class extends NodeResponse {
    override writeHead(status: number, ...rest: ReadonlyArray<unknown>): this {
      if (draining()) this.shouldKeepAlive = false
      return super.writeHead(status, ...(rest as []))
    }
  }

/** The last request of a connection, and its answer. */
interface Answering {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}
