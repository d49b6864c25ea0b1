/**
 * Which ids were seen, and a number for each: 128 bits and 32, exact, in 20 bytes and what is left free. A chain has
 * one for each of its evaluations.
 */

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
  /** The number of the id at each place. */
  numbers: Uint32Array
  count: number
}

/** A set of digests. They are SHA-256's, so that nobody can make them lie close together. */
export class SeenIds {
  readonly #tables: ReadonlyArray<Table> = Array.from({ length: TABLES }, () => ({
    words: new Int32Array(FIRST_ROOM * WORDS),
    numbers: new Uint32Array(FIRST_ROOM),
    count: 0
  }))

  /**
   * Adds the first 16 bytes; answers false where they were there, whose number stays.
   *
   * - Unit: `number` is below 2^32.
   */
  add(digest: Uint8Array, number = 0): boolean {
    const a = word(digest, 0)
    const table = this.#tables[a & (TABLES - 1)]!
    if ((table.count + 1) * WORDS > table.words.length * MOST_TAKEN) grow(table)
    const place = placeOf(table.words, a, word(digest, 4), word(digest, 8), word(digest, 12))
    if (isTaken(table.words, place)) return false
    put(table, place, a, word(digest, 4), word(digest, 8), word(digest, 12), number)
    table.count++
    return true
  }

  /** The number of the first 16 bytes; null where they were not added. */
  find(digest: Uint8Array): number | null {
    const a = word(digest, 0)
    const { numbers, words } = this.#tables[a & (TABLES - 1)]!
    const place = placeOf(words, a, word(digest, 4), word(digest, 8), word(digest, 12))
    return isTaken(words, place) ? numbers[place / WORDS]! : null
  }
}

const word = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)

/**
 * Where an id is, or the first free place from its own on. Four zeros are a free place, and no digest that anybody has.
 */
const placeOf = (words: Int32Array, a: number, b: number, c: number, d: number): number => {
  const mask = words.length - 1
  for (let place = (b * WORDS) & mask; ; place = (place + WORDS) & mask) {
    if (words[place] === a && words[place + 1] === b && words[place + 2] === c && words[place + 3] === d) return place
    if (!isTaken(words, place)) return place
  }
}

const isTaken = (words: Int32Array, place: number): boolean =>
  (words[place]! | words[place + 1]! | words[place + 2]! | words[place + 3]!) !== 0

const put = (
  { numbers, words }: Table,
  place: number,
  a: number,
  b: number,
  c: number,
  d: number,
  number: number
): void => {
  words[place] = a
  words[place + 1] = b
  words[place + 2] = c
  words[place + 3] = d
  numbers[place / WORDS] = number
}

const grow = (table: Table): void => {
  const { numbers, words } = table
  table.words = new Int32Array(words.length * 2)
  table.numbers = new Uint32Array(numbers.length * 2)
  for (let place = 0; place < words.length; place += WORDS) {
    if (!isTaken(words, place)) continue
    const [a, b, c, d] = [words[place]!, words[place + 1]!, words[place + 2]!, words[place + 3]!]
    put(table, placeOf(table.words, a, b, c, d), a, b, c, d, numbers[place / WORDS]!)
  }
}
