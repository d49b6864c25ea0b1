/**
 * Cache of the last id in each table, for a writer: new ids begin with the time, so nearly all follow those that exist,
 * and need no look-up.
 */

/** Ids of this form are ordered alike here and in a table, whose order is that of bytes. */
const ordered = /^[\w-]+$/

/** The last ids of a table and of the rows that wait for it, by what they are ids of. */
export class LastIds {
  /** An id behind which the table has none. */
  readonly #stored = new Map<string, string>()
  /** The last of those that wait. */
  readonly #waiting = new Map<string, string>()

  /**
   * True when the table certainly has no such id. It says nothing of those that wait. `last` reads the table's last
   * one.
   */
  isBehindAll(of: string, id: string, last: () => string | null): boolean {
    let known = this.#stored.get(of)
    if (known === undefined) this.#stored.set(of, (known = last() ?? ""))
    return id > known && ordered.test(id) && (known === "" || ordered.test(known))
  }

  /** A row with this id waits. */
  wait(of: string, id: string): void {
    if (id > (this.#waiting.get(of) ?? "")) this.#waiting.set(of, id)
  }

  /** Marks the waiting rows as written to the table. */
  settle(): void {
    for (const [of, id] of this.#waiting) if (id > (this.#stored.get(of) ?? id)) this.#stored.set(of, id)
    this.#waiting.clear()
  }

  /** The table was rolled back. */
  forget(): void {
    this.#stored.clear()
    this.#waiting.clear()
  }
}
