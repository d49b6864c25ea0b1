/** Parses addresses and networks of settings, and decides whether an address is in one. */
import { BlockList, isIP } from "node:net"

/** A network, or one address. */
export interface Network {
  readonly address: string
  readonly family: "ipv4" | "ipv6"
  /** Bits that all its addresses share. */
  readonly prefix: number
}

/** Most networks in one list. */
const MOST = 64

/** Reads `10.0.0.0/8, 192.0.2.7, 2001:db8::/32`; null where one of them is neither an address nor a network. */
export const readNetworks = (text: string): ReadonlyArray<Network> | null => {
  const networks = text.split(",").map((one) => readNetwork(one.trim()))
  return networks.length <= MOST && networks.every((network) => network !== null) ? networks : null
}

const readNetwork = (text: string): Network | null => {
  const [, address = "", digits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const prefix = digits === undefined ? bits : Number(digits)
  // Of /0 everybody would be a part, and everybody's headers would be believed.
  return prefix < 1 || prefix > bits ? null : { address, family: version === 4 ? "ipv4" : "ipv6", prefix }
}

/** Builds a test that is true for an address in one of these networks. Text that is no address is in none. */
export const inNetworks = (networks: ReadonlyArray<Network>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const { address, family, prefix } of networks) list.addSubnet(address, prefix, family)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6")
  }
}
