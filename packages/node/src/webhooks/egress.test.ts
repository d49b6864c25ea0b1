import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { spellingsOfFour, spellingsOfSix } from "../testing/spellings.ts"
import { type Address, type AddressRange, parseAddress, parseRange } from "./address.ts"
import { type AllowList, egressRefusal, NOTHING_ALLOWED, parseAllowList } from "./egress.ts"
import { readTarget } from "./target.ts"

const vectors = JSON.parse(
  readFileSync(new URL("../../../../fixtures/vectors/webhooks/ssrf-ip.json", import.meta.url), "utf8")
) as {
  readonly deny: ReadonlyArray<{ readonly ip: string }>
  readonly allow: ReadonlyArray<string>
}

/**
 * Addresses that the vectors lack: the ends of each range, metadata of clouds, and forms that embed a denied address.
 */
const MORE = [
  "0.255.255.255",
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.127.255.255",
  "127.255.255.255",
  "169.254.0.0",
  "169.254.169.254",
  "169.254.170.2",
  "169.254.255.255",
  "172.31.255.255",
  "192.0.0.192",
  "192.168.255.255",
  "198.19.255.255",
  "239.255.255.255",
  "255.255.255.254",
  "100.100.100.200",
  "168.63.129.16",
  "::",
  "::2",
  "::7f00:1",
  "::808:808",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fe80::a9fe:a9fe",
  "fec0::1",
  "ff02::1",
  "ff0e::1",
  "2001::1",
  "2001:1::1",
  "2001:10::1",
  "2001:20::1",
  "2001:1ff::1",
  "64:ff9b::7f00:1",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::1",
  "::ffff:0:7f00:1",
  "2a00:1450:4001::5efe:7f00:1",
  "2a00:1450:4001::200:5efe:a00:1",
  "1fff::1",
  "4000::1",
  "8000::1",
  "c000::1",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
]
const denied = [...vectors.deny.map(({ ip }) => ip), ...MORE]
const open = { allowHttp: true, ports: null, allow: NOTHING_ALLOWED }
const allowing = (...entries: ReadonlyArray<string>): AllowList => {
  const list = parseAllowList(entries)
  if (typeof list === "string") throw new Error(list)
  return list
}

describe("what is denied", () => {
  test.each(denied)("%s, as a resolver may answer it, even for a name that is allowed elsewhere", (address) => {
    expect(egressRefusal(address, null, NOTHING_ALLOWED)).not.toBeNull()
    expect(
      egressRefusal(address.toUpperCase(), "receiver.example", allowing("other.example", "198.51.99.0/24"))
    ).not.toBeNull()
  })

  test.each(denied)("%s in a URL, in every spelling", (address) => {
    const spellings =
      parseAddress(address)!.family === 4 && !address.includes(":") ? spellingsOfFour(address) : spellingsOfSix(address)
    const reached = spellings
      .flatMap((host) =>
        ["", ":8080"].flatMap((port) => ["http", "https", "HTTPS"].map((scheme) => `${scheme}://${host}${port}/hook`))
      )
      .filter((url) => typeof readTarget(url, open) !== "string")
    expect(reached).toEqual([])
  })

  test.each([
    "fe80::1%eth0",
    "127.0.0.1%lo",
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "8.8.8.8 ",
    " 8.8.8.8",
    "8.8.8.8.",
    "08.8.8.8",
    "8.8.8",
    "",
    "example.com",
    "1:2:3:4:5:6:7:8:9",
    "::1::",
    ":::",
    "1::2::3",
    "2001:4860:4860:0:0:0:0:8888::",
    "2001:4860:4860::88888",
    "[2001:4860:4860::8888]",
    "2001:4860::8.8.8",
    "2001:4860:8.8.8.8::1"
  ])("%j, which is no address", (text) => {
    expect(egressRefusal(text, null, allowing("0.0.0.0/0", "::/0"))).toBe("not an address in its usual spelling")
  })

  test("and nothing else: the ranges agree with another implementation at each of their edges", () => {
    const four =
      "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 " +
      "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 " +
      "224.0.0.0/4 240.0.0.0/4"
    const six = "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20"
    const read = (text: string): AddressRange => {
      const range = parseRange(text)
      if (typeof range === "string") throw new Error(range)
      return range
    }
    // Plain arithmetic. The code asks BlockList, which would agree with itself.
    const ranges = `${four} ${six}`.split(" ").map(read)
    const isDenied = ({ family, value }: Address): boolean =>
      ranges.some(({ first, prefix }) => {
        const size = 1n << BigInt((family === 4 ? 32 : 128) - prefix)
        return family === first.family && value >= first.value && value < first.value + size
      })
    const edges = `${four} ${six} 2600::/12 1.1.1.0/24`.split(" ").flatMap((text) => {
      const range = read(text)
      const { family, value } = range.first
      const size = 1n << BigInt((family === 4 ? 32 : 128) - range.prefix)
      return [value - 1n, value, value + 1n, value + size / 2n, value + size - 1n, value + size]
        .filter((edge) => edge >= 0n && edge < 1n << (family === 4 ? 32n : 128n))
        .map((edge) => textOf({ family, value: edge }))
    })
    // Mapped and carried addresses are held against the IPv4 part, which the other implementation has no notion of.
    const plain = edges.filter((text) => !text.startsWith("0:0:0:0:0:ffff:"))
    expect(
      plain.filter((text) => (egressRefusal(text, null, NOTHING_ALLOWED) !== null) !== isDenied(parseAddress(text)!))
    ).toEqual([])
    expect(plain.length).toBeGreaterThan(100)
  })

  test.each([
    ...vectors.allow,
    "9.255.255.255",
    "11.0.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "128.0.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:200::1",
    "2003::1"
  ])("%s is reached", (address) => {
    expect(egressRefusal(address, "receiver.example", NOTHING_ALLOWED)).toBeNull()
    expect(readTarget(`https://${address.includes(":") ? `[${address}]` : address}/hook`, open)).toMatchObject({
      isAddress: true,
      port: 443
    })
  })
})

