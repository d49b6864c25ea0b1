/** A receiver on loopback that counts what reaches it. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import type { Certificate } from "./certificate.ts"

/** One request as it came. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** The port it came from: the same for requests over one connection. */
  readonly fromPort: number
  /** The server name of the TLS handshake; empty without TLS. */
  readonly servername: string
}

/** A running receiver. */
export interface Receiver {
  readonly port: number
  /** Connections so far, whether or not a byte came. */
  readonly connections: () => number
  readonly requests: ReadonlyArray<Seen>
  readonly close: () => Promise<void>
}

/** Reads a request, notes it, and hands it to `answer`. */
export const startReceiver = async (
  answer: RequestListener,
  options: { readonly host?: string; readonly tls?: Certificate } = {}
): Promise<Receiver> => {
  const requests: Array<Seen> = []
  let connections = 0
  const listen: RequestListener = (request, response) => {
    const chunks: Array<Buffer> = []
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        const servername =
          "servername" in request.socket && typeof request.socket.servername === "string"
            ? request.socket.servername
            : ""
        requests.push({
          method: request.method ?? "",
          path: request.url ?? "",
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
          fromPort: request.socket.remotePort ?? 0,
          servername
        })
        answer(request, response)
      })
  }
  const server = options.tls === undefined ? createServer(listen) : createTlsServer(options.tls, listen)
  server.on("connection", () => {
    connections++
  })
  return {
    port: await listening(server, options.host ?? "127.0.0.1"),
    connections: () => connections,
    requests,
    close: () => (server.closeAllConnections(), closed(server))
  }
}

/** Starts listening on a free port, and answers it. */
export const listening = (server: Server, host = "127.0.0.1"): Promise<number> =>
  new Promise((resolve, reject) =>
    server.once("error", reject).listen(0, host, () => resolve((server.address() as AddressInfo).port))
  )

/** Resolves when it has stopped. */
export const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
