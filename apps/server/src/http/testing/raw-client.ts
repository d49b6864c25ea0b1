/** Bytes over a socket, for the tests of what no HTTP client would send. */
import { connect, type Socket } from "node:net"
import { once } from "node:events"

/** A connection that was written to. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything received so far. */
  readonly received: () => string
  /** Waits until what was received satisfies `holds`; rejects when the connection ends before. */
  readonly until: (holds: (text: string) => boolean) => Promise<string>
  /** Waits until the other side has ended the connection. */
  readonly ended: () => Promise<string>
}

/** Connects and writes. */
export const rawConnection = async (port: number, text: string): Promise<RawConnection> => {
  const socket = connect({ host: "127.0.0.1", port })
  let received = ""
  let over = false
  const waiting = new Set<() => void>()
  const wake = (): void => waiting.forEach((check) => check())
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1")
    wake()
  })
  socket.on("error", () => {})
  socket.on("close", () => {
    over = true
    wake()
  })
  socket.on("end", () => {
    over = true
    wake()
  })
  await once(socket, "connect")
  socket.write(text)
  const wait = (done: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const check = (): void => {
        if (done()) resolve(received)
        else if (over) reject(new Error(`the connection ended after: ${received.slice(0, 500)}`))
        else return
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })
  return {
    socket,
    received: () => received,
    until: (holds) => wait(() => holds(received)),
    ended: () => wait(() => over)
  }
}
