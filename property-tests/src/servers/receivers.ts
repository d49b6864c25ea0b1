/** Receivers of webhooks on the loopback address that note every request, and answer on command. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as it came in, whatever became of it. */
export interface Noted {
  readonly eventId: string
  readonly deliveryId: string
  readonly sequence: number
  readonly attempt: number
  /** The status that was answered; null while nothing is, and when the sender hung up before. */
  answered: number | null
  hungUp: boolean
}

/** A running receiver. */
export interface Receiver {
  readonly url: string
  readonly requests: ReadonlyArray<Noted>
  /** A status, or `hold`: no answer until {@link Receiver.release}. */
  answer: number | "hold"
  /** Requests whose sender still waits. */
  readonly held: () => number
  /** Answers what is held, and from now on at once. */
  readonly release: (status: number) => void
  readonly close: () => Promise<void>
}

/** Starts so many, each on a port of its own. */
export const startReceivers = (count: number): Promise<ReadonlyArray<Receiver>> =>
  Promise.all(Array.from({ length: count }, start))

const start = async (): Promise<Receiver> => {
  const requests: Array<Noted> = []
  const waiting = new Set<(status: number) => void>()
  const server = createServer((request, response) => {
    const header = (name: string): string => String(request.headers[name] ?? "")
    request.resume().on("end", () => {
      const noted: Noted = {
        answered: null,
        hungUp: false,
        eventId: header("webhook-id"),
        deliveryId: header("x-platform-delivery"),
        sequence: Number(header("webhook-sequence")),
        attempt: Number(header("x-platform-attempt"))
      }
      const answer = (status: number): void => {
        noted.answered = status
        response.writeHead(status).end()
      }
      requests.push(noted)
      if (receiver.answer !== "hold") return answer(receiver.answer)
      waiting.add(answer)
      response.on("close", () => {
        waiting.delete(answer)
        noted.hungUp = noted.answered === null
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    answer: 200,
    held: () => waiting.size,
    release: (status) => {
      receiver.answer = status
      for (const answer of waiting) answer(status)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return receiver
}
