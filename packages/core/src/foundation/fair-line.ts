/** A waiting line in which keys take turns, by the weight of what they bring. Pure. */

interface Entry<A> {
  readonly item: A
  /** Where its weight begins and ends on the line's own scale; the line is in the order of the ends. */
  readonly startsAt: number
  readonly endsAt: number
}

/**
 * Orders items by weight and key (start-time fair queueing): one key's heavy or many items delay another key's next
 * item by at most one item of each key.
 *
 * - Unit: weights are positive, in any one unit (records, bytes).
 */
export class FairLine<A> {
  readonly #entries: Array<Entry<A>> = []
  /** Where the last item of each key ends. */
  readonly #ends = new Map<string, number>()
  #servedTo = 0

  get size(): number {
    return this.#entries.length
  }

  /** The item whose turn is next, or of those that `may` go. */
  first(may: (item: A) => boolean = () => true): A | undefined {
    return this.#entries.find(({ item }) => may(item))?.item
  }

  /** Adds an item. With `returning` it goes before all that have not had a turn yet: it had one, and lost it. */
  add(item: A, key: string, weight: number, returning = false): void {
    const startsAt = Math.max(this.#servedTo, this.#ends.get(key) ?? 0)
    const entry = returning
      ? { item, startsAt: this.#servedTo, endsAt: Number.NEGATIVE_INFINITY }
      : { item, startsAt, endsAt: startsAt + weight }
    if (!returning) this.#ends.set(key, entry.endsAt)
    let at = this.#entries.length
    while (at > 0 && this.#entries[at - 1]!.endsAt > entry.endsAt) at--
    this.#entries.splice(at, 0, entry)
  }

  /** Takes an item for its turn; false where it does not wait. */
  take(item: A): boolean {
    const entry = this.#takeOut(item)
    if (entry === undefined) return false
    this.#servedTo = this.#entries.length === 0 ? 0 : Math.max(this.#servedTo, entry.startsAt)
    return true
  }

  /** Weighs what waits. */
  sum(of: (item: A) => number): number {
    return this.#entries.reduce((sum, { item }) => sum + of(item), 0)
  }

  /** Takes an item out without a turn; false where it does not wait. */
  remove(item: A): boolean {
    return this.#takeOut(item) !== undefined
  }

  #takeOut(item: A): Entry<A> | undefined {
    const at = this.#entries.findIndex((entry) => entry.item === item)
    const [entry] = at < 0 ? [] : this.#entries.splice(at, 1)
    if (this.#entries.length > 0) return entry
    // Nobody owes anybody a turn in an empty line.
    this.#ends.clear()
    this.#servedTo = 0
    return entry
  }
}
