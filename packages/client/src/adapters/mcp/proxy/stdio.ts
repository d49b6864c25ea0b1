/** Governs a child process that speaks MCP on its streams. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import {
  errorResponse,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcMessage,
  PARSE_ERROR,
  passesProxy,
  readMessage
} from "../json-rpc.ts"
import { inexactness } from "../json-text.ts"
import { mediate } from "../mediator.ts"
import { limitWaiting, type WaitingLimit } from "../waiting-limit.ts"
import { drained } from "./drained.ts"
import { isBlank, jsonOf, splitLines, textOf } from "./lines.ts"
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
  readonly waitingLimit?: WaitingLimit | undefined
  /** True for a method that passes and makes no tool act. Left out, those of MCP pass. */
  readonly passes?: ((method: string) => boolean) | undefined
  /** Is given what passes a signal on to the child. */
  readonly onSignals: (forward: (signal: NodeJS.Signals) => void) => void
  /** Time for the child to end once its client has. Unit: milliseconds. */
  readonly graceMs?: { readonly toEnd: number; readonly toKill: number }
}

/** How the child ended. */
export type Ended = { readonly code: number } | { readonly signal: NodeJS.Signals }

/** Default time after the client's end of input until the child gets SIGTERM, and then SIGKILL. Unit: milliseconds. */
const END_GRACE_MS = 10_000
const KILL_GRACE_MS = 5_000

/** Variables of ours that a governed server has no business with. */
const ours = /^FLYBALL_/i

/** Runs a command, and resolves when it has ended and everything about it is witnessed. */
export const governChild = async (options: StdioOptions): Promise<Ended> => {
  const { args, command, graceMs = { toEnd: END_GRACE_MS, toKill: KILL_GRACE_MS } } = options
  const { input, log, output, session } = options
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
  // A child that closed its input ends by its own end.
  child.stdin.on("error", () => undefined)

  const toClient = (message: JsonRpcMessage, text: string | null = null): void =>
    void output.write(`${text ?? lineOf(message)}\n`)
  const mediator = mediate({
    calls: session.calls,
    waitingLimit: options.waitingLimit ?? limitWaiting(),
    toClient,
    passes: options.passes ?? passesProxy(),
    onDropped: (reason) => log(`the server sent what is no MCP message; it was dropped: ${reason}`),
    toServer: async (message) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  })

  /** Messages of the client that are neither passed on nor answered yet. */
  const underWay = new Set<Promise<void>>()
  const pass = (value: unknown, bytes: number, isExact: boolean): void => {
    const one = mediator
      .fromClient(value, undefined, bytes, isExact)
      .catch((cause: unknown) => {
        log(String(cause))
        const read = readMessage(value)
        if (read.ok && isRequest(read.message))
          toClient(errorResponse(read.message.id, INTERNAL_ERROR, "The message could not be passed on."))
      })
      .finally(() => underWay.delete(one))
    underWay.add(one)
  }

  const fromClient = async (): Promise<void> => {
    const lines = splitLines()
    for await (const piece of input as AsyncIterable<Uint8Array>) {
      for (const line of lines(piece)) {
        if (line === null) toClient(errorResponse(null, INVALID_REQUEST, "The message is too long."))
        else if (!isBlank(line)) {
          const text = textOf(line)
          const value = jsonOf(text)
          if (value === undefined) toClient(errorResponse(null, PARSE_ERROR, "The message is not JSON."))
          else pass(value, line.length, inexactness(text!, false) === null)
        }
      }
      await drained(child.stdin)
    }
  }

  const fromServer = async (): Promise<void> => {
    const lines = splitLines()
    for await (const piece of child.stdout as AsyncIterable<Uint8Array>) {
      for (const line of lines(piece)) {
        if (line === null) log("the server sent a message that is too long; it was dropped")
        else {
          // What the server says is passed on as it came: a number keeps its digits.
          const text = textOf(line)
          if (mediator.fromServer(jsonOf(text), text)) output.write(`${text}\n`)
        }
      }
      await drained(output)
    }
  }

  let timer: NodeJS.Timeout | undefined
  /** The client sends no more. The child is given what it sent before, its end of input, and then time to end. */
  const leave = async (): Promise<void> => {
    timer = setTimeout(() => {
      child.kill("SIGTERM")
      timer = setTimeout(() => child.kill("SIGKILL"), graceMs.toKill)
    }, graceMs.toEnd)
    await Promise.all(underWay)
    child.stdin.end()
  }
  void fromClient()
    .catch((cause: unknown) => log(String(cause)))
    .then(leave)
  // A client that reads no more has gone: what waits for it never begins.
  output.on("error", () => void mediator.end("The client has gone."))
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

/** The JSON of a message for the client; an error in its place where it is nested too deeply to be written. */
const lineOf = (message: JsonRpcMessage): string => {
  try {
    return JSON.stringify(message)
  } catch (cause) {
    const id = "id" in message ? message.id : null
    return JSON.stringify(errorResponse(id, INTERNAL_ERROR, `The answer could not be passed on: ${String(cause)}`))
  }
}
