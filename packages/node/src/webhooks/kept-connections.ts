/**
 * Connections of one agent that wait for their next request.
 *
 * Node's agent keeps them as well, at a quarter of what a request costs: it copies all options of both for each
 * request, and arms, asks and clears a timer of the connection each time. Here a connection is
 * found by its name alone, and its timer runs on from its last byte.
 */
import type * as http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/**
 * Unit: milliseconds since the last byte. Short of what receivers close idle connections after, so that a request does
 * not meet a connection that is being closed.
 */
const IDLE_MS = 1_000
const FREE_PER_NAME = 16

/** The method by which a request gets a connection from its agent. Node's own opens a connection where none waits. */
type AddRequest = (this: http.Agent, request: http.ClientRequest, options: http.ClientRequestArgs) => void
const { addRequest } = process.getBuiltinModule("node:http").Agent.prototype as unknown as {
  readonly addRequest: AddRequest
}

/** See the file's first line. */
export class KeptConnections {
  readonly #agent: http.Agent
  /** Key of a connection: the same key means the same host, port and addresses. */
  readonly #nameOf: (options: http.ClientRequestArgs) => string
  /** True for a connection that such a request may use: checked each time, though its name implies it. */
  readonly #fits: (socket: Socket, options: http.ClientRequestArgs) => boolean
  readonly #free = new Map<string, Array<Socket>>()

  constructor(
    agent: http.Agent,
    nameOf: (options: http.ClientRequestArgs) => string,
    fits: (socket: Socket, options: http.ClientRequestArgs) => boolean
  ) {
    this.#agent = agent
    this.#nameOf = nameOf
    this.#fits = fits
    // Node's own would put them among its own.
    agent
      .removeAllListeners("free")
      .on("free", (socket: Socket, options: http.ClientRequestArgs) => this.#keep(socket, this.#nameOf(options)))
  }

  /** Gives a request the connection that was used last, or has one opened. */
  serve(request: http.ClientRequest, options: http.ClientRequestArgs): void {
    const free = this.#free.get(this.#nameOf(options))
    for (let socket = free?.pop(); socket !== undefined; socket = free?.pop()) {
      if (!socket.writable) continue
      if (!this.#fits(socket, options)) {
        socket.destroy()
        continue
      }
      request.reusedSocket = true
      socket.ref()
      return request.onSocket(socket)
    }
    addRequest.call(this.#agent, request, options)
  }

  /** Watches a new connection for as long as it lives. */
  watched(opened: Duplex | null | undefined, options: http.ClientRequestArgs): Duplex | null | undefined {
    const socket = opened as Socket | null | undefined
    const name = this.#nameOf(options)
    socket
      ?.setTimeout(IDLE_MS)
      .on("timeout", () => this.#isFree(socket, name) && socket.destroy())
      // Unsolicited bytes would pass for the answer to the next request.
      .on("data", () => socket.listenerCount("data") === 1 && socket.destroy())
      // While it waits nobody else listens, and an error that nobody hears ends the process.
      .on("error", () => undefined)
      .on("close", () => this.#forget(socket, name))
    return opened
  }

  #keep(socket: Socket, name: string): void {
    const free = this.#free.get(name)
    if (!socket.writable || socket.connecting || (free?.length ?? 0) >= FREE_PER_NAME) return void socket.destroy()
    // It must not keep a process from ending.
    socket.unref()
    if (free === undefined) this.#free.set(name, [socket])
    else free.push(socket)
  }

  #isFree(socket: Socket, name: string): boolean {
    return this.#free.get(name)?.includes(socket) ?? false
  }

  #forget(socket: Socket, name: string): void {
    const left = this.#free.get(name)?.filter((one) => one !== socket && one.writable)
    if (left?.length === 0) this.#free.delete(name)
    else if (left !== undefined) this.#free.set(name, left)
  }
}
