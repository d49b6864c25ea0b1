/** Which ids were seen: 128 bits each, exact, in 16 bytes and what is left free. A chain has one for each of its evaluations. */

/** Numbers of 32 bits in an id. */
const WORDS = 4
/** Tables that grow each by itself, so that never all of them are copied at once. A power of two. */
const TABLES = 64
/** Ids that a new table has room for. A power of two. */
const FIRST_ROOM = 16
/** Of the room so much may be taken. */
const MOST_TAKEN = 0.8

interface Table {
  words: Int32Array
  count: number
}

/** A set of digests. They are SHA-256's, so that nobody can make them lie close together. */
export class SeenIds {
  readonly #tables: ReadonlyArray<Table> = Array.from({ length: TABLES }, () => ({ words: new Int32Array(FIRST_ROOM * WORDS), count: 0 }))

  /** Adds the first 16 bytes; answers false where they were there. */
  add(digest: Uint8Array): boolean {
    const a = word(digest, 0)
    const table = this.#tables[a & (TABLES - 1)]!
    if ((table.count + 1) * WORDS > table.words.length * MOST_TAKEN) grow(table)
    if (!put(table.words, a, word(digest, 4), word(digest, 8), word(digest, 12))) return false
    table.count++
    return true
  }
}

const word = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)

/** Puts an id into the first free place from its own on; answers false where it is there. Four zeros are a free place, and no digest that anybody has. */
const put = (words: Int32Array, a: number, b: number, c: number, d: number): boolean => {
  const mask = words.length - 1
  for (let place = (b * WORDS) & mask;; place = (place + WORDS) & mask) {
    if (words[place] === a && words[place + 1] === b && words[place + 2] === c && words[place + 3] === d) return false
    if ((words[place]! | words[place + 1]! | words[place + 2]! | words[place + 3]!) !== 0) continue
    words[place] = a
    words[place + 1] = b
    words[place + 2] = c
    words[place + 3] = d
    return true
  }
}

const grow = (table: Table): void => {
  const { words } = table
  table.words = new Int32Array(words.length * 2)
  for (let place = 0; place < words.length; place += WORDS) {
    if ((words[place]! | words[place + 1]! | words[place + 2]! | words[place + 3]!) !== 0) put(table.words, words[place]!, words[place + 1]!, words[place + 2]!, words[place + 3]!)
  }
}
