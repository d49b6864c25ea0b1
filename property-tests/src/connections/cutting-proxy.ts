/**
 * A way to Postgres on which the line is cut at a chosen exchange: before the question is passed on, or when the answer
 * is there and before it is passed on.
 *
 * An exchange is what the server ends with ReadyForQuery: the start of a session, a simple query, everything up to a
 * Sync. They are counted over all
 * connections. Without TLS. Spec: PostgreSQL, "Frontend/Backend Protocol".
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

/** Where the connection is cut. The caller cannot distinguish the two: that is why they come in pairs. */
export type CutKind = "question lost" | "answer lost"

/** One cut: at the `exchange`-th exchange, counted from 1. */
export interface Cut {
  readonly exchange: number
  readonly kind: CutKind
}

/** A running proxy. */
export interface CuttingProxy {
  /** The address that it was given, through the proxy. */
  readonly url: string
  /** Cuts here from now on, with the count restarted. */
  readonly plan: (cuts: ReadonlyArray<Cut>) => void
  /** Exchanges since the plan was made. */
  readonly exchanges: () => number
  /** Cuts that were made since then. */
  readonly struck: () => ReadonlyArray<Cut>
  readonly close: () => Promise<void>
}

/** The letter that a message begins with. */
const [authentication, query, password, sync, ready] = ["R", "Q", "p", "S", "Z"].map((letter) => letter.charCodeAt(0))

/** The first packet of a session has no letter. */
const START = 0

/** Cuts a stream into messages; what is not whole yet is kept. */
class Messages {
  #rest = Buffer.alloc(0)
  #begun: boolean

  /** Only a client begins a session. */
  constructor(by: "client" | "server") {
    this.#begun = by === "server"
  }

  *push(chunk: Buffer): Generator<{ readonly bytes: Buffer; readonly type: number }> {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const lengthAt = this.#begun ? 1 : 0
      if (this.#rest.length < lengthAt + 4) return
      const end = lengthAt + this.#rest.readUInt32BE(lengthAt)
      if (this.#rest.length < end) return
      const bytes = this.#rest.subarray(0, end)
      this.#rest = this.#rest.subarray(end)
      yield { bytes, type: this.#begun ? bytes[0]! : START }
      this.#begun = true
    }
  }
}

/** Starts a proxy on loopback. */
export const cuttingProxy = async (target: string): Promise<CuttingProxy> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let cuts: ReadonlyArray<Cut> = []
  let struck: Array<Cut> = []
  let count = 0
  const strikes = (exchange: number, kind: CutKind): boolean => {
    const cut = cuts.find((one) => one.exchange === exchange && one.kind === kind)
    if (cut !== undefined) struck.push(cut)
    return cut !== undefined
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const pair = [client, upstream] as const
    for (const socket of pair) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        // The other end hears of it when it has read what is on its way.
        for (const one of pair) one.end()
      })
    }
    /** Numbers of the exchanges that the server has not answered, in order. */
    const waiting: Array<number> = []
    const [questions, answers] = [new Messages("client"), new Messages("server")]
    let question: Array<Buffer> = []
    let off = false
    const cutOff = (): void => {
      off = true
      // What was passed on before is sent; then the server sees the end of the line.
      upstream.end()
      client.destroy()
    }
    const pass = (): void => {
      for (const bytes of question.splice(0)) upstream.write(bytes)
    }
    client.on("data", (chunk: Buffer) => {
      for (const { bytes, type } of questions.push(chunk)) {
        if (off) return
        question.push(bytes)
        if (type === START || type === query || type === sync) {
          count += 1
          if (strikes(count, "question lost")) return cutOff()
          waiting.push(count)
          pass()
        } else if (type === password) pass()
      }
    })
    upstream.on("data", (chunk: Buffer) => {
      for (const { bytes, type } of answers.push(chunk)) {
        if (off) return
        const exchange = waiting[0]!
        const lost = cuts.some((cut) => cut.exchange === exchange && cut.kind === "answer lost")
        if (type === ready) waiting.shift()
        if (type === ready && lost && strikes(exchange, "answer lost")) return cutOff()
        // Nothing of an answer that will be lost, except what the start of a session needs to get so far.
        if (!lost || type === authentication) client.write(bytes)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const through = new URL(target)
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    plan: (next) => {
      cuts = next
      struck = []
      count = 0
    },
    exchanges: () => count,
    struck: () => struck,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
