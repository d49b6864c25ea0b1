/** Reads a stream of server-sent events. Spec: HTML standard, "Server-sent events". */
import type { ClientClock } from "../clock.ts"

/** One event. */
export interface ServerSentEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Longest event that is kept. Unit: characters. A kill status has a few hundred. */
const MAX_EVENT_CHARS = 65_536

/**
 * How long a stream may send nothing. Unit: milliseconds. A server of ours sends a comment every five seconds; a
 * connection whose other end vanished says nothing for minutes.
 */
export const MAX_SILENCE_MS = 15_000

/**
 * The events of a body, in order. Comments are left out. Ends with the body.
 *
 * - Fails: where an event is too long, and where nothing came for {@link MAX_SILENCE_MS}.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  clock: ClientClock
): AsyncGenerator<ServerSentEvent, void, void> {
  const reader = body.getReader()
  let isSilent = false
  const endAtSilence = (): (() => void) =>
    clock.after(MAX_SILENCE_MS, () => {
      isSilent = true
      void reader.cancel().catch(() => undefined)
    })
  const decoder = new TextDecoder()
  let rest = ""
  let id: string | null = null
  let event = ""
  let data: Array<string> = []
  let chars = 0
  try {
    for (;;) {
      const cancel = endAtSilence()
      const { done, value } = await reader.read().finally(cancel)
      if (isSilent) throw new Error(`nothing came for ${MAX_SILENCE_MS} ms`)
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop()!
      if (rest.length > MAX_EVENT_CHARS) throw new Error("an event of the stream is too long")
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { id, event: event === "" ? "message" : event, data: data.join("\n") }
          event = ""
          data = []
          chars = 0
        } else if (!line.startsWith(":")) {
          const colon = line.indexOf(":")
          const name = colon < 0 ? line : line.slice(0, colon)
          const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
          if (name === "id") id = text
          if (name === "event") event = text
          if (name === "data") data.push(text)
          chars += text.length
          if (chars > MAX_EVENT_CHARS) throw new Error("an event of the stream is too long")
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
