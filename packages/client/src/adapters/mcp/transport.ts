/** Governs an MCP client of any SDK by a transport around its transport. */
import type { AgentClient } from "../../client.ts"
import { type CallOptions, governCalls } from "./calls.ts"
import { mediate, type SendOptions } from "./mediator.ts"

/**
 * A client's transport, as `@modelcontextprotocol/sdk` 1 and `@modelcontextprotocol/client` 2 have it. Their types name
 * more, and fit this one.
 */
export interface TransportLike {
  start(): Promise<void>
  // oxlint-disable-next-line no-explicit-any
  send(message: any, options?: any): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  // oxlint-disable-next-line no-explicit-any
  onmessage?: ((message: any, extra?: any) => void) | undefined
  readonly hasPerRequestStream?: boolean
}

/** The handlers that a client sets on its transport. */
interface Handlers {
  onclose?: TransportLike["onclose"]
  onerror?: TransportLike["onerror"]
  onmessage?: TransportLike["onmessage"]
}

/**
 * A transport that passes a `tools/call` on only where it may run; `client.connect(governTransport(transport, agent))`.
 *
 * It has every member of the one that it is around. A refused call is answered as a tool's error with the reason, and
 * the server never sees it. The connection must be opened through it: do not hand the inner transport to a client too.
 *
 * - Fails: `RangeError` where `holdMs` is above 55,000.
 * - Spec: decision 0057.
 */
export const governTransport = <T extends TransportLike>(
  inner: T,
  agent: AgentClient,
  options: CallOptions = {}
): T => {
  const handlers: Handlers = {}
  const calls = governCalls(agent, options)
  const mediator = mediate<SendOptions>({
    calls: () => Promise.resolve(calls),
    toServer: (message, sendOptions) => inner.send(message, sendOptions),
    toClient: (message) => handlers.onmessage?.(message),
    onDropped: (reason) => handlers.onerror?.(new Error(`The server sent what is no MCP message: ${reason}.`)),
    hasPerRequestStream: inner.hasPerRequestStream === true
  })
  Object.assign(inner, {
    onmessage: (message: unknown, extra: unknown) => {
      if (mediator.fromServer(message)) handlers.onmessage?.(message, extra)
    },
    onerror: (error: Error) => handlers.onerror?.(error),
    onclose: () => {
      void mediator.end("The connection to the tool server was closed.")
      handlers.onclose?.()
    }
  } satisfies Handlers)
  // A copy, as the wire has it: what the host's code changes while a call is held is not sent.
  const send = async (message: unknown, sendOptions?: SendOptions): Promise<void> =>
    mediator.fromClient(JSON.parse(JSON.stringify(message)), sendOptions)
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === "send") return send
      if (isHandler(name)) return handlers[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
    set: (target, name, value) => {
      if (!isHandler(name)) return Reflect.set(target, name, value, target)
      handlers[name] = value as never
      return true
    }
  })
}

const isHandler = (name: string | symbol): name is keyof Handlers =>
  name === "onclose" || name === "onerror" || name === "onmessage"
