/**
 * The program of a child that reads documents: bytes come by message, positioned text goes back by message. It is
 * started without the right to read other files than its own code, to write, or to start a process.
 */
import type { ExtractionFailure } from "@flyball/rules"
import type { Said } from "../protocol.ts"
import { formatOf, readFormat } from "./formats.ts"
import { Unreadable, Writer } from "./writer.ts"

const parts: Array<Uint8Array> = []

process.on("message", (said: Said) => {
  if ("part" in said) parts.push(said.part)
  else void read(Buffer.concat(parts.splice(0)), said.read)
})
process.on("disconnect", () => process.exit(0))
// An engine that is attacked may throw in a callback of its own: the document is lost, and the child with it.
process.on("uncaughtException", () => process.exit(1))
process.on("unhandledRejection", () => {})

const send = (heard: object): void => void process.send!(heard)

// Where /proc is not, the host reads here how much memory is used.
if (process.platform !== "linux") setInterval(() => send({ resident: process.memoryUsage.rss() }), 10).unref()

const read = async (bytes: Uint8Array, mediaType: string): Promise<void> => {
  try {
    const writer = new Writer(send)
    const copy = new Uint8Array(bytes)
    await readFormat(formatOf(copy, mediaType), copy, writer)
    writer.end()
  } catch (cause) {
    send({ failed: failureOf(cause) })
  }
}

const failureOf = (cause: unknown): ExtractionFailure => {
  if (cause instanceof Unreadable) return cause.code
  const name = cause instanceof Error ? cause.name : ""
  if (name === "PasswordException") return "encrypted"
  if (name === "RangeError" && /allocation|array length|string length/i.test((cause as Error).message)) {
    return "too_much_memory"
  }
  return "malformed"
}
