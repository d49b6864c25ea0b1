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
  return new Handled(request, method, url, others, native)
}

/** A class: getters in an object literal would give each request a hidden class of its own (see `Call.signal`). */
class Handled implements Incoming {
  readonly #request: IncomingMessage
  readonly method: string
  readonly url: string
  readonly headers: Incoming["headers"]
  readonly rawHeaders: ReadonlyArray<string>
  readonly socket: Incoming["socket"]
  readonly native: unknown

  constructor(request: IncomingMessage, method: string, url: string, headers: Incoming["headers"], native: unknown) {
    this.#request = request
    this.method = method
    this.url = url
    this.headers = headers
    this.rawHeaders = request.rawHeaders
    this.socket = request.socket
    this.native = native
  }

  get readableEnded(): boolean {
    return this.#request.readableEnded
  }

  get destroyed(): boolean {
    return this.#request.destroyed
  }

  on(...[event, listener]: Parameters<Incoming["on"]>): this {
    this.#request.on(event, listener)
    return this
  }

  off(...[event, listener]: Parameters<Incoming["off"]>): this {
    this.#request.off(event, listener)
    return this
  }

  pause(): unknown {
    return this.#request.pause()
  }

  resume(): unknown {
    return this.#request.resume()
  }

  destroy(): unknown {
    return this.#request.destroy()
  }
}
