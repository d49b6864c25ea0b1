/**
 * Internet addresses as numbers, read strictly.
 *
 * One spelling of each family is taken: four decimal numbers, and the text forms of RFC 4291. Anything else, such as a zone, a leading zero or a hexadecimal
 * number, is no address here, and what is no address is never connected to.
 */

/** An address. An IPv4 address inside IPv6 (`::ffff:0:0/96`) is the IPv4 address: that is where its packets go. */
export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

/** The addresses that share their first `prefix` bits with `first`. */
export interface AddressRange {
  readonly first: Address
  readonly prefix: number
}

const BITS = { 4: 32, 6: 128 } as const
/** `::ffff:0:0/96`, where IPv6 carries IPv4 addresses of the same host. */
const MAPPED = 0xffffn
const MAPPED_PREFIX = 96

/** Reads an address; null when the text is none. */
export const parseAddress = (text: string): Address | null => {
  const four = parseFour(text)
  if (four !== null) return { family: 4, value: four }
  const six = parseSix(text)
  if (six === null) return null
  return six >> 32n === MAPPED ? { family: 4, value: six & 0xffff_ffffn } : { family: 6, value: six }
}

/** The address as one short text: the same for every spelling. */
export const addressKey = (address: Address): string => `${address.family}:${address.value.toString(16)}`

/**
 * Reads `address/prefix`, or an address alone, which is a range of one.
 *
 * - Fails: a sentence when it is neither, or when bits behind the prefix are set, since then two ranges may have been meant.
 */
export const parseRange = (text: string): AddressRange | string => {
  const match = /^([0-9A-Fa-f.:]{2,45})(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text)
  const first = match === null ? null : parseAddress(match[1]!)
  if (match === null || first === null) return "an address or a range such as 10.0.0.0/8 is expected"
  // A mapped range is written with the bits of IPv6, and counts as what it carries.
  const mapped = first.family === 4 && match[1]!.includes(":") ? MAPPED_PREFIX : 0
  const prefix = match[2] === undefined ? BITS[first.family] : Number(match[2]) - mapped
  if (prefix < 0 || prefix > BITS[first.family]) return `the number behind the slash is 0 to ${BITS[first.family]} for such an address`
  const rest = BigInt(BITS[first.family] - prefix)
  if ((first.value >> rest) << rest !== first.value) return "the address before the slash is not the first of its range. Write the first one"
  return { first, prefix }
}

/** Whether the address is in the range. */
export const inRange = (address: Address, range: AddressRange): boolean =>
  address.family === range.first.family && address.value >> BigInt(BITS[address.family] - range.prefix) === range.first.value >> BigInt(BITS[address.family] - range.prefix)

/** Whether the range holds one address. */
export const isSingle = (range: AddressRange): boolean => range.prefix === BITS[range.first.family]

/**
 * IPv4 addresses that an IPv6 address carries for a translator or a tunnel on the way: packets may end there.
 *
 * NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380: its server, and its client with all bits turned), ISATAP (RFC 5214), and the old compatible and
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

const parseFour = (text: string): bigint | null => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)) return null
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

const parseSix = (text: string): bigint | null => {
  const halves = text.split("::")
  if (halves.length > 2) return null
  const before = groups(halves[0]!, halves.length === 1)
  const after = halves.length === 1 ? [] : groups(halves[1]!, true)
  if (before === null || after === null) return null
  const missing = 8 - before.length - after.length
  // `::` stands for one group or more.
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  return [...before, ...Array.from({ length: missing }, () => 0n), ...after].reduce((value, group) => (value << 16n) | group, 0n)
}

/** The groups of one side of `::`. Only the last may be written as an IPv4 address, which is two groups. */
const groups = (text: string, isEnd: boolean): ReadonlyArray<bigint> | null => {
  if (text === "") return []
  const found: Array<bigint> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    const four = isEnd && index === parts.length - 1 ? parseFour(part) : null
    if (four !== null) found.push(four >> 16n, four & 0xffffn)
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) found.push(BigInt(`0x${part}`))
    else return null
  }
  return found
}
