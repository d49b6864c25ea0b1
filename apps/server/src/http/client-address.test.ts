import { clientAddress, type Way } from "@flyball/http/server"
import { assert, describe, it } from "vitest"
import { inNetworks, readNetworks } from "../host/network.ts"

const trusted = inNetworks(readNetworks("10.0.0.0/8, 2001:db8:aaaa::/48, 127.0.0.1")!)
const xff = (peer: string, ...values: ReadonlyArray<string>): Way => ({
  peer,
  headers: { "x-forwarded-for": values.join(", ") }
})
const forwarded = (peer: string, value: string): Way => ({ peer, headers: { forwarded: value } })

/** The request, and the answer with these proxies trusted. */
const rows: ReadonlyArray<readonly [name: string, way: Way, answer: string | null]> = [
  ["a peer that is gone", { peer: undefined, headers: { "x-forwarded-for": "192.0.2.1" } }, null],
  ["a peer that is trusted and says nothing", { peer: "10.0.0.1", headers: {} }, "10.0.0.1"],
  ["a peer that is not trusted, whatever it says", xff("198.51.100.1", "192.0.2.1"), "198.51.100.1"],
  ["a peer that is not trusted, with Forwarded", forwarded("198.51.100.1", "for=192.0.2.1"), "198.51.100.1"],
  ["a trusted peer's client", xff("10.0.0.1", "192.0.2.1"), "192.0.2.1"],
  ["an IPv4 peer on an IPv6 socket", xff("::ffff:10.0.0.1", "192.0.2.1"), "192.0.2.1"],
  ["an IPv4 client that was written as IPv6", xff("10.0.0.1", "::ffff:192.0.2.1"), "192.0.2.1"],
  ["an IPv6 proxy and client", xff("2001:DB8:AAAA::1", "2001:DB8::7"), "2001:db8::7"],
  ["a zone", xff("127.0.0.1", "fe80::1%eth0"), "fe80::1"],
  [
    "the rightmost that is not trusted: what the client wrote itself is left of it",
    xff("10.0.0.1", "203.0.113.9", "192.0.2.1", "10.0.0.2"),
    "192.0.2.1"
  ],
  ["a chain of trusted proxies only", xff("10.0.0.1", "10.0.0.9", "10.0.0.2"), "10.0.0.9"],
  ["ports", xff("10.0.0.1", "192.0.2.1:4711"), "192.0.2.1"],
  ["IPv6 with a port", xff("10.0.0.1", "[2001:db8::7]:4711"), "2001:db8::7"],
  ["IPv6 in brackets", xff("10.0.0.1", "[2001:db8::7]"), "2001:db8::7"],
  ["IPv4 in brackets", xff("10.0.0.1", "[192.0.2.1]"), "10.0.0.1"],
  ["an empty header", xff("10.0.0.1", ""), "10.0.0.1"],
  ["words", xff("10.0.0.1", "unknown"), "10.0.0.1"],
  ["words before a trusted proxy", xff("10.0.0.1", "192.0.2.1", "_hidden", "10.0.0.2"), "10.0.0.2"],
  ["an address out of range", xff("10.0.0.1", "192.0.2.256"), "10.0.0.1"],
  ["a script", xff("10.0.0.1", '<script>, "\n'), "10.0.0.1"],
  [
    "several headers as a list",
    { peer: "10.0.0.1", headers: { "x-forwarded-for": ["203.0.113.9", "192.0.2.1"] } },
    "192.0.2.1"
  ],
  ["a list of nothing", xff("10.0.0.1", ",,,,"), "10.0.0.1"],
  [
    "more proxies than are read",
    xff("10.0.0.1", "192.0.2.1", ...Array.from({ length: 40 }, () => "10.0.0.2")),
    "10.0.0.2"
  ],
  ["Forwarded", forwarded("10.0.0.1", "for=192.0.2.1;proto=https;by=10.0.0.1"), "192.0.2.1"],
  [
    "Forwarded with capitals, quotes and a port",
    forwarded("10.0.0.1", 'By=10.0.0.1; FOR="[2001:db8::7]:80"'),
    "2001:db8::7"
  ],
  [
    "Forwarded, the rightmost",
    forwarded("10.0.0.1", 'for=203.0.113.9, for=192.0.2.1;host="a,b;c", for=10.0.0.2'),
    "192.0.2.1"
  ],
  ["Forwarded with escapes", forwarded("10.0.0.1", 'for="192.0.2.\\1"'), "192.0.2.1"],
  ["Forwarded without for", forwarded("10.0.0.1", "proto=https"), "10.0.0.1"],
  ["Forwarded with hidden names", forwarded("10.0.0.1", "for=192.0.2.1, for=_secret"), "10.0.0.1"],
  [
    "Forwarded with an open quote of the client's",
    forwarded("10.0.0.1", 'for=203.0.113.9, for=", for="[2001:db8::7]"'),
    "10.0.0.1"
  ],
  ["Forwarded that is no such thing", forwarded("10.0.0.1", "192.0.2.1"), "10.0.0.1"],
  ["Forwarded that ends too early", forwarded("10.0.0.1", "for=192.0.2.1,"), "10.0.0.1"],
  [
    "Forwarded, with more proxies than are read",
    forwarded("10.0.0.1", ["for=192.0.2.1", ...Array.from({ length: 40 }, () => "for=10.0.0.2")].join(",")),
    "10.0.0.2"
  ],
  [
    "both headers, in agreement",
    { peer: "10.0.0.1", headers: { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.1" } },
    "192.0.2.1"
  ],
  [
    "both headers, one of them the client's own",
    { peer: "10.0.0.1", headers: { "x-forwarded-for": "203.0.113.9", forwarded: "for=192.0.2.1" } },
    "10.0.0.1"
  ]
]

describe("the client's address", () => {
  it.each(rows)("%s", (_, way, answer) => assert.strictEqual(clientAddress(way, trusted), answer))

  it("is the peer's where nobody is trusted, whatever the headers say", () => {
    for (const [, way] of rows) {
      const { peer } = way
      assert.strictEqual(
        clientAddress(way, null),
        peer === undefined ? null : peer.toLowerCase().replace("::ffff:", "")
      )
    }
  })
})

describe("networks", () => {
  it.each<[string, ReadonlyArray<number> | null]>([
    ["10.0.0.0/8", [8]],
    [" 192.0.2.7 , ::1", [32, 128]],
    ["2001:db8::/32,127.0.0.1/32", [32, 32]],
    ["", null],
    ["10.0.0.0/0", null],
    ["::/0", null],
    ["10.0.0.0/33", null],
    ["::1/129", null],
    ["10.0.0", null],
    ["localhost", null],
    ["10.0.0.0/8,", null],
    ["10.0.0.0/-1", null],
    ["fe80::1%eth0", null],
    [Array.from({ length: 65 }, () => "::1").join(), null]
  ])("%s", (text, prefixes) =>
    assert.deepStrictEqual(readNetworks(text)?.map(({ prefix }) => prefix) ?? null, prefixes)
  )

  it("holds the addresses between its ends", () => {
    const inside = inNetworks(readNetworks("192.168.4.0/22, 2001:db8::/126")!)
    const answers = [
      "192.168.3.255",
      "192.168.4.0",
      "192.168.7.255",
      "192.168.8.0",
      "2001:db8::3",
      "2001:db8::4",
      "not an address",
      ""
    ].map(inside)
    assert.deepStrictEqual(answers, [false, true, true, false, true, false, false, false])
  })
})
