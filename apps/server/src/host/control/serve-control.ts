/** The control socket of a running server: the host acts while nobody can sign in. */
import { chmodSync, unlinkSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import type { Log } from "../log.ts"
import { type ControlAnswer, type HostAct, MAX_REQUEST, requestIn } from "./protocol.ts"

/** How long a caller may take to send its request. Unit: milliseconds. */
const REQUEST_MS = 10_000

/** Callers at a time. */
const MAX_CALLERS = 16

/** An open control socket. */
export interface ControlSocket {
  /** Finishes what is under way, and removes the socket. */
  readonly close: () => Promise<void>
}

/**
 * Listens at `path`, for the account of this process alone. A socket that a killed server left is replaced; one that
 * another process answers at is left alone.
 *
 * - `act`: does an act and answers what to print; a rejection is answered as its sentence.
 * - Null where it cannot listen, which is logged: the server serves all the same.
 */
export const serveControl = async (
  path: string,
  store: string,
  act: (act: HostAct) => Promise<string>,
  log: Log
): Promise<ControlSocket | null> => {
  const underWay = new Set<Promise<void>>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const done: Promise<void> = serveCaller(socket, store, act, log).finally(() => underWay.delete(done))
    underWay.add(done)
  })
  server.maxConnections = MAX_CALLERS
  try {
    if (await isAnswered(path)) throw new Error("another process listens on it")
    unlinkIfThere(path)
    await listen(server, path)
  } catch (cause) {
    log("warn", "no control socket: flyball halt, release, mapping set and rotate-key need this server to be stopped", {
      path,
      cause: cause instanceof Error ? cause.message : String(cause)
    })
    return null
  }
  server.on("error", (cause) => log("warn", "the control socket failed", { path, cause: cause.message }))
  return {
    close: async () => {
      // Removes the file too.
      server.close()
      await Promise.all(underWay)
    }
  }
}

/** The file never has another mode: the mask holds while it is made. */
const listen = (server: Server, path: string): Promise<void> =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    const mask = process.umask(0o177)
    try {
      server.listen(path, () => {
        server.off("error", reject)
        resolve()
      })
    } finally {
      process.umask(mask)
    }
  }).then(() => chmodSync(path, 0o600))

const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

const unlinkIfThere = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause
  }
}

const serveCaller = async (
  socket: Socket,
  store: string,
  act: (act: HostAct) => Promise<string>,
  log: Log
): Promise<void> => {
  socket.on("error", () => socket.destroy())
  const line = await lineOf(socket)
  if (line === null) return void socket.destroy()
  const request = requestIn(line)
  const answer: ControlAnswer =
    request === null
      ? { failed: "the running server does not know this command. It may be another version. Nothing was recorded" }
      : request.store !== store
        ? { other_store: true }
        : await act(request.act).then(
            (out) => {
              log("info", "done by the host over the control socket", { command: request.act.command })
              return { out }
            },
            (cause: unknown) => ({ failed: cause instanceof Error ? cause.message : String(cause) })
          )
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve())
    socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroySoon())
  })
}

/** The first line that a caller sends; null where none came in time, or it is too long. */
const lineOf = (socket: Socket): Promise<string | null> =>
  new Promise((resolve) => {
    let text = ""
    const end = (line: string | null): void => {
      clearTimeout(late)
      socket.off("data", take)
      resolve(line)
    }
    const take = (chunk: string): void => {
      text += chunk
      const at = text.indexOf("\n")
      if (at >= 0) end(text.slice(0, at))
      else if (text.length > MAX_REQUEST) end(null)
    }
    const late = setTimeout(() => end(null), REQUEST_MS)
    socket.setEncoding("utf8").on("data", take)
    socket.once("end", () => end(null))
    socket.once("close", () => end(null))
  })
