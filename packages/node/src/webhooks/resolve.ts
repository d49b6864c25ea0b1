/** Names to addresses, all of them, at each attempt. */
import { lookup } from "node:dns/promises"
import { type AllowList, egressRefusal } from "./egress.ts"
import type { Target } from "./target.ts"

/** Every address of a name; rejects when there is none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>

/**
 * The host's own resolver. A request for a name that is being looked up shares that look-up's answer: a receiver whose
 * name server is slow holds one of the
 * two threads that look up names, not both.
 */
export const hostResolver = (): Resolve => {
  const requested = new Map<string, Promise<ReadonlyArray<string>>>()
  return (name) => {
    const under = requested.get(name)
    if (under !== undefined) return under
    const answer = lookup(name, { all: true, order: "verbatim" })
      .then((found) => found.map(({ address }) => address))
      .finally(() => requested.delete(name))
    requested.set(name, answer)
    return answer
  }
}

/**
 * Why an attempt may not connect to these addresses; null when it may. One denied address among many refuses all. A
 * name that answers with both a public and a private one is hostile, or means something else inside than outside.
 */
export const vetted = (
  target: Target,
  addresses: ReadonlyArray<string>,
  allow: AllowList
): "dns" | "ssrf_blocked" | null => {
  if (addresses.length === 0) return "dns"
  const name = target.isAddress ? null : target.host
  return addresses.every((address) => egressRefusal(address, name, allow) === null) ? null : "ssrf_blocked"
}
