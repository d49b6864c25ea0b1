/** Reads server-sent events as clients do, and keeps the text of each as it came. */

/** One event. `raw` is all of its text, up to and with the empty line that ends it. */
export interface SseEvent {
  readonly raw: string
  /** The lines of `data` joined; empty for a comment. */
  readonly data: string
}

/** Characters of one event that are kept. */
const MAX_EVENT = 16 * 1_048_576

/** Splits a stream into events. Lines end with LF, CR LF or CR, in any mixture, as the standard says. */
export class SseReader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #rest = ""
  /** Where the search for the next line begins in the rest. */
  #at = 0
  /** How far that search has come. */
  #scanned = 0
  #data: Array<string> = []

  /** Takes the next bytes; answers the events that they complete. Throws where one is too long. */
  push(bytes: Uint8Array): ReadonlyArray<SseEvent> {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    const events: Array<SseEvent> = []
    for (let end = this.#lineEnd(); end !== null; end = this.#lineEnd()) {
      const line = this.#rest.slice(this.#at, end.from)
      this.#at = end.to
      if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5))
      else if (line === "data") this.#data.push("")
      if (line !== "") continue
      events.push({ raw: this.#rest.slice(0, this.#at), data: this.#data.join("\n") })
      this.#rest = this.#rest.slice(this.#at)
      this.#at = 0
      this.#scanned = 0
      this.#data = []
    }
    if (this.#rest.length > MAX_EVENT) throw new Error("an event is too long")
    return events
  }

  /** Takes the rest at the end of the stream: an event without its empty line, which some clients take. */
  end(): SseEvent | null {
    this.#rest += this.#decoder.decode()
    const line = this.#rest.slice(this.#at)
    if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5))
    return this.#rest === "" ? null : { raw: this.#rest, data: this.#data.join("\n") }
  }

  #lineEnd(): { readonly from: number; readonly to: number } | null {
    for (let from = Math.max(this.#at, this.#scanned); from < this.#rest.length; from++) {
      this.#scanned = from
      const code = this.#rest.charCodeAt(from)
      if (code === 10) return { from, to: from + 1 }
      if (code !== 13) continue
      // A line feed may be the first of the next bytes.
      if (from + 1 === this.#rest.length) return null
      return { from, to: this.#rest.charCodeAt(from + 1) === 10 ? from + 2 : from + 1 }
    }
    this.#scanned = this.#rest.length
    return null
  }
}

/** The text of an event. */
export const sseText = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
