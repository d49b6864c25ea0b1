/**
 * Records that a careless or hostile writer let into its chain: hashes, root and signatures are all right, and only the
 * record is not.
 */
import { encodeRecord, formatVkey, fromUtf8, utf8 } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import type { Chain } from "./chain.ts"
import { checkpointNote, makeChain, withRecord } from "./chain.ts"
import { check, codesOf, linesOf, makePack, reseal } from "./packs.ts"

const chain = makeChain({ seed: 11, length: 8 })

interface Form {
  readonly name: string
  readonly seq: number
  readonly change: (text: string) => string | Uint8Array
  readonly exit: 0 | 1 | 3
  readonly codes: ReadonlyArray<string>
}

/** A record with another body, everything else as it was. */
const withBody = (text: string, kind: string, body: string): string =>
  text.replace(/"body":.*,"kind":"[^"]*"/, `"body":${body},"kind":"${kind}"`)
const body =
  (json: string) =>
  (text: string): string =>
    withBody(text, "decision.witnessed", json)
const bad = (
  name: string,
  change: Form["change"],
  codes: ReadonlyArray<string> = ["E_NONCANONICAL"],
  exit: Form["exit"] = 1,
  seq = 5
): Form => ({ name, seq, change, exit, codes })
const good = (name: string, change: Form["change"], seq = 5): Form => ({ name, seq, change, exit: 0, codes: [] })
/** A body of so many containers; the record around it is one more. */
const nested = (containers: number): string => `{"a":${"[".repeat(containers - 1)}${"]".repeat(containers - 1)}}`
const padded =
  (bytes: number) =>
  (text: string): string => {
    const empty = withBody(text, "decision.witnessed", `{"a":""}`)
    return withBody(text, "decision.witnessed", `{"a":"${"x".repeat(bytes - utf8(empty).length)}"}`)
  }
const genesis = (origin: string, hash: string, vkeys: string): string =>
  `{"hash":"${hash}","origin":"${origin}","vkeys":${vkeys}}`
const vkeys = JSON.stringify([chain.signer.vkey])

