/** Asks the running server to do what this host wants done. */
import { connect } from "node:net"
import type { Settings } from "../../settings/read.ts"
import { type ControlAnswer, type ControlRequest, controlPath, type HostAct, storeNamed } from "./protocol.ts"

/**
 * Has the server that runs on this data folder do an act; answers what to print. Null where no server listens, or one
 * that writes another store: then nothing was done.
 *
 * - Fails: rejects with the server's sentence, or where it ended before it answered.
 */
export const actOverControl = async (settings: Settings, act: HostAct): Promise<string | null> => {
  const [path, store] = [controlPath(settings), storeNamed(settings)]
  if (path === null || store === null) return null
  const request: ControlRequest = { v: 1, store, act }
  const line = await answerTo(path, `${JSON.stringify(request)}\n`)
  if (line === null) return null
  const answer = readAnswer(act, line)
  if ("other_store" in answer) return null
  if ("failed" in answer) throw new Error(answer.failed)
  return answer.out
}

/** The command that shows whether an act was done. */
const shownBy: { readonly [C in HostAct["command"]]: string } = {
  halt: "flyball kill-status",
  release: "flyball kill-status",
  mapping: "flyball mapping show",
  platform_key_mint: "flyball platform-key list",
  platform_key_revoke: "flyball platform-key list",
  rotate_key: "flyball vkey",
  checkpoint: "flyball check"
}

const readAnswer = ({ command }: HostAct, line: string): ControlAnswer => {
  if (line === "")
    throw new Error(
      "the running server ended before it answered, so it is unknown whether this was recorded: " +
        `${shownBy[command]} shows it`
    )
  return JSON.parse(line) as ControlAnswer
}

/** Codes of a socket that does not exist, or that a killed server left. */
const nobodyListens = new Set(["ENOENT", "ECONNREFUSED", "ENOTSOCK", "ENOTDIR"])

/** The line that is answered, empty where the connection ended without one; null where nobody listens. */
const answerTo = (path: string, line: string): Promise<string | null> =>
  new Promise((resolve, reject) => {
    let [text, isConnected] = ["", false]
    const socket = connect(path, () => {
      isConnected = true
      socket.write(line)
    })
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    socket.on("error", (cause: NodeJS.ErrnoException) => {
      if (isConnected) return resolve("")
      if (nobodyListens.has(cause.code ?? "")) return resolve(null)
      reject(new Error(`the control socket of the running server cannot be used: ${cause.message}`, { cause }))
    })
    socket.on("close", () => resolve(text.trimEnd()))
  })
