/** The form `path@1`. Spec: `envelope/1` section 16. */
import { MAX_TEXT } from "../limits.ts"
import { hasOnly, signsOf } from "./letters.ts"

const signs = signsOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 !&'()+,-./=@^_~")
/** Most paths are in normal form already; one pass tells. */
const SIMPLE = /^(?:\/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)+$/
/** A name that `..` may take back: in another, some reader stops. */
const PLAIN = /^[A-Za-z0-9._-]+$/
/** Windows strips such ends of names and has short names with `~`, lists are split at commas, shells expand a tilde. */
const UNSURE = /(?:^|\/)[ ~]|~[0-9]|[ ,](?:\/|$)|[^/.]\.+(?:\/|$)|(?:^|\/)\.{3,}(?:\/|$)/
/**
 * Names that shells and patterns read as `.` or `..`, or as any: with quotes or carets about the dots, and with the
 * patterns of `@(…)`, `+(…)` and `!(…)`.
 */
const DISGUISED = /(?:^|\/)(?=[^/]*['^])['^]*\.['^]*(?:\.['^]*)?(?:\/|$)|[@+!]\(/
/** Signs that may not begin a relative text: programs read an option, a file of options, or a quote. */
const SWITCH = /^[@+='-]/
/** A name that is empty, `.` or `..`. */
const RESOLVED = /\/\.{0,2}(?:\/|$)/

/** Reads a path: its normal form, or null where common programs read it differently. `base` is a normal form. */
export const readPath = (text: string, base: string | null): string | null => {
  if (text.length > MAX_TEXT) return null
  if (SIMPLE.test(text)) return text
  if (text === "" || text.startsWith("//") || text.startsWith("-") || !hasOnly(text, signs) || UNSURE.test(text))
    return null
  if (DISGUISED.test(text)) return null
  if (text.startsWith("/") && !RESOLVED.test(text)) return text
  if (!text.startsWith("/") && (base === null || SWITCH.test(text))) return null
  const names = text.startsWith("/") || base === "/" ? [] : base!.slice(1).split("/")
  // Names of the base are the author's own: `..` takes these back whatever they are.
  let own = names.length
  const isDoubled = text.includes("//")
  for (let from = 0; from <= text.length;) {
    const slash = text.indexOf("/", from)
    const to = slash === -1 ? text.length : slash
    const name = text.slice(from, to)
    from = to + 1
    if (name === "" || name === ".") continue
    if (name === "..") {
      const last = names.pop()
      if (isDoubled || (last !== undefined && names.length >= own && !PLAIN.test(last))) return null
      own = Math.min(own, names.length)
    } else names.push(name)
  }
  const path = `/${names.join("/")}`
  return path.length > MAX_TEXT ? null : path
}