const forms: ReadonlyArray<Form> = [
  bad("a space", (text) => text.replace('"body":', '"body": ')),
  bad("a space at the end", (text) => `${text} `),
  bad("a byte-order mark", (text) => `\ufeff${text}`),
  bad("a name twice", body(`{"a":1,"a":1}`)),
  bad("names out of order", body(`{"b":1,"a":1}`)),
  bad("names ordered by bytes instead of code units", body(`{"\uff5e":1,"\u{1f600}":1}`)),
  bad("a fraction", body(`{"a":1.5}`)),
  bad("an exponent", body(`{"a":1e3}`)),
  bad("minus zero", body(`{"a":-0}`)),
  bad("a leading zero", body(`{"a":01}`)),
  bad("a number beyond 2^53 - 1", body(`{"a":9007199254740992}`)),
  bad("an escape that needs none", body(`{"a":"\\u0061"}`)),
  bad("an escaped slash", body(`{"a":"\\/"}`)),
  bad("an upper-case escape", body(`{"a":"\\u001F"}`)),
  bad("a lone surrogate", body(`{"a":"\\ud800"}`)),
  bad("a raw control character", body(`{"a":"\u0001"}`)),
  bad("broken UTF-8", (text) => {
    const bytes = utf8(text)
    bytes[bytes.indexOf(0x61, 40)] = 0xff
    return bytes
  }),
  bad("no JSON", () => "hello"),
  bad("a list", () => "[]"),
  bad("a member more", (text) => text.replace(/}$/, ',"w":1}')),
  bad("a member less", (text) => text.replace(/"kind":"[^"]*",/, "")),
  bad("a body that is a list", body("[]")),
  bad("an upper-case kind", (text) => text.replace(/"kind":"[^"]*"/, '"kind":"Decision.witnessed"')),
  bad("a short kind", (text) => text.replace(/"kind":"[^"]*"/, '"kind":"ab"')),
  bad("an upper-case prev", (text) => text.replace(/"prev":"[^"]*"/, `"prev":"${"A".repeat(64)}"`)),
  bad("parts that are none", (text) => text.replace(/"parts":\[.*\],/, '"parts":[1],')),
  bad("parts out of order", (text) =>
    text.replace(
      /"parts":\[.*\],/,
      `"parts":[{"c":"${"0".repeat(64)}","name":"b"},{"c":"${"0".repeat(64)}","name":"a"}],`
    )
  ),
  bad("a part twice", (text) =>
    text.replace(
      /"parts":\[.*\],/,
      `"parts":[{"c":"${"0".repeat(64)}","name":"a"},{"c":"${"1".repeat(64)}","name":"a"}],`
    )
  ),
  bad("a seq that is a text", (text) => text.replace('"seq":5', '"seq":"5"')),
  bad("a v that is a text", (text) => text.replace('"v":1', '"v":"1"')),
  bad("a v that is another integer", (text) => text.replace('"v":1', '"v":2'), ["E_VERSION"], 3),
  bad("33 open containers", body(nested(32)), ["E_LIMIT"], 3),
  bad("65,537 bytes", padded(65_537), ["E_LIMIT"], 3),
  bad("20 KB of brackets", body(`{"a":${"[".repeat(20_000)}`), ["E_LIMIT"], 3),
  bad("an instant that is none", (text) => text.replace(/"at":"[^"]*"/, '"at":"2026-02-30T00:00:00.000Z"'), ["E_TIME"]),
  bad("a leap second", (text) => text.replace(/"at":"[^"]*"/, '"at":"2026-12-31T23:59:60.000Z"'), ["E_TIME"]),
  bad("an instant in another form", (text) => text.replace(/"at":"[^"]*"/, '"at":"2026-11-21T00:00:00Z"'), ["E_TIME"]),
  bad("an instant before the last", (text) => text.replace(/"at":"[^"]*"/, '"at":"2025-11-21T00:00:00.000Z"'), [
    "E_TIME"
  ]),
  bad("a time that is a number", (text) => text.replace(/"at":"[^"]*"/, '"at":1')),
  bad("a prev of zeros", (text) => text.replace(/"prev":"[^"]*"/, `"prev":"${"0".repeat(64)}"`), ["E_PREV"]),
  bad("a second genesis", (text) => withBody(text, "chain.genesis", genesis(chain.origin, "sha256-rfc6962", vkeys)), [
    "E_SEQ"
  ]),
  bad("a record 0 of another kind", (text) => withBody(text, "decision.witnessed", "{}"), ["E_NONCANONICAL"], 1, 0),
  bad(
    "a record 0 with another member",
    (text) => withBody(text, "chain.genesis", genesis(chain.origin, "sha256-rfc6962", vkeys).replace("}", ',"z":1}')),
    ["E_NONCANONICAL"],
    1,
    0
  ),
  bad(
    "a record 0 without keys",
    (text) => withBody(text, "chain.genesis", genesis(chain.origin, "sha256-rfc6962", "[]")),
    ["E_NONCANONICAL"],
    1,
    0
  ),
  bad(
    "a record 0 with another hash",
    (text) => withBody(text, "chain.genesis", genesis(chain.origin, "sha512", vkeys)),
    ["E_VERSION"],
    3,
    0
  ),
  bad(
    "a record 0 of another origin",
    (text) => withBody(text, "chain.genesis", genesis("flyball.example/other", "sha256-rfc6962", vkeys)),
    ["E_ORIGIN"],
    1,
    0
  ),
  bad("a record 0 with a prev", (text) => text.replace(/"prev":"0/, '"prev":"1'), ["E_PREV"], 1, 0),
  bad("an erasure with another member", (text) =>
    withBody(text, "part.erased", `{"name":"args","reason":"x","seq":1,"who":"y"}`)
  ),
  bad("an erasure of a part with no name", (text) =>
    withBody(text, "part.erased", `{"name":"A","reason":"x","seq":1}`)
  ),
  bad("a rotation to no key", (text) => withBody(text, "key.rotated", `{"from_key_id":"512011be","to_vkey":"x"}`)),
  good("an erasure of what was never there", (text) =>
    withBody(text, "part.erased", `{"name":"args","reason":"x","seq":0}`)
  ),
  good("an erasure of a later record", (text) => withBody(text, "part.erased", `{"name":"args","reason":"x","seq":7}`)),
  good("a rotation", (text) =>
    withBody(
      text,
      "key.rotated",
      `{"from_key_id":"512011be","to_vkey":"${formatVkey(chain.origin, chain.signer.publicKey)}"}`
    )
  ),
  good("names that JavaScript knows", body(`{"__proto__":{},"constructor":1,"hasOwnProperty":null,"toString":[]}`)),
  good("an empty body", body("{}")),
  good(
    "every kind of value",
    body(
      `{"":{},"a":[[],{},true,false,null,0,-1,9007199254740991,-9007199254740991],"b":"\\"\\\\\\b\\f\\n\\r\\t\\u0000 ` +
        `\u007f\u2028 发 \u{1f600}"}`
    )
  ),
  good("32 open containers", body(nested(31))),
  good("65,536 bytes", padded(65_536)),
  good("a kind that begins like one we read", (text) => text.replace(/"kind":"[^"]*"/, '"kind":"chain.genesis2"')),
  good("the last instant there is", (text) => text.replace(/"at":"[^"]*"/, '"at":"9999-12-31T23:59:59.999Z"'), 7)
]

/** A full pack of a chain. The writer refuses records that are too long, so those are put in by hand. */
const pack = async (one: Chain): Promise<Uint8Array> => {
  if (one.records.every((record) => record.bytes.length <= 65_536))
    return makePack(one, { kind: "full", disclose: false })
  const lines = linesOf(await makePack(chain, { kind: "full", disclose: false, note: checkpointNote(one) }))
  const records = one.records.map((record) => `R ${fromUtf8(record.bytes)}`)
  return reseal(
    one,
    lines.map((line) => (line.startsWith("R ") ? records.shift()! : line))
  )
}

describe("a record with", () => {
  it("the form of the writer: good", async () =>
    expect(await check(await pack(chain), chain)).toMatchObject({ exit: 0 }))

  for (const form of forms) {
    it(`${form.name} at seq ${form.seq}: ${form.codes.join() || "good"}`, async () => {
      const changed = withRecord(chain, form.seq, form.change)
      const report = await check(await pack(changed), changed)
      expect(codesOf(report), JSON.stringify(report.findings)).toEqual(form.codes)
      expect(report.exit).toBe(form.exit)
      if (form.codes.length > 0) expect(report.findings[0]!.seq).toBe(form.seq)
    })
  }

  it("a part erased only by an earlier record: E_PART_UNEXPLAINED", async () => {
    const seq = chain.records.findIndex((record, i) => i > 5 && record.parts.length > 0)
    const { name } = chain.records[seq]!.parts[0]!
    const changed = withRecord(chain, 5, (text) =>
      withBody(text, "part.erased", `{"name":"${name}","reason":"x","seq":${seq}}`)
    )
    const lines = [...linesOf(await makePack(changed, { kind: "full", disclose: false }))]
    const report = await check(reseal(changed, lines.toSpliced(-2, 0, `E ${seq} ${name} 5`)), changed)
    expect([report.exit, codesOf(report)]).toEqual([1, ["E_PART_UNEXPLAINED"]])
  })

  it("more than 65,536 bytes is refused by the writer", () => {
    expect(() =>
      encodeRecord({
        at: chain.records[5]!.at,
        body: { a: "x".repeat(66_000) },
        kind: "decision.witnessed",
        parts: [],
        prev: "1".repeat(64),
        seq: 5
      })
    ).toThrow()
  })
})
