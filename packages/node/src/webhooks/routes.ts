/**
 * Where requests to a URL may go, remembered.
 *
 * Reading a URL and vetting addresses are pure: the same text under the same rules has the same outcome. So what is
 * looked up, at each attempt, is vetted again
 * only where it is not what was vetted for this URL last. Nothing is remembered of a name's answer but its verdict.
 */
import { type Pin, pinTo } from "./pinned-agents.ts"
import { vetted } from "./resolve.ts"
import { readTarget, type Target, type UrlRules } from "./target.ts"

/** Unit: URLs. Each is some hundred bytes; beyond this many the oldest is read again. */
const MAX_ROUTES = 10_000

/** A URL that was read under the rules of one sender. */
export class Route {
  readonly target: Target
  readonly #rules: UrlRules
  #last: { readonly addresses: string; readonly pin: Pin } | null = null

  constructor(target: Target, rules: UrlRules) {
    this.target = target
    this.#rules = rules
  }

  /** A pin to these addresses; or why the attempt goes nowhere. One denied address among many refuses all. */
  pin(addresses: ReadonlyArray<string>): Pin | "dns" | "ssrf_blocked" {
    const text = addresses.join(" ")
    if (this.#last?.addresses === text) return this.#last.pin
    const problem = vetted(this.target, addresses, this.#rules.allow)
    if (problem !== null) return problem
    const pin = pinTo(addresses)
    this.#last = { addresses: text, pin }
    return pin
  }
}

/** The URLs that one sender was given. Its rules never change. */
export class Routes {
  readonly #rules: UrlRules
  readonly #known = new Map<string, Route | null>()

  constructor(rules: UrlRules) {
    this.#rules = rules
  }

  /** Null when the rules refuse the URL. */
  of(url: string): Route | null {
    const known = this.#known.get(url)
    if (known !== undefined) return known
    const target = readTarget(url, this.#rules)
    const route = typeof target === "string" ? null : new Route(target, this.#rules)
    if (this.#known.size >= MAX_ROUTES) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(url, route)
    return route
  }
}
