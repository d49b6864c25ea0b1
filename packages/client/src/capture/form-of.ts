/** Writes any value as text: its RFC 8785 form, or the nearest text that a digest can name it by. */
import { toHex } from "@flyball/evidence"
import { type InexactReason, ReceivedJson } from "./received-json.ts"

/**
 * Why a value cannot be recorded as it is. `no_json`: a function, a number that is none, a map, an error, a circle, a
 * member that cannot be read. `inexact_integer`: beyond 2^53, so that it may have been rounded before it came here.
 */
export type WithheldReason = "too_large" | "too_deep" | "no_json" | "lone_surrogate" | "inexact_integer" | InexactReason

/** Form of a value. `reason`: why `text` is not its RFC 8785 form, or may not be recorded; null: it is, and may. */
export interface ValueForm {
  readonly text: string
  readonly reason: WithheldReason | null
  /** False where the value is longer than what is read of it; `text` is then its beginning. */
  readonly isWhole: boolean
}

/** Most containers that may be open at once. The service takes 64, of which a batch of decisions has three. */
const MAX_DEPTH = 60

/** Most of a value that is read; a single text may be longer. Unit: UTF-16 units of its form. */
const MAX_FORM_CHARS = 16 * 1_048_576

/** A container that is being written. `names`: of its members; null: it is a list. */
interface Frame {
  readonly of: object
  readonly names: ReadonlyArray<string> | null
  readonly items: ArrayLike<unknown> | { readonly [name: string]: unknown }
  readonly length: number
  at: number
  separator: string
}

/**
 * The form of any value. Never throws and always ends.
 *
 * As in `JSON.stringify`, `toJSON` speaks for a value, and members that are `undefined`, functions or symbols are left
 * out. A bigint is the text of its digits. What has no JSON is written as its type and content.
 */
export const formOf = (value: unknown): ValueForm => {
  const writer = new FormWriter()
  writer.write(value)
  return writer.form()
}

class FormWriter {
  readonly #pieces: Array<string> = []
  readonly #frames: Array<Frame> = []
  /** Containers that are open: one that is met again contains itself. */
  readonly #open = new Set<object>()
  #chars = 0
  #reason: WithheldReason | null = null

  write(value: unknown): void {
    this.#try(() => this.#value(value))
    for (let frame = this.#frames.at(-1); frame !== undefined && this.#isWhole(); frame = this.#frames.at(-1)) {
      if (frame.at < frame.length) this.#next(frame)
      else this.#leave(frame)
    }
  }

  form(): ValueForm {
    const isWhole = this.#frames.length === 0
    return { text: this.#pieces.join(""), reason: this.#reason ?? (isWhole ? null : "too_large"), isWhole }
  }

  #isWhole = (): boolean => this.#chars <= MAX_FORM_CHARS

  #put(piece: string): void {
    this.#pieces.push(piece)
    this.#chars += piece.length
  }

  #withhold(reason: WithheldReason): void {
    this.#reason ??= reason
  }

  /** A getter, a proxy or `toJSON` may throw anything. */
  #try(act: () => void): void {
    try {
      act()
    } catch {
      this.#withhold("no_json")
      this.#put("[unreadable]")
    }
  }

  #next(frame: Frame): void {
    const { items, names } = frame
    const name = names?.[frame.at]
    const at = frame.at++
    this.#try(() => {
      const item = name === undefined ? (items as ArrayLike<unknown>)[at] : (items as Record<string, unknown>)[name]
      if (name !== undefined && (item === undefined || typeof item === "function" || typeof item === "symbol")) return
      this.#put(frame.separator)
      frame.separator = ","
      if (name !== undefined) this.#put(`${this.#textOf(name)}:`)
      this.#value(item)
    })
  }

  #leave(frame: Frame): void {
    this.#frames.pop()
    this.#open.delete(frame.of)
    this.#put(frame.names === null ? "]" : "}")
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case "string":
        return this.#put(this.#textOf(value))
      case "boolean":
        return this.#put(String(value))
      case "bigint":
        return this.#put(`"${value}"`)
      case "number":
        return this.#number(value)
      case "object": {
        if (value === null) return this.#put("null")
        if (value instanceof ReceivedJson) {
          this.#withhold(value.reason)
          return this.#put(value.text)
        }
        const { toJSON } = value as { readonly toJSON?: unknown }
        if (typeof toJSON !== "function") return this.#container(value)
        const said: unknown = toJSON.call(value, "")
        return typeof said === "object" && said !== null ? this.#container(said) : this.#value(said)
      }
      default:
        this.#withhold("no_json")
        return this.#put(`[${typeof value}]`)
    }
  }

  #textOf(text: string): string {
    if (!text.isWellFormed()) this.#withhold("lone_surrogate")
    return JSON.stringify(text)
  }

  #number(value: number): void {
    if (!Number.isFinite(value)) {
      this.#withhold("no_json")
      return this.#put(`[${value}]`)
    }
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.#withhold("inexact_integer")
    this.#put(JSON.stringify(value))
  }

  #container(value: object): void {
    if (this.#open.has(value)) {
      this.#withhold("no_json")
      return this.#put("[circular]")
    }
    if (Array.isArray(value)) return this.#enter(value, null, value)
    const tag = Object.prototype.toString.call(value).slice(8, -1)
    const names = Object.keys(value).sort()
    if (tag === "Object" && (names.length > 0 || isPlain(value))) return this.#enter(value, names, value as never)
    this.#withhold("no_json")
    this.#put(`[${tag}]`)
    if (value instanceof Map || value instanceof Set) return this.#enter(value, null, [...value])
    if (ArrayBuffer.isView(value))
      return this.#put(toHex(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)))
    if (value instanceof Error) this.#put(String(value))
    this.#enter(value, names, value as never)
  }

  #enter(of: object, names: ReadonlyArray<string> | null, items: Frame["items"]): void {
    this.#open.add(of)
    this.#frames.push({
      of,
      names,
      items,
      length: (names ?? (items as ArrayLike<unknown>)).length,
      at: 0,
      separator: ""
    })
    if (this.#frames.length > MAX_DEPTH) this.#withhold("too_deep")
    this.#put(names === null ? "[" : "{")
  }
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype as object) === null
}
