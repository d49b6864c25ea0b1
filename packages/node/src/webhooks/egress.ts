/**
 * Which addresses a request may go to: a pure decision over a table.
 *
 * Denied is what is not on the public internet, by IANA's two registries of special-purpose addresses, and what clouds
 * answer metadata on. IPv6 is denied but
 * for the global unicast block, so that a block that is given out later for something special is denied before anybody
 * updates this table.
 *
 * - Spec: document 1 section 6 says nothing of addresses. A gap: decision 0020.
 */
import {
  type Address,
  addressKey,
  type AddressRange,
  carriedAddresses,
  inRange,
  isSingle,
  parseAddress,
  parseRange
} from "./address.ts"

/** Addresses that an operator allows although the table denies them. */
export interface AllowList {
  /** Keys of single addresses. */
  readonly addresses: ReadonlySet<string>
  readonly ranges: ReadonlyArray<AddressRange>
  /** Names in lower case, compared whole. */
  readonly names: ReadonlySet<string>
}

interface Denied {
  readonly range: AddressRange
  readonly why: string
  /** Only an entry for the very address opens it: a range, or a name that somebody else may point there, does not. */
  readonly onlyByAddress: boolean
}

const rows = (onlyByAddress: boolean, table: ReadonlyArray<readonly [string, string]>): ReadonlyArray<Denied> =>
  table.map(([text, why]) => {
    const range = parseRange(text)
    if (typeof range === "string") throw new TypeError(`${text} in the table of denied addresses: ${range}`)
    return { range, why, onlyByAddress }
  })

/** The first row that fits counts: the ones that only an address opens stand first. */
const DENIED: ReadonlyArray<Denied> = [
  ...rows(true, [
    ["169.254.0.0/16", "link-local, where clouds answer metadata"],
    ["100.100.100.200", "metadata of a cloud"],
    ["168.63.129.16", "metadata of a cloud"],
    ["192.0.0.192", "metadata of a cloud"],
    ["fd00:ec2::/32", "metadata of a cloud"],
    ["fd20:ce::254", "metadata of a cloud"],
    ["fe80::/10", "link-local"],
    // A translator's own prefix: which IPv4 address is meant cannot be read out of it.
    ["64:ff9b:1::/48", "local NAT64"]
  ]),
  ...rows(false, [
    ["0.0.0.0/8", "this host"],
    ["10.0.0.0/8", "private"],
    ["100.64.0.0/10", "shared by carriers"],
    ["127.0.0.0/8", "loopback"],
    ["172.16.0.0/12", "private"],
    ["192.0.0.0/24", "for protocols"],
    ["192.0.2.0/24", "documentation"],
    ["192.88.99.0/24", "6to4 relays"],
    ["192.168.0.0/16", "private"],
    ["198.18.0.0/15", "benchmarks"],
    ["198.51.100.0/24", "documentation"],
    ["203.0.113.0/24", "documentation"],
    ["224.0.0.0/4", "multicast"],
    ["240.0.0.0/4", "reserved, and broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["64:ff9b::/96", "NAT64"],
    ["2001::/23", "for protocols and tunnels"],
    ["2001:db8::/32", "documentation"],
    ["2002::/16", "6to4"],
    ["3fff::/20", "documentation"],
    ["fc00::/7", "private"],
    ["ff00::/8", "multicast"],
    // Everything but 2000::/3.
    ["::/3", "not global unicast"],
    ["4000::/2", "not global unicast"],
    ["8000::/1", "not global unicast"]
  ])
]

/** Nothing is opened. */
export const NOTHING_ALLOWED: AllowList = { addresses: new Set(), ranges: [], names: new Set() }

/**
 * A name that may be in a URL or in the allow list: letters, digits, `-` and `_` between dots, without a dot at its
 * end.
 */
export const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  text.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label)) &&
  !/^(0x[0-9a-f]*|[0-9]+)$/.test(text.split(".").at(-1)!)

/**
 * Reads the entries of an allow list: addresses, ranges (`10.0.0.0/8`), and exact names.
 *
 * - Fails: a sentence that names the entry.
 */
export const parseAllowList = (entries: ReadonlyArray<string>): AllowList | string => {
  const addresses = new Set<string>()
  const ranges: Array<AddressRange> = []
  const names = new Set<string>()
  for (const entry of entries) {
    const name = entry.toLowerCase()
    if (isHostName(name)) names.add(name)
    else {
      const range = parseRange(entry)
      if (typeof range === "string")
        return (
          `"${entry}" cannot be allowed: an address, a range such as 10.0.0.0/8 or a name without ` +
          `wildcards is expected (${range})`
        )
      if (isSingle(range)) addresses.add(addressKey(range.first))
      else ranges.push(range)
    }
  }
  return { addresses, ranges, names }
}

/**
 * Why a request to `name` may not go to this address; null when it may.
 *
 * - Shape: `address` as a resolver answers it or as a URL holds it. `name` in lower case; null when the URL holds the
 *   address itself.
 * - Text that is no address in its usual spelling is refused: a zone (`fe80::1%eth0`) too.
 */
export const egressRefusal = (address: string, name: string | null, allow: AllowList): string | null => {
  const read = parseAddress(address)
  if (read === null) return "not an address in its usual spelling"
  if (allow.addresses.has(addressKey(read))) return null
  const outer = refusal(read, name, allow)
  if (outer !== null) return outer
  for (const carried of carriedAddresses(read)) {
    const inner = refusal(carried, name, allow)
    if (inner !== null) return `carries an address that is denied (${inner})`
  }
  return null
}

const refusal = (address: Address, name: string | null, allow: AllowList): string | null => {
  const denied = DENIED.find(({ range }) => inRange(address, range))
  if (denied === undefined || allow.addresses.has(addressKey(address))) return null
  const opened = (name !== null && allow.names.has(name)) || allow.ranges.some((range) => inRange(address, range))
  return opened && !denied.onlyByAddress ? null : denied.why
}
