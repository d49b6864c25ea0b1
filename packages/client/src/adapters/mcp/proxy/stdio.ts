/** Governs a child process that speaks MCP on its streams. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { errorResponse, INVALID_REQUEST, type JsonRpcMessage, PARSE_ERROR } from "../json-rpc.ts"
import { mediate } from "../mediator.ts"
import { isBlank, jsonOfLine, splitLines } from "./lines.ts"
import type { Session } from "./session.ts"

/** Options of a proxy on stdio. */
export interface StdioOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: { readonly [name: string]: string | undefined }
  readonly session: Session
  readonly input: Readable
  readonly output: Writable
  readonly log: (line: string) => void
  /** Is given what passes a signal on to the child. */
  readonly onSignals: (forward: (signal: NodeJS.Signals) => void) => void
}

/** How the child ended. */
export type Ended = { readonly code: number } | { readonly signal: NodeJS.Signals }

/** Time after the client's end of input until the child gets SIGTERM, and then SIGKILL. Unit: milliseconds. */
const END_GRACE_MS = 10_000
const KILL_GRACE_MS = 5_000

/** Variables of ours that a governed server has no business with. */
const ours = /^FLYBALL_/i

/** Runs a command, and resolves when it has ended and everything about it is witnessed. */
export const governChild = async (options: StdioOptions): Promise<Ended> => {
  const { args, command, input, log, output, session } = options
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !ours.test(name)))
  const child = spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"], env })
  const started = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    child.once("spawn", () => resolve(null))
    child.once("error", resolve)
  })
  if (started !== null) {
    log(`${command} could not be started: ${started.message}`)
    return { code: started.code === "ENOENT" ? 127 : 126 }
  }
  options.onSignals((signal) => void child.kill(signal))
  // A child that closed its input, or a client that closed its output, ends by its own end.
  for (const stream of [child.stdin, output]) stream.on("error", () => undefined)

  const toClient = (message: JsonRpcMessage): void => void output.write(`${JSON.stringify(message)}\n`)
  const mediator = mediate({
    calls: session.calls,
    toClient,
    toServer: async (message) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  })

  const fromClient = async (): Promise<void> => {
    const lines = splitLines()
    for await (const piece of input as AsyncIterable<Uint8Array>) {
      for (const line of lines(piece)) {
        if (line === null) toClient(errorResponse(null, INVALID_REQUEST, "The message is too long."))
        else if (!isBlank(line)) {
          const value = jsonOfLine(line)
          if (value === undefined) toClient(errorResponse(null, PARSE_ERROR, "The message is not JSON."))
          else mediator.fromClient(value).catch((cause: unknown) => log(String(cause)))
        }
      }
      await drained(child.stdin)
    }
    child.stdin.end()
  }

  const fromServer = async (): Promise<void> => {
    const lines = splitLines()
    for await (const piece of child.stdout as AsyncIterable<Uint8Array>) {
      for (const line of lines(piece)) {
        if (line === null) log("the server sent a message that is too long; it was dropped")
        // What the server says is passed on as it came: a number keeps its digits.
        else if (mediator.fromServer(jsonOfLine(line))) output.write(Buffer.concat([line, newline]))
      }
      await drained(output)
    }
  }

  let timer: NodeJS.Timeout | undefined
  void fromClient()
    .catch((cause: unknown) => log(String(cause)))
    .then(() => {
      timer = setTimeout(() => {
        child.kill("SIGTERM")
        timer = setTimeout(() => child.kill("SIGKILL"), KILL_GRACE_MS)
      }, END_GRACE_MS)
    })
  const reading = fromServer().catch((cause: unknown) => log(String(cause)))
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  // Something that the child started may hold its output open: what is there is read, and no more is waited for.
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 500).unref())])
  await mediator.end("The tool server ended.")
  await session.close()
  await drained(output)
  return signal === null ? { code: code ?? 1 } : { signal }
}

const newline = Buffer.from("\n")

const drained = async (stream: Writable): Promise<void> => {
  if (!stream.writableNeedDrain || stream.destroyed) return
  await Promise.race([once(stream, "drain"), once(stream, "close")]).catch(() => undefined)
}
