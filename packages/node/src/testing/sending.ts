/** Shared helpers for tests of the sender: senders and receivers that are closed again, and short forms of answers. */
import type { Server } from "node:net"
import type { Attempted, OutgoingRequest } from "@flyball/core"
import { type EgressOptions, pinnedSender, type PinnedSender } from "../webhooks/pinned-sender.ts"
import { closed, listening, type Receiver, startReceiver } from "./receiver.ts"

/** Error and status of an answer. */
export const short = ({ errorCode, statusCode }: Attempted) => [errorCode, statusCode]

/** A resolver that knows one answer. */
export const answering =
  (...addresses: ReadonlyArray<string>) =>
  (): Promise<ReadonlyArray<string>> =>
    Promise.resolve(addresses)

/** Closes what was opened, the last first. */
export const closeAll = (opened: Array<() => unknown>) => async (): Promise<void> => {
  for (const close of opened.splice(0).toReversed()) await close()
}

/** Tools that note in `opened` how to close what they open. Senders may use plain http. */
export const sending = (body: string) => {
  const opened: Array<() => unknown> = []
  const loopback: EgressOptions = { egressAllow: ["127.0.0.0/8"] }
  return {
    opened,
    loopback,
    request: (
      url: string,
      headers: { readonly [name: string]: string } = { "content-type": "application/json" }
    ): OutgoingRequest => ({ url, headers, body: new TextEncoder().encode(body) }),
    receiver: async (...options: Parameters<typeof startReceiver>): Promise<Receiver> => {
      const made = await startReceiver(...options)
      opened.push(made.close)
      return made
    },
    tcp: async (server: Server, host?: string): Promise<number> => {
      const port = await listening(server, host)
      opened.push(() => closed(server))
      return port
    },
    sender: (options: EgressOptions = {}): PinnedSender => {
      const made = pinnedSender({ allowHttp: true, ...options })
      opened.push(made.close)
      return made
    }
  }
}
