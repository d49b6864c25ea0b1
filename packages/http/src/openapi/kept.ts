/** The description and its page as bytes, made once. */
import { createHash } from "node:crypto"
import type { Kept } from "../conditional-get.ts"
import { interfaceDescription } from "./document.ts"
import { HOME_POLICY, type Home, homePage } from "./home.ts"
import { PAGE_POLICY, page } from "./page.ts"

const keep = (media: string, text: string, headers: Kept["headers"] = {}): Kept => {
  const bytes = Buffer.from(text)
  return { media, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`, headers }
}

const once = <A>(make: () => A): (() => A) => {
  let made: A | null = null
  return () => (made ??= make())
}

const description = once(() => interfaceDescription())

/** The description. */
export const keptDescription = once(() => keep("application/json", JSON.stringify(description())))

const homes = new Map<string, Kept>()

/** The page at `/`, made once for each of its forms. */
export const keptHome = (of: Home): Kept => {
  const form = `${of.isDemo} ${of.version}`
  const made =
    homes.get(form) ??
    keep("text/html; charset=utf-8", homePage(of), {
      "content-security-policy": HOME_POLICY,
      "referrer-policy": "no-referrer"
    })
  homes.set(form, made)
  return made
}

/** The page. Nothing but its own style sheet is loaded, from wherever. */
export const keptPage = once(() =>
  keep("text/html; charset=utf-8", page(description()), {
    "content-security-policy": PAGE_POLICY,
    "referrer-policy": "no-referrer"
  })
)