test.each([
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["64:ff9b::808:808", "NAT64"],
  ["fd12::1", "private"],
  ["ff02::1", "multicast"],
  ["fec0::1", "not global unicast"],
  ["10.0.0.1", "private"],
  ["::ffff:127.0.0.1", "loopback"],
  ["169.254.169.254", "link-local, where clouds answer metadata"],
  ["fe80::1", "link-local"]
])("%s is denied as %s", (address, why) => {
  expect(egressRefusal(address, null, NOTHING_ALLOWED)).toBe(why)
})

describe("what is allowed all the same", () => {
  const cases: ReadonlyArray<readonly [string, string | null, ReadonlyArray<string>, boolean]> = [
    ["10.1.2.3", null, ["10.0.0.0/8"], true],
    ["::ffff:10.1.2.3", null, ["10.0.0.0/8"], true],
    ["10.1.2.3", null, ["::ffff:10.0.0.0/104"], true],
    ["11.1.2.3", "x.example", ["10.0.0.0/8"], true],
    ["192.168.1.1", null, ["10.0.0.0/8"], false],
    ["127.0.0.1", null, ["127.0.0.1"], true],
    ["127.0.0.2", null, ["127.0.0.1"], false],
    ["127.0.0.1", "receiver.internal", ["receiver.internal"], true],
    ["127.0.0.1", "x.receiver.internal", ["receiver.internal"], false],
    ["127.0.0.1", null, ["receiver.internal"], false],
    ["fd12::1", null, ["fc00::/7"], true],
    // Link-local and metadata: by the very address only.
    ["169.254.169.254", null, ["0.0.0.0/0"], false],
    ["169.254.169.254", null, ["169.254.0.0/16"], false],
    ["169.254.169.254", "metadata.internal", ["metadata.internal"], false],
    ["169.254.169.254", "metadata.internal", ["169.254.169.254/32"], true],
    ["100.100.100.200", null, ["100.64.0.0/10"], false],
    ["168.63.129.16", null, ["0.0.0.0/0"], false],
    ["fd00:ec2::254", null, ["fc00::/7"], false],
    ["fd00:ec2::254", null, ["fd00:ec2::254"], true],
    ["fe80::1", null, ["::/0"], false],
    ["192.0.0.192", null, ["192.0.0.0/24"], false],
    ["192.0.0.193", null, ["192.0.0.0/24"], true],
    ["fd20:ce::254", null, ["fd20::/16"], false],
    ["fd20:ce::255", null, ["fd20::/16"], true],
    ["64:ff9b:1::808:808", null, ["64:ff9b:1::/48"], false],
    // A translator's prefix opens the way to what it may carry, and no further.
    ["64:ff9b::808:808", null, ["64:ff9b::/96"], true],
    ["64:ff9b::a00:1", null, ["64:ff9b::/96"], false],
    ["64:ff9b::a00:1", null, ["64:ff9b::/96", "10.0.0.0/8"], true],
    ["64:ff9b::a9fe:a9fe", "x.example", ["64:ff9b::/96", "x.example", "0.0.0.0/0"], false],
    ["64:ff9b::a9fe:a9fe", null, ["64:ff9b::a9fe:a9fe"], true],
    ["2002:7f00:1::1", null, ["2002::/16"], false],
    ["2001:0:7f00:1::1", null, ["2001::/23"], false],
    ["2001:0:808:808::80ff:fffe", null, ["2001::/23"], false],
    ["2001:0:808:808::f7f7:f7f7", null, ["2001::/23"], true]
  ]
  test.each(cases)("%s of %s with %j: %s", (address, name, entries, reached) => {
    expect(egressRefusal(address, name, allowing(...entries)) === null).toBe(reached)
  })

  test.each([
    ["*.internal"],
    ["10.0.0.1/8"],
    ["10.0.0.0/33"],
    ["::/129"],
    ["::ffff:0.0.0.0/64"],
    ["010.0.0.0/8"],
    ["127.1"],
    ["http://x.example"],
    ["x.example:443"],
    ["x.example."],
    [""],
    ["fe80::1%eth0"],
    ["10.0.0.0/08"]
  ])("the entry %j is refused", (entry) => {
    expect(parseAllowList([entry])).toContain(`"${entry}" cannot be allowed`)
  })
})

const textOf = ({ family, value }: Address): string =>
  family === 4
    ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".")
    : Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(":")
