/** A request of Node's that a framework has handled before us, as the dispatcher reads one. */
import type { IncomingMessage } from "node:http"
import type { Incoming } from "../exchange.ts"
import type { ReadBody } from "./given-body.ts"
import { requestOfRead } from "./web-request.ts"

/** Node's request with the members that frameworks add to it. */
export interface FrameworkRequest extends IncomingMessage {
  /** The body as a parser of the framework left it. */
  readonly body?: unknown
  /** The body's bytes, where the host keeps them. */
  readonly rawBody?: unknown
  /** The URL before a framework took the mount path off, and that path. */
  readonly originalUrl?: string
  readonly baseUrl?: string
}

/** The request, at a path below the prefix. `read`: a body that the host has read; null where not. */
export const nodeRequest = (
  request: IncomingMessage,
  url: string,
  read: ReadBody | null,
  native: unknown = request
): Incoming => {
  const { headers, method = "GET", rawHeaders, socket } = request
  if (read !== null)
    return requestOfRead({ method, url, headers, rawHeaders, remoteAddress: socket.remoteAddress, native }, read)
  // Node has requested the body already, with the first handler of the host.
  const { expect: _expect, ...others } = headers
  const self: Incoming = {
    method,
    url,
    headers: others,
    rawHeaders,
    socket,
    native,
    get readableEnded() {
      return request.readableEnded
    },
    get destroyed() {
      return request.destroyed
    },
    on: (event, listener) => {
      request.on(event, listener)
      return self
    },
    off: (event, listener) => {
      request.off(event, listener)
      return self
    },
    pause: () => request.pause(),
    resume: () => request.resume(),
    destroy: () => request.destroy()
  }
  return self
}
