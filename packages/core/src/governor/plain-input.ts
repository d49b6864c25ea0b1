/** What a JavaScript host hands in, made into what JSON can say. */

/** Members nested deeper than this are left as they are; capture refuses them anyway. */
const MAX_DEPTH = 64

/**
 * Leaves out members that are `undefined`, as `JSON.stringify` does, and changes nothing else.
 *
 * A host writes `{ run_id: run?.id }` and means "if there is one". Dates, NaN and the like stay, and are refused further on: turning them into something
 * else would put into evidence what nobody said.
 */
export const withoutUndefined = (value: unknown, room = MAX_DEPTH): unknown => {
  if (typeof value !== "object" || value === null || room === 0) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutUndefined(item, room - 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const entries = Object.entries(value)
  const kept = entries.filter(([, member]) => member !== undefined).map(([name, member]) => [name, withoutUndefined(member, room - 1)] as const)
  return kept.length === entries.length && kept.every(([, member], index) => member === entries[index]![1]) ? value : Object.fromEntries(kept)
}
