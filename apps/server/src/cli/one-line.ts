/** Text of somebody else, for a terminal. */

/** The text with what ends a line, controls a terminal or turns text round as escapes: a file can forge no line. */
export const oneLine = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
