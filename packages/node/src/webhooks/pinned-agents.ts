/**
 * Connections that go to vetted addresses and nowhere else.
 *
 * The pin is the look-up function of a request: it knows the vetted addresses and answers nothing else. An agent keeps
 * connections under name, port and pin, so that one which was made for other addresses is never found again. The peer's
 * address is compared with the pin once it is connected.
 */
import type * as http from "node:http"
import type * as https from "node:https"
import { isIP, type LookupFunction, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { addressKey, parseAddress } from "./address.ts"
import { KeptConnections } from "./kept-connections.ts"

// An import would load all that the module exports, the HTTP client and WebSocket of Node among it: a tenth of a start.
const { Agent } = process.getBuiltinModule("node:http")
const { Agent: TlsAgent } = process.getBuiltinModule("node:https")

/** The other end is not one of the vetted addresses. */
export class PeerNotVetted extends Error {}

/** A look-up function that holds the vetted addresses. */
export interface Pin {
  readonly lookup: LookupFunction
  /** Throws {@link PeerNotVetted} unless the connected socket's other end is one of them. */
  readonly check: (socket: Socket) => void
}

interface Pinned extends Pin {
  readonly key: string
}

const pinned = new WeakMap<LookupFunction, Pinned>()

/** Pins these addresses, which were vetted. */
export const pinTo = (addresses: ReadonlyArray<string>): Pin => {
  const keys = new Set(addresses.map(keyOf))
  /** Spellings that were compared and fit. */
  const fitting = new Set<string>()
  const answer = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_name, options, callback) => {
    if (options.all === true) callback(null, [...answer])
    else callback(null, answer[0]!.address, answer[0]!.family)
  }
  const check = (socket: Socket): void => {
    const other = socket.remoteAddress ?? ""
    if (fitting.has(other)) return
    if (!keys.has(keyOf(other))) throw new PeerNotVetted("the other end is not an address that was vetted")
    fitting.add(other)
  }
  const pin = { lookup, check, key: [...keys].sort().join(",") }
  pinned.set(lookup, pin)
  return pin
}

const keyOf = (text: string): string => {
  const address = parseAddress(text)
  return address === null ? "none" : addressKey(address)
}

const pinOf = (options: http.ClientRequestArgs | undefined): Pinned => {
  const pin = options?.lookup === undefined ? undefined : pinned.get(options.lookup)
  if (pin === undefined) throw new TypeError("a request through this agent carries a pin")
  return pin
}

/** One agent speaks to all of them in one way, so host, port and pin say which connections are alike. */
const keptName = (options: http.ClientRequestArgs): string => `${options.host}:${options.port}|${pinOf(options).key}`

/**
 * A kept connection was compared when it was made, and is found only under the same pin; this is the second check.
 */
const isVetted = (socket: Socket, options: http.ClientRequestArgs): boolean => {
  try {
    pinOf(options).check(socket)
    return true
  } catch {
    return false
  }
}

/** Compares before anything else hears of the connection, so before a byte is written to it. */
const checked = (socket: Duplex | null | undefined, pin: Pin): Duplex | null | undefined => {
  const connecting = socket as Socket | null | undefined
  connecting?.prependOnceListener("connect", () => {
    try {
      pin.check(connecting)
    } catch (problem) {
      connecting.destroy(problem as PeerNotVetted)
    }
  })
  return socket
}

class PinnedHttpAgent extends Agent {
  readonly #kept = new KeptConnections(this, keptName, isVetted)
  override getName(options?: http.ClientRequestArgs): string {
    return `${super.getName(options)}|${pinOf(options).key}`
  }
  override createConnection(
    options: http.ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void
  ): Duplex | null | undefined {
    return this.#kept.watched(checked(super.createConnection(options, callback), pinOf(options)), options)
  }
  addRequest(request: http.ClientRequest, options: http.ClientRequestArgs): void {
    this.#kept.serve(request, options)
  }
}

class PinnedHttpsAgent extends TlsAgent {
  readonly #kept = new KeptConnections(this, keptName, isVetted)
  override getName(options?: https.RequestOptions): string {
    return `${super.getName(options)}|${pinOf(options).key}`
  }
  override createConnection(
    options: https.RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void
  ): Duplex | null | undefined {
    return this.#kept.watched(checked(super.createConnection(options, callback), pinOf(options)), options)
  }
  addRequest(request: http.ClientRequest, options: https.RequestOptions): void {
    this.#kept.serve(request, options)
  }
}

/**
 * The two agents of a sender. They read no proxy from the environment, and take no certificate that does not verify
 * whatever the environment says.
 */
export interface PinnedAgents {
  readonly http: http.Agent
  readonly https: https.Agent
  readonly close: () => void
}

/** `ca`: certificates in PEM that are trusted in place of the usual ones. */
export const pinnedAgents = (ca: string | undefined): PinnedAgents => {
  const plain = new PinnedHttpAgent({ keepAlive: true })
  const tls = new PinnedHttpsAgent({
    keepAlive: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ...(ca === undefined ? {} : { ca })
  })
  return { http: plain, https: tls, close: () => (plain.destroy(), tls.destroy()) }
}
