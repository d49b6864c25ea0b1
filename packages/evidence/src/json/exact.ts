/** Reads JSON value by value: for the rare input of which `JSON.parse` would lose something, and to say where an error is. */
import { utf8 } from "../bytes.ts"
import type { JsonPath, ReadReason, ReadResult } from "./read.ts"
import { RawJson } from "./value.ts"

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Stops a reading. Thrown and caught in this file only. */
class Stop {
  readonly reason: ReadReason

  constructor(reason: ReadReason) {
    this.reason = reason
  }
}

/** A reader of one text. The text came from well-formed UTF-8, so a slice of it gives back the bytes it was made from. */
export class ExactReader {
  readonly #text: string
  readonly #maxDepth: number
  readonly #keepRaw: (path: JsonPath) => boolean
  readonly #path: Array<string | number> = []
  #at = 0
  #depth = 0
  /** Inside a value that `keepRaw` selected. */
  #keeping = false
  /** That value has no exact form. */
  #inexact = false

  constructor(text: string, maxDepth: number, keepRaw: (path: JsonPath) => boolean) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#keepRaw = keepRaw
  }

  read(): ReadResult {
    try {
      this.#space()
      const value = this.#value()
      this.#space()
      if (this.#at < this.#text.length) throw new Stop("syntax")
      return { ok: true, value }
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop
      return { ok: false, reason: stop.reason, offset: utf8(this.#text.slice(0, this.#at)).length, path: [...this.#path] }
    }
  }

  #value(): unknown {
    if (this.#keeping || !this.#keepRaw(this.#path)) return this.#anyValue()
    const start = this.#at
    this.#keeping = true
    this.#inexact = false
    const value = this.#anyValue()
    this.#keeping = false
    return this.#inexact ? new RawJson(utf8(this.#text.slice(start, this.#at))) : value
  }

  #anyValue(): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object()
      case 0x5b:
        return this.#list()
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

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#open()
    if (this.#closes(0x7d)) return object
    for (;;) {
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
      const value = this.#value()
      // An assignment to __proto__ would set the prototype.
      if (name === "__proto__") Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
      else object[name] = value
      this.#path.pop()
      this.#space()
      if (this.#closes(0x7d)) return object
      this.#expect(0x2c)
      this.#space()
    }
  }

  #list(): Array<unknown> {
    const list: Array<unknown> = []
    this.#open()
    if (this.#closes(0x5d)) return list
    for (;;) {
      this.#path.push(list.length)
      list.push(this.#value())
      this.#path.pop()
      this.#space()
      if (this.#closes(0x5d)) return list
      this.#expect(0x2c)
      this.#space()
    }
  }

  #open(): void {
    if (this.#depth === this.#maxDepth) throw new Stop("depth")
    this.#depth++
    this.#at++
    this.#space()
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
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }
}

/** A number; the group is there when it is not written as an integer. */
const numberForm = /-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?[eE][+-]?[0-9]+|\.[0-9]+)?/y

const unescape = (quoted: string): string | null => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return null
  }
}
