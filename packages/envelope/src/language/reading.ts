/** Reads members of untrusted JSON and collects what is wrong with them. */
import type { Finding, ReadingCode } from "./findings.ts"
import { MAX_FINDINGS } from "./limits.ts"

/** An object of untrusted JSON. */
export type Members = { readonly [name: string]: unknown }

/** Names of signals, params, meters and rules. */
export const NAME = /^[a-z][a-z0-9_]{0,63}$/
/** Names that mean something else: keys of meters, and what every JavaScript object has. */
const RESERVED = new Set(["agent_id", "org_unit", "run_id", "constructor"])

/**
 * A reading: each method answers the value, or null after it has said what is wrong. Of a value that does not exist it
 * says nothing: {@link Reading.object} and {@link Reading.need} do.
 */
export class Reading {
  readonly findings: Array<Finding> = []
  /** Names that are declared, but wrongly: using them is not another mistake. */
  readonly unreadable = new Set<string>()

  say(code: ReadingCode, path: string, message: string, example?: NonNullable<Finding["example"]>): null {
    if (this.findings.length < MAX_FINDINGS)
      this.findings.push({ code, path, message, ...(example === undefined ? {} : { example }) })
    return null
  }

  /** Says E100 of a name that is declared nowhere. */
  unknown(name: string, path: string, message: string): null {
    return this.unreadable.has(name) ? null : this.say("E100", path, message)
  }

  /** An object with these members and no others. */
  object(
    value: unknown,
    path: string,
    required: ReadonlyArray<string>,
    optional: ReadonlyArray<string> = []
  ): Members | null {
    const members = this.map(value, path, Number.POSITIVE_INFINITY)
    if (members === null) return null
    for (const name of Object.keys(members).sort()) {
      if (!required.includes(name) && !optional.includes(name)) {
        this.say(
          "E100",
          `${path}/${pointer(name)}`,
          `There is no member ${quote(name)} here. It can be ${[...required, ...optional].join(", ")}.`
        )
      }
    }
    for (const name of required) this.need(members, path, name)
    return members
  }

  /** A member that must be there. */
  need(members: Members, path: string, name: string): unknown {
    if (!Object.hasOwn(members, name)) this.say("E113", path, `The member ${quote(name)} is missing. Add it.`)
    return members[name]
  }

  /** An object with any names. */
  map(value: unknown, path: string, most: number): Members | null {
    if (value === undefined) return null
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return this.say("E113", path, `An object is expected here, not ${kind(value)}.`)
    const members = value as Members
    const count = Object.keys(members).length
    return count > most
      ? this.say("E113", path, `At most ${most} members may stand here; there are ${count}.`)
      : members
  }

  list(value: unknown, path: string, least: number, most: number): ReadonlyArray<unknown> | null {
    if (value === undefined) return null
    if (!Array.isArray(value)) return this.say("E113", path, `A list is expected here, not ${kind(value)}.`)
    return value.length < least || value.length > most
      ? this.say("E113", path, `A list of ${least} to ${most} is expected here; this one has ${value.length}.`)
      : value
  }

  text(value: unknown, path: string, most: number): string | null {
    if (value === undefined) return null
    if (typeof value !== "string") return this.say("E113", path, `A text is expected here, not ${kind(value)}.`)
    return value.length === 0 || value.length > most
      ? this.say("E113", path, `A text of 1 to ${most} characters is expected here; this one has ${value.length}.`)
      : value
  }

  integer(value: unknown, path: string, least: number, most: number): number | null {
    if (value === undefined) return null
    if (typeof value !== "number" || !Number.isSafeInteger(value))
      return this.say(
        "E113",
        path,
        `A whole number is expected here, not ${kind(value)}. Money stands in minor units, shares in basis ` +
          "points, times in ms."
      )
    return value < least || value > most
      ? this.say("E105", path, `A number from ${least} to ${most} is expected here; this is ${value}.`)
      : value + 0
  }

  flag(value: unknown, path: string): boolean | null {
    return value === undefined
      ? null
      : typeof value === "boolean"
        ? value
        : this.say("E113", path, `true or false is expected here, not ${kind(value)}.`)
  }

  /** One of a closed list of words. */
  word<const W extends string>(value: unknown, path: string, words: ReadonlyArray<W>): W | null {
    const found = words.find((word) => word === value)
    if (found !== undefined) return found
    if (value === undefined) return null
    return typeof value === "string"
      ? this.say("E100", path, `There is no ${quote(value)}. It can be ${words.join(", ")}.`)
      : this.say("E113", path, `One of ${words.join(", ")} is expected here, not ${kind(value)}.`)
  }

  /** A name that is not used for something else. */
  name(value: string, path: string): string | null {
    if (!NAME.test(value))
      return this.say(
        "E113",
        path,
        `A name is 1 to 64 small letters, digits and underscores, the first a letter; this is ${quote(value)}.`
      )
    return RESERVED.has(value) ? this.say("E103", path, `The name ${quote(value)} is reserved. Choose another.`) : value
  }

  texts(value: unknown, path: string, most: number, length: number): ReadonlyArray<string> | null {
    const list = this.list(value, path, 1, most)
    if (list === null) return null
    const texts = list.map((item, i) => this.text(item, `${path}/${i}`, length))
    return allThere(texts) ? this.once(texts, path) : null
  }

  /** A list in which nothing stands twice. */
  once<A>(list: ReadonlyArray<A>, path: string): ReadonlyArray<A> {
    list.forEach((item, i) => {
      if (list.indexOf(item) < i)
        this.say("E103", `${path}/${i}`, `${quote(String(item))} stands here twice. Remove one.`)
    })
    return list
  }
}

/** True when no reading of a list failed. */
export const allThere = <A>(list: ReadonlyArray<A | null>): list is ReadonlyArray<A> => !list.includes(null)

/** A name as a step of a JSON pointer, shortened where it is absurd. Spec: RFC 6901 section 3. */
export const pointer = (name: string): string => short(name).replaceAll("~", "~0").replaceAll("/", "~1")

/** A text in quotes, shortened where it is absurd. */
export const quote = (text: string): string => JSON.stringify(short(text))

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

const kind = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : typeof value === "number"
          ? `the number ${value}`
          : typeof value === "boolean"
            ? String(value)
            : "a text"
