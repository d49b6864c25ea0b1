/** A webhook's URL: its form, its port, and the address it may hold. No name is resolved here. */
import { type AllowList, egressRefusal, isHostName } from "./egress.ts"

/** Rules that a webhook's URL must satisfy. */
export interface UrlRules {
  readonly allow: AllowList
  /** Plain `http` too: for development, or inside a network that is trusted. */
  readonly allowHttp: boolean
  /** Ports that may be used; null is {@link isUsualPort}. */
  readonly ports: ReadonlySet<number> | null
}

/** Parsed address of a request. */
export interface Target {
  readonly isTls: boolean
  /** A name in lower case, or an address without brackets. */
  readonly host: string
  /** True when `host` is an address. */
  readonly isAddress: boolean
  readonly port: number
  /** Path and query, as they are sent. */
  readonly path: string
}

/** Unit: characters. Longer URLs break somewhere on the way. */
const MAX_URL_CHARACTERS = 2_048
/** Ports above 1023 that browsers refuse as well (the Fetch standard's list): other protocols are spoken there. */
const REFUSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
])
const FIRST_FREE_PORT = 1024

/**
 * Hints that name the setting with which an operator allows a URL. They depend on the URL alone: no name was resolved.
 */
const HTTP_ALLOWED_BY = "The operator allows it with FLYBALL_EGRESS_HTTP=1 (allowHttp in a program)"
const PORT_OPENED_BY = "The operator names the ports in FLYBALL_EGRESS_PORTS (ports in a program)"
const opensIt = (what: string): string =>
  `The operator opens it with ${what} in FLYBALL_EGRESS_ALLOW (egressAllow in a program)`

/**
 * Ports that are usual for a receiver: 443 (80 for plain http), and ports above 1023 except those that browsers block.
 * Below are mail, log-in and other services.
 */
export const isUsualPort = (port: number, isTls: boolean): boolean =>
  port === (isTls ? 443 : 80) || (port >= FIRST_FREE_PORT && !REFUSED_PORTS.has(port))

/**
 * Reads a URL. It is taken only in its usual spelling: what two readers could read in two ways is refused.
 *
 * - Fails: a sentence, which never holds the URL.
 */
export const readTarget = (url: string, rules: UrlRules): Target | string => {
  if (url.length > MAX_URL_CHARACTERS)
    return `a URL has at most ${MAX_URL_CHARACTERS} characters here, and this one has ${url.length}`
  if (!/^[\x21-\x7e]+$/.test(url) || url.includes("\\"))
    return (
      "a URL holds printable ASCII characters only, no space and no backslash. Write others " +
      "percent-encoded, and names as xn--"
    )
  const match = /^(https?):\/\/([^/?#]*)/i.exec(url)
  if (match === null)
    return rules.allowHttp
      ? "a URL that begins with https:// or http:// is expected"
      : "a URL that begins with https:// is expected"
  const isTls = match[1]!.toLowerCase() === "https"
  if (!isTls && !rules.allowHttp) return `https is expected, and this is plain http. ${HTTP_ALLOWED_BY}`
  if (match[2]!.includes("@")) return "user and password do not belong into a URL. A receiver knows us by the signature"
  if (url.includes("#")) return "the part behind # never reaches a receiver. Leave it out"
  const parsed = URL.parse(url)
  const authority = /^(\[[^\]]*\]|[^:[\]]*)(?::([0-9]{1,5}))?$/.exec(match[2]!)
  if (parsed === null || authority === null)
    return "this is no URL that can be read. Its name, address or port is malformed"
  const port = Number(authority[2] ?? (isTls ? 443 : 80))
  if (!(rules.ports?.has(port) ?? isUsualPort(port, isTls)))
    return `port ${port} is not one that receivers are allowed to use here. ${PORT_OPENED_BY}`
  const host = readHost(authority[1]!.toLowerCase(), parsed.hostname, rules.allow)
  return typeof host === "string" ? host : { isTls, ...host, port, path: `${parsed.pathname}${parsed.search}` }
}

/**
 * `written` is what stands in the URL, in lower case; `read` is what the WHATWG reader, which every browser shares,
 * makes of it.
 */
const readHost = (
  written: string,
  read: string,
  allow: AllowList
): { readonly host: string; readonly isAddress: boolean } | string => {
  const isSix = read.startsWith("[")
  const isAddress = isSix || /^[0-9.]+$/.test(read)
  if (isAddress) {
    const host = isSix ? read.slice(1, -1) : read
    const refused = egressRefusal(host, null, allow)
    if (refused !== null) return `this address is not reached from here: ${refused}. ${opensIt("this address")}`
    // IPv6 has several usual spellings of one address, all of them read alike.
    return isSix || written === read
      ? { host, isAddress }
      : `an address is written as four decimal numbers. Write ${read}`
  }
  if (written !== read) return "the name is written in an unusual way. Write it in plain letters, without percent signs"
  if (read.endsWith(".")) return "a name has no dot at its end here. Leave it out"
  if (!isHostName(read))
    return "a name of letters, digits and - between dots is expected, at most 63 characters each and 253 in all"
  if ((read === "localhost" || read.endsWith(".localhost")) && !allow.names.has(read)) {
    const refused = egressRefusal("127.0.0.1", read, allow)
    if (refused !== null) return `this name is not reached from here: ${refused}. ${opensIt("this name")}`
  }
  return { host: read, isAddress }
}
