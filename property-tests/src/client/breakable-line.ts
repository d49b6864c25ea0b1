/**
 * A way to a server over TCP that passes, holds or cuts what runs on it. Held bytes arrive later; a cut line fails at
 * once, and so do new connections. A caller cannot distinguish a line that is held from a server that thinks.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** How the line behaves. `hold up`: what the caller sends stays on the way; `hold down`: the answers do. */
export type LineState = "open" | "hold up" | "hold down" | "cut"

/** States of a line, for a choice by chance. */
export const lineStates: ReadonlyArray<LineState> = ["open", "hold up", "hold down", "cut"]

/** A line. */
export interface BreakableLine {
  readonly url: string
  /** From now on. What was held is passed on where the new state lets it. */
  readonly become: (state: LineState) => void
  readonly close: () => Promise<void>
}

/** Starts one on loopback. */
export const breakableLine = async (target: string): Promise<BreakableLine> => {
  const { hostname, port } = new URL(target)
  let state: LineState = "open"
  const pairs = new Set<{ readonly flush: () => void; readonly cut: () => void }>()
  const server = createServer((caller) => {
    if (state === "cut") return void caller.destroy()
    const upstream = connect(Number(port), hostname)
    /** Bytes that were held, in order. */
    const held: { readonly up: Array<Buffer>; readonly down: Array<Buffer> } = { up: [], down: [] }
    const pass = (to: Socket, waiting: Array<Buffer>, isHeld: boolean): void => {
      if (!isHeld) for (const bytes of waiting.splice(0)) to.write(bytes)
    }
    const pair = {
      flush: () => {
        pass(upstream, held.up, state === "hold up")
        pass(caller, held.down, state === "hold down")
      },
      cut: () => {
        pairs.delete(pair)
        caller.destroy()
        upstream.destroy()
      }
    }
    pairs.add(pair)
    for (const socket of [caller, upstream]) {
      socket.setNoDelay(true)
      socket.on("error", pair.cut)
      socket.on("close", pair.cut)
    }
    caller.on("data", (bytes: Buffer) => (held.up.push(bytes), pair.flush()))
    upstream.on("data", (bytes: Buffer) => (held.down.push(bytes), pair.flush()))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become: (next) => {
      state = next
      for (const pair of pairs) (next === "cut" ? pair.cut : pair.flush)()
    },
    close: () =>
      new Promise((resolve) => {
        for (const pair of pairs) pair.cut()
        server.close(() => resolve())
      })
  }
}
