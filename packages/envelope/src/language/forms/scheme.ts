/** The form `scheme@1`. Spec: `envelope/1` section 16. */
import { hasOnly, signsOf } from "./letters.ts"
import { MAX_TEXT } from "../limits.ts"

/** Every visible sign of ASCII but the backslash. */
export const urlSigns: Uint8Array = signsOf(
  String.fromCharCode(...Array.from({ length: 0x5e }, (_, i) => 0x21 + i)).replace("\\", "")
)

const SCHEME = /^([A-Za-z][A-Za-z0-9+-]{1,31}):(?!$)(?![0-9]{1,5}(?:$|[/?#]))/
/** Schemes behind which another URL stands. */
const WRAPPERS: ReadonlySet<string> = new Set(["url", "jar", "view-source", "blob", "filesystem", "feed"])

/** Reads the scheme of a URL, in small letters; null where there is none that all programs agree on. */
export const readScheme = (text: string): string | null => {
  if (text.length > MAX_TEXT) return null
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  return scheme === undefined || WRAPPERS.has(scheme) || !hasOnly(text, urlSigns) ? null : scheme
}
