/** Which texts a store can hold as ids and keys, and how they are ordered. */

/**
 * Longest id, key, value or scope.
 *
 * - Unit: bytes of UTF-8. Two of them and their names must fit an index row of Postgres, which ends at 2,704 bytes.
 */
export const maxTextBytes = 1024

/**
 * Reports whether every store can hold this text as an id or a key: no U+0000 (Postgres has none), no lone surrogate
 * (UTF-8 has none), not too long.
 *
 * Reads answer "not there" for other text, since nothing can be stored under it.
 */
export const isStorable = (text: string): boolean =>
  !text.includes("\0") &&
  text.isWellFormed() &&
  (text.length * 3 <= maxTextBytes || new TextEncoder().encode(text).length <= maxTextBytes)

/**
 * Compares as the bytes of UTF-8 would: by code point, case-sensitive, nothing normalised. JavaScript's `<` puts U+FFFD
 * after emoji.
 */
export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Lifts surrogates (the halves of U+10000 and up) above the other code units. */
const rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)
