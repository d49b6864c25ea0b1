/**
 * The sockets below a pool, so that they can be cut: the driver hands out connections only, and says goodbye without
 * waiting for an answer.
 */
import { Effect } from "effect"
import { connect, type Socket } from "node:net"

/** Idle time before the system asks whether the other end is still there. Unit: milliseconds. */
const keepAliveMs = 30_000

/** Opens the sockets of one pool, and knows which of them are open. */
export class Lines {
  readonly #url: string
  readonly #open = new Set<Socket>()

  constructor(url: string) {
    this.#url = url
  }

  /** Opens one more. The driver has read the same address before, and refused what cannot be read. */
  readonly open = (): Socket => {
    const socket = connect({
      ...addressOf(this.#url),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs
    })
    this.#open.add(socket)
    socket.once("close", () => this.#open.delete(socket))
    return socket
  }

  /** Ends all of them at once, without a goodbye. Where TLS runs over one, that ends too. */
  readonly cut = (): void => {
    for (const socket of this.#open) socket.destroy()
  }

  /** Waits until the other end has closed all of them, and cuts those that are left after a time. */
  readonly closed = (timeMs: number): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (this.#open.size === 0) return resume(Effect.void)
      const timer = setTimeout(this.cut, timeMs)
      const check = (): void => {
        if (this.#open.size > 0) return
        clearTimeout(timer)
        resume(Effect.void)
      }
      for (const socket of this.#open) socket.once("close", check)
    })
}

/**
 * Where the server of a URL listens, as the driver reads it: what stands in the query goes first, and a host that is a
 * path is a Unix socket.
 */
export const addressOf = (
  text: string
): { readonly host: string; readonly port: number } | { readonly path: string } => {
  const url = new URL(text)
  const last = (name: string): string | undefined => url.searchParams.getAll(name).at(-1)
  const named = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : decodeURIComponent(url.hostname)
  const host = last("host") ?? (named === "" ? "localhost" : named)
  const port = Number(last("port") ?? (url.port === "" ? 5432 : url.port))
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}
