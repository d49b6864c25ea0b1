/** Converts the input of a JavaScript host to JSON values. */

/** Members nested deeper than this are left as they are; capture refuses them anyway. */
const MAX_DEPTH = 64
/**
 * Values in one input, those of lists and objects counted: more than the three largest parts of a decision hold. One
 * object that stands in many places counts in each.
 */
const MAX_VALUES = 1_600_000

/**
 * The input cannot be read: it has no end, or is too large for anything that it could be meant
 * for.
 */
export class Unwalkable extends Error {
  override readonly name = "Unwalkable"
}

/**
 * A copy of what a caller hands in, as it is now, without members that are `undefined`: what the caller does to its
 * object afterwards is not seen.
 *
 * What is neither a list nor a plain object stays itself, and is refused further on.
 *
 * - Fails: throws {@link Unwalkable} for what contains itself, or holds more than {@link MAX_VALUES} values; and
 *   whatever a getter throws.
 */
export const takenDown = (value: unknown): unknown => new Walk().without(value)

/**
 * Leaves out members that are `undefined`, as `JSON.stringify` does, and changes nothing else.
 *
 * A host writes `{ run_id: run?.id }` and means "if there is one". Dates, NaN and the like stay, and are refused
 * further on: turning them into something
 * else would put into evidence what nobody said.
 *
 * - Fails: as {@link takenDown}.
 */
export const withoutUndefined = (value: unknown): unknown =>
  new Walk().holdsUndefined(value) ? new Walk().without(value) : value

/**
 * One way through an input. What is open is known, since what contains itself has no end, and two ways back into it
 * double at each turn.
 */
class Walk {
  readonly #open: Array<object> = []
  #values = 0

  #enter(value: object): void {
    if (this.#open.includes(value)) throw new Unwalkable("It contains itself. Pass a value that JSON can express.")
    this.#open.push(value)
  }

  #count(): void {
    if (++this.#values > MAX_VALUES) throw new Unwalkable(`It has more than ${MAX_VALUES} values. Pass fewer.`)
  }

  /** Checks before anything is made: mostly there is nothing to leave out. */
  holdsUndefined(value: unknown): boolean {
    this.#count()
    if (!isOpened(value) || this.#open.length === MAX_DEPTH) return false
    this.#enter(value)
    const found = Array.isArray(value) ? this.#listHolds(value) : this.#objectHolds(value)
    this.#open.pop()
    return found
  }

  #listHolds(list: ReadonlyArray<unknown>): boolean {
    for (let index = 0; index < list.length; index++) if (this.holdsUndefined(list[index])) return true
    return false
  }

  #objectHolds(object: object): boolean {
    for (const name of Object.keys(object)) {
      const member = (object as { readonly [name: string]: unknown })[name]
      if (member === undefined || this.holdsUndefined(member)) return true
    }
    return false
  }

  without(value: unknown): unknown {
    this.#count()
    if (!isOpened(value) || this.#open.length === MAX_DEPTH) return value
    this.#enter(value)
    const copy = Array.isArray(value)
      ? value.map((item) => this.without(item))
      : Object.fromEntries(
          Object.entries(value)
            .filter(([, member]) => member !== undefined)
            .map(([name, member]) => [name, this.without(member)])
        )
    this.#open.pop()
    return copy
  }
}

const isOpened = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
