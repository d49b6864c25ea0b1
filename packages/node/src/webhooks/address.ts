/**
 * Internet addresses, read strictly, and the ranges that `net.BlockList` matches them with.
 *
 * One spelling of each family is taken: four decimal numbers, and the text forms of RFC 4291. Anything else, such as
 * a zone, a leading zero or a hexadecimal number, is not an address here, and is never connected to.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net"

/** An address. An IPv4 address inside IPv6 (`::ffff:0:0/96`) is the IPv4 address: that is where its packets go. */
export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

/** The addresses that share their first `prefix` bits with `first`. */
export interface AddressRange {
  readonly first: Address
  readonly prefix: number
  /** Only addresses of the range's own family may be checked: a list with `::/3` catches all of IPv4, as mapped. */
  readonly list: BlockList
}

const BITS = { 4: 32, 6: 128 } as const
const NAMES = { 4: "ipv4", 6: "ipv6" } as const
/** `::ffff:0:0/96`, where IPv6 carries IPv4 addresses of the same host. */
const MAPPED = 0xffffn
const MAPPED_PREFIX = 96

/** Reads an address; null when the text is none. */
export const parseAddress = (text: string): Address | null => {
  if (isIPv4(text)) return { family: 4, value: bitsOfFour(text) }
  if (!isIPv6(text) || text.includes("%")) return null
  const value = bitsOfSix(text)
  return value >> 32n === MAPPED ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value }
}

/** The address as one short text: the same for every spelling. */
export const addressKey = (address: Address): string => `${address.family}:${address.value.toString(16)}`

/**
 * Reads `address/prefix`, or an address alone, which is a range of one.
 *
 * - Fails: a sentence when it is neither, or when bits behind the prefix are set, since then two ranges may have been
 *   meant.
 */
export const parseRange = (text: string): AddressRange | string => {
  const match = /^([0-9A-Fa-f.:]{2,45})(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text)
  const first = match === null ? null : parseAddress(match[1]!)
  if (match === null || first === null) return "an address or a range such as 10.0.0.0/8 is expected"
  // A mapped range is written with the bits of IPv6, and counts as what it carries.
  const mapped = first.family === 4 && match[1]!.includes(":") ? MAPPED_PREFIX : 0
  const prefix = match[2] === undefined ? BITS[first.family] : Number(match[2]) - mapped
  if (prefix < 0 || prefix > BITS[first.family])
    return `the number behind the slash is 0 to ${BITS[first.family]} for such an address`
  const rest = BigInt(BITS[first.family] - prefix)
  if ((first.value >> rest) << rest !== first.value)
    return "the address before the slash is not the first of its range. Write the first one"
  const list = new BlockList()
  list.addSubnet(textOf(first), prefix, NAMES[first.family])
  return { first, prefix, list }
}

/** True when the address is in the range. */
export const inRange = (address: Address, { first, list }: AddressRange): boolean =>
  address.family === first.family && list.check(textOf(address), NAMES[address.family])

/** True for a range of one address. */
export const isSingle = (range: AddressRange): boolean => range.prefix === BITS[range.first.family]

/**
 * IPv4 addresses that an IPv6 address carries for a translator or a tunnel on the way: packets may end there.
 *
 * NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380: its server, and its client with all bits turned), ISATAP (RFC
 * 5214), and the old compatible and
 * translated forms.
 */
export const carriedAddresses = (address: Address): ReadonlyArray<Address> => {
  if (address.family === 4) return []
  const { value } = address
  const low = value & 0xffff_ffffn
  const carried: Array<bigint> = []
  if (value >> 32n === 0x0064_ff9b_0000_0000_0000_0000n) carried.push(low)
  if (value >> 112n === 0x2002n) carried.push((value >> 80n) & 0xffff_ffffn)
  if (value >> 96n === 0x2001_0000n) carried.push((value >> 64n) & 0xffff_ffffn, low ^ 0xffff_ffffn)
  const identifier = (value >> 32n) & 0xffff_ffffn
  if (identifier === 0x0000_5efen || identifier === 0x0200_5efen) carried.push(low)
  if (value >> 32n === 0n || value >> 32n === 0xffff_0000n) carried.push(low)
  return carried.map((four) => ({ family: 4, value: four }))
}

const bitsOfFour = (text: string): bigint => text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n)

/** The URL parser writes an address as groups alone, with one `::` at most. */
const bitsOfSix = (text: string): bigint => {
  const halves = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::")
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return BigInt(`0x${[...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join("")}`)
}

/** The address as `BlockList` reads it. */
const textOf = ({ family, value }: Address): string =>
  family === 4
    ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".")
    : value
        .toString(16)
        .padStart(32, "0")
        .replace(/(.{4})(?!$)/g, "$1:")
