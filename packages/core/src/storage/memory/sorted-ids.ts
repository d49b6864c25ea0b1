/** A set of ids in byte order. Ids sort by time, so nearly every insertion is at the end. */
import { compareText } from "../../foundation/text.ts"

/** Ids in order, added one by one. */
export class SortedIds {
  readonly #ids: Array<string> = []

  /** Adds an id that does not exist yet. */
  add(id: string): void {
    this.#ids.splice(this.#after(id), 0, id)
  }

  /** Takes out an id that is there. */
  remove(id: string): void {
    this.#ids.splice(this.#after(id) - 1, 1)
  }

  /** Up to `limit` ids after `after`, exclusive. */
  page(after: string | undefined, limit: number | undefined): ReadonlyArray<string> {
    const start = after === undefined ? 0 : this.#after(after)
    return this.#ids.slice(start, limit === undefined ? undefined : start + limit)
  }

  /** Up to `limit` ids between two, both exclusive; from the last one on where `isDescending`. */
  between(
    after: string | undefined,
    before: string | undefined,
    limit: number,
    isDescending: boolean
  ): ReadonlyArray<string> {
    const start = after === undefined ? 0 : this.#after(after)
    let end = before === undefined ? this.#ids.length : this.#after(before)
    if (end > start && this.#ids[end - 1] === before) end -= 1
    return isDescending
      ? this.#ids.slice(Math.max(start, end - limit), Math.max(start, end)).toReversed()
      : this.#ids.slice(start, Math.min(end, start + limit))
  }

  /** The position behind `id`, there or not. */
  #after(id: string): number {
    let low = 0
    let high = this.#ids.length
    if (high > 0 && compareText(this.#ids[high - 1]!, id) <= 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareText(this.#ids[middle]!, id) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
