/**
 * Whose address a request comes from, past the proxies that are trusted. Spec: RFC 7239; X-Forwarded-For as proxies
 * write it. Decision 0023.
 */
import { isIP } from "node:net"

/** Peer address and headers of a request, from which the client's address is derived. */
export interface Way {
  /** The address of the socket's other end; undefined when it is gone already. */
  readonly peer: string | undefined
  /** The headers as Node joins them: several of one name are one list. */
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** Proxies in a row that are read. */
const MOST_HOPS = 32

/**
 * The address of the client; null when the peer is gone.
 *
 * Headers count only when the peer is trusted: they are read from the right, past proxies that are trusted too, to the
 * first address that is not. What stands left of it anybody can have written. Where the list cannot be read, the answer
 * is the last address that a trusted proxy vouched for. Two headers that say different things are both left aside: one
 * of them may be the client's own. Spec: decision 0023.
 */
export const clientAddress = (
  { headers, peer }: Way,
  isTrusted: ((address: string) => boolean) | null
): string | null => {
  if (peer === undefined) return null
  const near = plainAddress(peer) ?? peer
  if (isTrusted === null || !isTrusted(near)) return near
  const reported = [
    listOf(headers["x-forwarded-for"], readXForwardedFor),
    listOf(headers["forwarded"], readForwarded)
  ].filter((hops) => hops !== null)
  const [first, second] = reported.map((hops) => rightmostUntrusted(near, hops, isTrusted))
  return first === undefined || (second !== undefined && second !== first) ? near : first
}

type Hops = ReadonlyArray<string | null>

const listOf = (header: string | ReadonlyArray<string> | undefined, read: (text: string) => Hops): Hops | null =>
  header === undefined ? null : read(typeof header === "string" ? header : header.join(","))

const rightmostUntrusted = (peer: string, hops: Hops, isTrusted: (address: string) => boolean): string => {
  let at = peer
  for (const hop of hops.toReversed()) {
    if (hop === null) return at
    at = hop
    if (!isTrusted(hop)) return at
  }
  return at
}

const readXForwardedFor = (text: string): Hops =>
  text
    .split(",")
    .slice(-MOST_HOPS)
    .map((entry) => nodeAddress(entry.trim()))

const PAIR =
  /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z:[\]-]+)|"((?:[^"\\]|\\.)*)")[ \t]*(;|,|$)/

/**
 * The `for` of each element. What does not have the form of RFC 7239 makes all of it unreadable: a quote that is left
 * open would swallow what others wrote.
 */
const readForwarded = (text: string): Hops => {
  const hops: Array<string | null> = []
  let rest = text
  let found: string | null = null
  for (;;) {
    const [all, name, token, quoted, end] = PAIR.exec(rest) ?? []
    if (all === undefined || name === undefined) return [null]
    if (name.toLowerCase() === "for") found = nodeAddress(token ?? quoted!.replace(/\\(.)/g, "$1"))
    rest = rest.slice(all.length)
    if (end === ";") continue
    hops.push(found)
    found = null
    if (end === "") return hops.slice(-MOST_HOPS)
  }
}

/**
 * The address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`; null for anything else, such as
 * `unknown` and `_hidden`.
 */
const nodeAddress = (text: string): string | null => {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)
  if (bracketed !== null) return isIP(bracketed[1]!) === 6 ? plainAddress(bracketed[1]!) : null
  return plainAddress(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)?.[1] ?? text)
}

/**
 * An address without a zone, in small letters, and an IPv4 address that was written as IPv6 as what it is; null when it
 * is none.
 */
const plainAddress = (text: string): string | null => {
  const address = text.replace(/%.*$/, "").toLowerCase()
  if (isIP(address) === 0) return null
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1]
  return mapped !== undefined && isIP(mapped) === 4 ? mapped : address
}
