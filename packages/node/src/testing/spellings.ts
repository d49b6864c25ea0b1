/** Every way that somebody may write an address so that one reader sees it and another does not. */
import { parseAddress } from "../webhooks/address.ts"

/** Spellings of an IPv4 address as the host of a URL. */
export const spellingsOfFour = (address: string): ReadonlyArray<string> => {
  const bytes = address.split(".").map(Number)
  const [a, b, c, d] = bytes as [number, number, number, number]
  const value = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (number: number, digits = 1): string => number.toString(16).padStart(digits, "0")
  const octal = (number: number): string => `0${number.toString(8)}`
  const dots = (each: (byte: number) => string): string => bytes.map(each).join(".")
  const inSix = [`${hex(a * 256 + b)}:${hex(c * 256 + d)}`, address]
  return [
    address,
    `${address}.`,
    String(value),
    `0x${hex(value, 8)}`,
    `0X${hex(value, 8).toUpperCase()}`,
    `0x0000000${hex(value, 8)}`,
    octal(value),
    `000${octal(value)}`,
    dots((byte) => `0x${hex(byte)}`),
    dots((byte) => `0x${hex(byte, 8)}`),
    dots(octal),
    dots((byte) => `00${octal(byte)}`),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0x${hex(a)}.${octal(b)}.${c * 256 + d}`,
    `${a}.0x${hex((b * 256 + c) * 256 + d)}`,
    `${octal(a)}.${b}.0x${hex(c)}.${d}`,
    [...address].map((character) => `%${hex(character.charCodeAt(0), 2)}`).join(""),
    address.replace(/\./g, "%2e"),
    address.replace(/\./g, "%2E").replace(/^./, (digit) => `%3${digit}`),
    [...address]
      .map((character) => (character === "." ? "\uff0e" : String.fromCharCode(character.charCodeAt(0) + 0xfee0)))
      .join(""),
    address.replace(/\./g, "\u3002"),
    address.replace(/\./g, "\uff61"),
    [...address]
      .map((digit) => (digit >= "1" && digit <= "9" ? String.fromCharCode(0x2460 + Number(digit) - 1) : digit))
      .join(""),
    `user@${address}`,
    `example.com@${address}`,
    `\t${address}`,
    `${address.slice(0, 2)}\n${address.slice(2)}`,
    `${address}\u00ad`,
    ...inSix.flatMap((low) => [
      `[::ffff:${low}]`,
      `[::FFFF:${low}]`,
      `[0:0:0:0:0:ffff:${low}]`,
      `[0000:0000:0000:0000:0000:FFFF:${low}]`,
      `[::${low}]`,
      `[::ffff:0:${low}]`,
      `[64:ff9b::${low}]`,
      `[64:ff9b:1::${low}]`
    ]),
    `[2002:${inSix[0]}::1]`,
    `[2001:0:${inSix[0]}::1]`,
    `[2001:0:808:808::${hex((a * 256 + b) ^ 0xffff)}:${hex((c * 256 + d) ^ 0xffff)}]`,
    `[2a00:1450:4001::5efe:${inSix[0]}]`
  ]
}

/** Spellings of an IPv6 address as the host of a URL. */
export const spellingsOfSix = (address: string): ReadonlyArray<string> => {
  const { value } = parseAddress(address)!
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn)
  const whole = (digits: number): string => groups.map((group) => group.toString(16).padStart(digits, "0")).join(":")
  const low = value & 0xffff_ffffn
  const tail = [24n, 16n, 8n, 0n].map((shift) => (low >> shift) & 0xffn).join(".")
  return [
    `[${address}]`,
    `[${address.toUpperCase()}]`,
    `[${whole(1)}]`,
    `[${whole(4)}]`,
    `[${whole(4).toUpperCase()}]`,
    `[${groups
      .slice(0, 6)
      .map((group) => group.toString(16))
      .join(":")}:${tail}]`,
    `[${address}%25eth0]`,
    `[${address}%eth0]`,
    `[${address}].`,
    `[${address.replace(/:/g, "%3a")}]`,
    `%5b${address}%5d`,
    address
  ]
}
