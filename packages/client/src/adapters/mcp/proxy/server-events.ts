/** Reads a stream of server-sent events, and keeps the text of each so that it can be passed on as it came. */

/** One event. `text` is everything of it, with the blank line that ends it. */
export interface ServerEvent {
  readonly data: string
  readonly text: string
}

/** Longest event that is read. Unit: characters. */
const MAX_EVENT_CHARACTERS = 64 * 1_048_576

/** The events of a stream. What follows the last blank line is dropped, as the standard says. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let rest = ""
  let searched = 0
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    if (rest.length > MAX_EVENT_CHARACTERS) throw new RangeError("An event of the server is too long.")
    for (let end = endOf(rest, searched); end !== null; end = endOf(rest, 0)) {
      const text = rest.slice(0, end)
      rest = rest.slice(end)
      yield { data: dataOf(text), text }
    }
    // The end of an event has up to four characters, and three of them may be there.
    searched = Math.max(0, rest.length - 3)
  }
}

/** Where the first event ends; null where it is not whole. A `\r` at the very end may be half of a line's end. */
const endOf = (text: string, from: number): number | null => {
  const pattern = /(\r\n|\n|\r(?!\n|$))(\r\n|\n|\r(?!\n|$))/g
  pattern.lastIndex = from
  return pattern.exec(text) === null ? null : pattern.lastIndex
}

const dataOf = (text: string): string =>
  text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n")
