/** Lists the differences between the arguments of two actions. Pure. */
import type { ReviewDetail } from "@flyball/contract"

type Difference = NonNullable<ReviewDetail["differences"]>[number]

/** Differences that are listed. */
export const MAX_DIFFERENCES = 100

/** The differences that are listed, and how many more there are. */
export interface Differences {
  readonly listed: ReadonlyArray<Difference>
  readonly omitted: number
}

/**
 * The members of `now` that differ from `before`, by JSON pointer. Lists of one length are compared item by item, other
 * lists as a whole. Past {@link MAX_DIFFERENCES} they are counted.
 */
export const differencesOf = (before: unknown, now: unknown): Differences => {
  const listed: Array<Difference> = []
  let omitted = 0
  const compare = (path: string, a: unknown, b: unknown): void => {
    if (a === b) return
    if (isMap(a) && isMap(b)) {
      for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
        compare(`${path}/${escaped(name)}`, own(a, name), own(b, name))
    } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
      a.forEach((item: unknown, place) => compare(`${path}/${place}`, item, b[place]))
    else if (JSON.stringify(a) === JSON.stringify(b)) return
    else if (listed.length < MAX_DIFFERENCES) listed.push({ path, before: a ?? null, now: b ?? null })
    else omitted++
  }
  compare("", before, now)
  return { listed, omitted }
}

/** Arguments may have a member that every object inherits, such as `constructor`. */
const own = (of: { readonly [name: string]: unknown }, name: string): unknown =>
  Object.hasOwn(of, name) ? of[name] : undefined

const isMap = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")
