/** What a JavaScript host hands in, made into what JSON can say. */

/** Members nested deeper than this are left as they are; capture refuses them anyway. */
const MAX_DEPTH = 64

/**
 * A copy of what a caller hands in, as it is now, without members that are `undefined`: what the caller does to its object afterwards is not seen.
 *
 * What is neither a list nor a plain object stays itself, and is refused further on.
 */
export const takenDown = (value: unknown): unknown => without(value, MAX_DEPTH)

/**
 * Leaves out members that are `undefined`, as `JSON.stringify` does, and changes nothing else.
 *
 * A host writes `{ run_id: run?.id }` and means "if there is one". Dates, NaN and the like stay, and are refused further on: turning them into something
 * else would put into evidence what nobody said.
 */
export const withoutUndefined = (value: unknown, room = MAX_DEPTH): unknown => holdsUndefined(value, room) ? without(value, room) : value

/** Looks before anything is made: mostly there is nothing to leave out. */
const holdsUndefined = (value: unknown, room: number): boolean => {
  if (typeof value !== "object" || value === null || room === 0) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (holdsUndefined(value[index], room - 1)) return true
    return false
  }
  if (!isPlain(value)) return false
  for (const name of Object.keys(value)) {
    const member = (value as { readonly [name: string]: unknown })[name]
    if (member === undefined || holdsUndefined(member, room - 1)) return true
  }
  return false
}

const without = (value: unknown, room: number): unknown => {
  if (typeof value !== "object" || value === null || room === 0) return value
  if (Array.isArray(value)) return value.map((item) => without(item, room - 1))
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined).map(([name, member]) => [name, without(member, room - 1)]))
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
