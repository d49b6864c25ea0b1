/** Reads a stream of server-sent events, and keeps the text of each so that it can be passed on as it came. */

/** One event. `text` is everything of it, with the blank line that ends it; `id` is null where it has none. */
export interface ServerEvent {
  readonly data: string
  readonly id: string | null
  readonly text: string
}

/** Longest event that is read. Unit: characters. */
const MAX_EVENT_CHARACTERS = 64 * 1_048_576

/**
 * The events of a stream. What follows the last blank line is dropped, as the standard says.
 *
 * - Fails: throws where an event is too long, or the stream is no UTF-8: what a decoder put in its place would pass for
 *   what the server said.
 */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let rest = ""
  let searched = 0
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    if (rest.length > MAX_EVENT_CHARACTERS) throw new RangeError("An event of the server is too long.")
    for (let end = endOf(rest, searched); end !== null; end = endOf(rest, 0)) {
      const text = rest.slice(0, end)
      rest = rest.slice(end)
      const data = fieldsOf(text, "data").join("\n")
      const id = fieldsOf(text, "id").at(-1) || null
      // One byte order mark is no part of a message, as in a body and in a line of stdio.
      yield data.startsWith("\ufeff")
        ? { data: data.slice(1), id, text: text.replace(/^(data: ?)\ufeff/m, "$1") }
        : { data, id, text }
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

const fieldsOf = (text: string, name: string): ReadonlyArray<string> =>
  text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^ /, ""))
