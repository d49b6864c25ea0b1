/**
 * Text that is safe to print. What a pack, a note or a file name says may otherwise steer a terminal, or change the
 * order in which a line is read.
 */

/**
 * Control characters (C0, DEL, C1), format characters (bidi among them), line and paragraph separators, and what has no
 * meaning of its own.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu

/** One line: every such character as `\u` and four hex digits for each of its UTF-16 code units. */
export const printable = (text: string): string => text.replace(UNSAFE, escaped)

/** Several lines: newlines stay. JSON says the same as before, since such characters stand in its strings alone. */
export const printableLines = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === "\n" ? character : escaped(character)))

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`
  ).join("")
