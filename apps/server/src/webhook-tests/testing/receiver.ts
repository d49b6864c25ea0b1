/**
 * A receiver of webhooks on the loopback address, as one writes it: with the libraries that the page for receivers
 * names.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { verify } from "@octokit/webhooks-methods"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"

/** A request as it came in. */
export interface Arrived {
  readonly headers: { readonly [name: string]: string }
  /** The bytes, as text. */
  readonly body: string
  // oxlint-disable-next-line no-explicit-any
  readonly event: any
}

/** A running receiver. `answer` may be set at any time. */
export interface Receiver {
  readonly url: string
  readonly arrived: Array<Arrived>
  answer: (arrived: Arrived, response: ServerResponse) => void
  readonly close: () => Promise<void>
}

/** Starts a receiver that accepts everything by default. */
export const startReceiver = async (): Promise<Receiver> => {
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        const body = Buffer.concat(chunks).toString()
        const one = { headers: headersOf(request), body, event: JSON.parse(body) as unknown }
        receiver.arrived.push(one)
        receiver.answer(one, response)
      })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/flyball`,
    arrived: [],
    answer: (_, response) => void response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return receiver
}

/** Which of the three libraries believe a delivery with this secret. */
export const believedBy = async ({ body, headers }: Arrived, secret: string): Promise<ReadonlyArray<string>> => {
  const believed: Array<string> = []
  if (isFine(() => new StandardWebhook(secret).verify(body, headers))) believed.push("standardwebhooks")
  if (isFine(() => new SvixWebhook(secret).verify(body, headers))) believed.push("svix")
  if (await verify(secret, body, headers["x-platform-signature"] ?? "")) believed.push("octokit")
  return believed
}

const isFine = (check: () => unknown): boolean => {
  try {
    check()
    return true
  } catch {
    return false
  }
}

const headersOf = ({ headers }: IncomingMessage): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
