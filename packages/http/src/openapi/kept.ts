/** The description and its page as bytes, made once. */
import { createHash } from "node:crypto"
import { type AnyEndpoint, endpoints } from "@flyball/contract/http"
import type { Kept } from "../answer/conditional-get.ts"
import { HTML_MEDIA } from "../answer/pages.ts"
import { interfaceDescription } from "./document.ts"
import { HOME_POLICY, type Home, homePage } from "./home.ts"
import { PAGE_POLICY, page } from "./page.ts"
import { platformDescribed } from "../platform/description.ts"

const keep = <const M extends string>(media: M, text: string, headers: Kept["headers"] = {}): Kept<M> => {
  const bytes = Buffer.from(text)
  return { media, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`, headers }
}

/** Made once for each prefix that a surface of this process is mounted at. */
const once = <A>(make: (prefix: string) => A): ((prefix: string) => A) => {
  const made = new Map<string, A>()
  return (prefix) => {
    const found = made.get(prefix) ?? make(prefix)
    made.set(prefix, found)
    return found
  }
}

const description = once((prefix) => interfaceDescription(endpoints, prefix))

/** The description. */
export const keptDescription = once((prefix) => keep("application/json", JSON.stringify(description(prefix))))

const homes = new Map<string, Kept<typeof HTML_MEDIA>>()

/** The page at `/`, made once for each of its forms. */
export const keptHome = (of: Home): Kept<typeof HTML_MEDIA> => {
  const form = `${of.isDemo} ${of.version} ${of.prefix}`
  const made =
    homes.get(form) ??
    keep(HTML_MEDIA, homePage(of), {
      "content-security-policy": HOME_POLICY,
      "referrer-policy": "no-referrer"
    })
  homes.set(form, made)
  return made
}

const keepPage = (text: string): Kept<typeof HTML_MEDIA> =>
  keep(HTML_MEDIA, text, { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer" })

/** The page. Nothing but its own style sheet is loaded, from wherever. */
export const keptPage = once((prefix) => keepPage(page(description(prefix), `${prefix}/openapi.json`)))

/** The description of installed products, and its page. */
export const keptPlatform = (rows: ReadonlyArray<AnyEndpoint>) => {
  const described = once((prefix) => interfaceDescription(rows, prefix, platformDescribed))
  return {
    description: once((prefix) => keep("application/json", JSON.stringify(described(prefix)))),
    page: once((prefix) => keepPage(page(described(prefix), `${prefix}/v1/openapi.json`)))
  }
}
