/** Collections that a hostile pack cannot make grow. */
import { fromUtf8, type JsonValue, MAX_CANONICAL_DEPTH, readJson, utf8 } from "@flyball/evidence"
import type { PartContent } from "@flyball/rules"
import { type Counted, type Listed, MAX_LISTED, MAX_TRACKED } from "./summary.ts"

/** Counts values; further ones than {@link MAX_VALUES} are counted as `other`. */
export class Counter {
  readonly #counts = new Map<string, number>()

  add(value: string): void {
    const key = this.#counts.has(value) || this.#counts.size < MAX_VALUES ? value : "other"
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  counted(): Counted {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Keeps the first entries and counts the others. */
export class FirstOf<A> {
  readonly #first: Array<A> = []
  #count = 0

  /** `make` runs only for an entry that is kept. */
  add(make: () => A): void {
    if (this.#count++ < MAX_LISTED) this.#first.push(make())
  }

  listed(): Listed<A> {
    return { listed: this.#first, more: this.#count - this.#first.length }
  }
}

/** A map that takes no new key above {@link MAX_TRACKED}. */
export class BoundedMap<V> {
  readonly #map = new Map<string, V>()

  get(key: string): V | undefined {
    return this.#map.get(key)
  }

  /** False where there was no room. */
  set(key: string, value: V): boolean {
    if (!this.#map.has(key) && this.#map.size >= MAX_TRACKED) return false
    this.#map.set(key, value)
    return true
  }

  values(): ReadonlyArray<V> {
    return [...this.#map.values()]
  }
}

/** A map that forgets its oldest keys above {@link MAX_RECENT}. */
export class Recent<V> {
  readonly #map = new Map<string, V>()

  get(key: string): V | undefined {
    return this.#map.get(key)
  }

  set(key: string, value: V): void {
    this.#map.delete(key)
    this.#map.set(key, value)
    if (this.#map.size > MAX_RECENT) this.#map.delete(this.#map.keys().next().value!)
  }
}

/** A text of a record or part, cut to {@link MAX_TEXT} characters; `unknown` for what is none. */
export const textOf = (value: unknown): string =>
  typeof value === "string" && value !== ""
    ? clip(value)
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "unknown"

/** The same; null for what is none. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === "string" && value.trim() !== "" ? clip(value) : null

/** A copy: a slice would keep the whole text in memory. */
const clip = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${fromUtf8(utf8(text.slice(0, MAX_TEXT).toWellFormed())) ?? ""}…`

/** The number that a body states; 0 for what is none. */
export const numberOf = (value: JsonValue | undefined): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0

/** The JSON value of a disclosed part; undefined for one that is not disclosed or cannot be read. */
export const readPart = (part: PartContent | undefined): unknown => {
  if (part?.state !== "present") return undefined
  const read = readJson(part.bytes, { maxBytes: MAX_READ_BYTES, maxDepth: MAX_CANONICAL_DEPTH })
  return read.ok ? read.value : undefined
}

/** A member of a JSON object; undefined for what is none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as { readonly [name: string]: unknown })[name]
    : undefined

const MAX_VALUES = 32
/** Open reviews, drafts and keys of a large deployment; a few megabytes. */
const MAX_RECENT = 10_000
const MAX_TEXT = 200
const MAX_READ_BYTES = 1024 * 1024
