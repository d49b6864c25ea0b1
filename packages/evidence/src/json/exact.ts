/**
 * Reads JSON value by value: for the rare input of which `JSON.parse` would lose something, for the large one that it
 * would read in one go, and to say where an error is.
 */
import { utf8 } from "../bytes.ts"
import type { Slices } from "../slices.ts"
import type { BoundedReason, JsonPath, ReadBounds, ReadResult } from "./read.ts"
import { RawJson } from "./value.ts"

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Members and items of one slice, about a millisecond's work. */
const SLICE_PLACES = 1_000
/** Characters of one slice. */
const SLICE_CHARACTERS = 262_144

/** Stops a reading. Thrown and caught in this file only. */
class Stop {
  readonly reason: BoundedReason

  constructor(reason: BoundedReason) {
    this.reason = reason
  }
}

/**
 * A reader of one text. The text came from well-formed UTF-8, so a slice of it gives back the bytes it was made from.
 */
export class ExactReader {
  readonly #text: string
  readonly #maxDepth: number
  readonly #keepRaw: (path: JsonPath) => boolean
  readonly #bounds: ReadBounds
  readonly #path: Array<string | number> = []
  #at = 0
  #depth = 0
  /** Members, items and containers that were read. */
  #places = 0
  #sliceEndPlaces = SLICE_PLACES
  #sliceEndAt = SLICE_CHARACTERS
  /** Inside a value that `keepRaw` selected. */
  #keeping = false
  /** That value has no exact form. */
  #inexact = false

  constructor(text: string, maxDepth: number, keepRaw: (path: JsonPath) => boolean, bounds: ReadBounds = {}) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#keepRaw = keepRaw
    this.#bounds = bounds
  }

  *read(): Slices<ReadResult<BoundedReason>> {
    try {
      this.#space()
      const value = yield* this.#value()
      this.#space()
      if (this.#at < this.#text.length) throw new Stop("syntax")
      return { ok: true, value }
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop
      return {
        ok: false,
        reason: stop.reason,
        offset: utf8(this.#text.slice(0, this.#at)).length,
        path: [...this.#path]
      }
    }
  }

  *#value(): Slices<unknown> {
    if (this.#keeping || !this.#keepRaw(this.#path)) return yield* this.#anyValue()
    const start = this.#at
    this.#keeping = true
    this.#inexact = false
    const value = yield* this.#anyValue()
    this.#keeping = false
    return this.#inexact ? new RawJson(utf8(this.#text.slice(start, this.#at))) : value
  }

  *#anyValue(): Slices<unknown> {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return yield* this.#object()
      case 0x5b:
        return yield* this.#list()
      default:
        return this.#leaf()
    }
  }

  /** A value of a container. Most are leaves, for which no generator need be made. */
  #isLeafNext(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    return this.#keeping && code !== 0x7b && code !== 0x5b
  }

  #leaf(): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string()
      case 0x74:
        return this.#word("true", true)
      case 0x66:
        return this.#word("false", false)
      case 0x6e:
        return this.#word("null", null)
      default:
        return this.#number()
    }
  }

  *#object(): Slices<Record<string, unknown>> {
    const object: Record<string, unknown> = {}
    const { maxKeptMembers, maxMembers } = this.#bounds
    let room = (this.#keeping ? maxKeptMembers : maxMembers) ?? Number.POSITIVE_INFINITY
    this.#open()
    if (this.#closes(0x7d)) return object
    for (;;) {
      if (--room < 0) throw new Stop("members")
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw new Stop("syntax")
      const start = this.#at
      const name = this.#string()
      this.#path.push(name)
      if (Object.hasOwn(object, name)) {
        if (!this.#keeping) {
          this.#at = start
          throw new Stop("duplicate")
        }
        this.#inexact = true
      }
      this.#space()
      this.#expect(0x3a)
      this.#space()
      const value = this.#isLeafNext() ? this.#leaf() : yield* this.#value()
      // An assignment to __proto__ would set the prototype.
      if (name === "__proto__")
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
      else object[name] = value
      this.#path.pop()
      this.#space()
      if (this.#closes(0x7d)) return object
      this.#comma()
      if (this.#isSliceOver()) yield
    }
  }

  *#list(): Slices<Array<unknown>> {
    const list: Array<unknown> = []
    this.#open()
    if (this.#closes(0x5d)) return list
    for (;;) {
      this.#path.push(list.length)
      list.push(this.#isLeafNext() ? this.#leaf() : yield* this.#value())
      this.#path.pop()
      this.#space()
      if (this.#closes(0x5d)) return list
      this.#comma()
      if (this.#isSliceOver()) yield
    }
  }

  #open(): void {
    if (this.#depth === this.#maxDepth) throw new Stop("depth")
    this.#place()
    this.#depth++
    this.#at++
    this.#space()
  }

  #comma(): void {
    this.#expect(0x2c)
    this.#place()
    this.#space()
  }

  #place(): void {
    if (++this.#places > (this.#bounds.maxPlaces ?? Number.POSITIVE_INFINITY)) throw new Stop("places")
  }

  #isSliceOver(): boolean {
    if (this.#places < this.#sliceEndPlaces && this.#at < this.#sliceEndAt) return false
    this.#sliceEndPlaces = this.#places + SLICE_PLACES
    this.#sliceEndAt = this.#at + SLICE_CHARACTERS
    return true
  }

  #closes(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    this.#depth--
    return true
  }

  #expect(code: number): void {
    if (this.#text.charCodeAt(this.#at) !== code) throw new Stop("syntax")
    this.#at++
  }

  #string(): string {
    const text = this.#text
    const start = this.#at
    let escaped = false
    let at = start + 1
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) break
      if (code < 0x20) {
        this.#at = at
        throw new Stop("syntax")
      }
      if (code === BACKSLASH) {
        escaped = true
        at++
      }
    }
    if (at >= text.length) {
      this.#at = text.length
      throw new Stop("syntax")
    }
    const value = escaped ? unescape(text.slice(start, at + 1)) : text.slice(start + 1, at)
    if (value === null) throw new Stop("syntax")
    if (escaped && !value.isWellFormed()) this.#inexact = true
    this.#at = at + 1
    return value
  }

  #number(): number {
    numberForm.lastIndex = this.#at
    const found = numberForm.exec(this.#text)
    if (found === null) throw new Stop("syntax")
    const value = Number(found[0])
    if (!Number.isFinite(value) || (found[1] === undefined && !Number.isSafeInteger(value))) this.#inexact = true
    this.#at = numberForm.lastIndex
    return value
  }

  #word<A>(word: string, value: A): A {
    if (!this.#text.startsWith(word, this.#at)) throw new Stop("syntax")
    this.#at += word.length
    return value
  }

  #space(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return
    space.lastIndex = this.#at
    space.test(this.#text)
    this.#at = space.lastIndex
  }
}

const space = /[ \n\r\t]*/y

/** A number; the group is there when it is not written as an integer. */
const numberForm = /-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?[eE][+-]?[0-9]+|\.[0-9]+)?/y

const unescape = (quoted: string): string | null => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return null
  }
}
