/**
 * The demo's chapter on webhooks: a receiver that is away for two attempts, minutes that pass at once, and a library of
 * somebody else that checks each signature.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"
import { sendLater } from "./minutes-later.ts"
import { type RunningServer, startServer } from "./server.ts"

/** Result of this step. */
export interface Reported {
  readonly event: string
  /** Status codes of the attempts. */
  readonly answers: ReadonlyArray<number>
  /** Attempts that the library verifies, and would not with another body. */
  readonly believed: number
  readonly ids: number
  readonly state: string
}

interface Arrived {
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly body: string
  /** The receiver's time. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
}

const MINUTE_MS = 60_000
/** The schedule's: what passes before the second attempt, and before the third. */
const LATER_MS = [MINUTE_MS, 6 * MINUTE_MS]

/** Sends the event of a new key to a webhook, and answers a server that continues. */
export const tell = async (
  folder: string,
  server: RunningServer,
  admin: string
): Promise<{ readonly reported: Reported; readonly server: RunningServer }> => {
  const receiver = await startReceiver([503, 503, 204])
  try {
    const act = async (path: string, body: unknown) => {
      const { bytes, json, status } = await server.call("POST", `/api/v1/${path}`, admin, body)
      if (status >= 300) throw new Error(`${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
      return json
    }
    const event = "key.minted"
    const { id, secret } = await act("webhooks", { url: receiver.url, events: [event] })
    await act("admin/ingest-keys", { name: "another key", org_unit: "support" })
    await receiver.arrival(1)
    await server.stop()
    for (const [index, laterMs] of LATER_MS.entries()) {
      receiver.clock.laterMs = laterMs
      await sendLater(folder, laterMs, () => receiver.arrival(index + 2))
    }
    const again = await startServer(folder)
    const [delivery] = (await again.call("GET", `/api/v1/webhooks/${id}/deliveries`, admin)).json
    const reported: Reported = {
      event,
      answers: delivery.attempts.map((attempt: { readonly status_code: number }) => attempt.status_code),
      believed: receiver.arrived.filter(
        (one) => isBelieved(one, secret) && !isBelieved({ ...one, body: `${one.body} ` }, secret)
      ).length,
      ids: new Set(receiver.arrived.map(({ headers }) => headers["webhook-id"])).size,
      state: delivery.state
    }
    return { reported: reported, server: again }
  } finally {
    await receiver.close()
  }
}

/**
 * Result of the library's `verify` at the receiver's time. It asks the process's clock and refuses a time that is
 * minutes away, so for this call the clock is the receiver's.
 */
const isBelieved = ({ atMs, body, headers }: Arrived, secret: string): boolean => {
  const { now } = Date
  Date.now = () => atMs
  try {
    new Webhook(secret).verify(
      body,
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    )
    return true
  } catch {
    return false
  } finally {
    Date.now = now
  }
}

const startReceiver = async (answers: ReadonlyArray<number>) => {
  const arrived: Array<Arrived> = []
  /** How much later it is for the receiver. */
  const clock = { laterMs: 0 }
  const waiting: Array<{ readonly count: number; readonly resolve: () => void }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        arrived.push({
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
          atMs: Date.now() + clock.laterMs
        })
        response.writeHead(answers[arrived.length - 1] ?? 204).end()
        for (const { count, resolve } of waiting) if (arrived.length >= count) resolve()
      })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/flyball`,
    arrived,
    clock,
    /** Resolves when so many have come. */
    arrival: (count: number) =>
      new Promise<void>((resolve) => {
        if (arrived.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
