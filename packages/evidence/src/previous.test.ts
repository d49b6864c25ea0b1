import { describe, expect, it } from "vitest"
import { utf8 } from "./bytes.ts"
import { canonicalBytes } from "./json/canonical.ts"
import { parsePrevious, type Previous, previousBytes } from "./previous.ts"

const known: Previous = {
  origin: "flyball.example/acme",
  checkpoint: "flyball.example/acme\n3\n…",
  signedSize: 9,
  signedRootHex: "0a".repeat(32),
  storedSize: 3,
  storedRootHex: "0b".repeat(32)
}
const text = new TextDecoder()

describe("what a chain says of the one before it", () => {
  it("is canonical JSON, and reads back", () => {
    expect(text.decode(previousBytes(known))).toBe(
      `{"checkpoint":"flyball.example/acme\\n3\\n…","origin":"flyball.example/acme",` +
        `"signed_root":"sha256:${"0a".repeat(32)}","signed_size":9,` +
        `"stored_root":"sha256:${"0b".repeat(32)}","stored_size":3}`
    )
    for (const previous of [
      known,
      { ...known, checkpoint: null, storedSize: 0 },
      { ...known, signedSize: null, signedRootHex: null }
    ]) {
      expect(parsePrevious(previousBytes(previous))).toEqual(previous)
    }
  })

  it.each<[string, unknown]>([
    ["another member", { extra: 1 }],
    ["a member less", { checkpoint: undefined }],
    ["a size that is none", { signed_size: -1 }],
    ["a size that is no number", { stored_size: "3" }],
    ["a root without its size", { signed_size: null }],
    ["a size without its root", { signed_root: null }],
    ["a root in capitals", { stored_root: `sha256:${"0B".repeat(32)}` }],
    ["a checkpoint that is no text", { checkpoint: 1 }],
    ["no origin", { origin: null }],
    ["an origin that is none", { origin: "a\u001b b" }]
  ])("is not believed with %s", (_, change) => {
    const value = { ...(JSON.parse(text.decode(previousBytes(known))) as object), ...(change as object) }
    expect(parsePrevious(canonicalBytes(JSON.parse(JSON.stringify(value))))).toBeNull()
  })

  it.each<[string, (canonical: string) => string]>([
    ["a name that stands twice", (canonical) => canonical.replace(/\}$/, ',"stored_size":99}')],
    [
      "a name that stands twice, one after the other",
      (canonical) => canonical.replace(/\}$/, ',"stored_size":3}').replace(',"stored_size":3,', ',"stored_size":2,')
    ],
    ["white space", (canonical) => canonical.replace(":", ": ")],
    ["a newline behind it", (canonical) => `${canonical}\n`],
    ["names in another order", (canonical) => canonical.replace(/^\{("checkpoint":.*),("origin":"[^"]+")/, "{$2,$1")],
    ["an escape that is none of RFC 8785", (canonical) => canonical.replace("acme", "\\u0061cme")]
  ])("is not believed with %s", (_, change) => {
    const canonical = text.decode(previousBytes(known))
    expect(change(canonical)).not.toBe(canonical)
    expect(parsePrevious(utf8(change(canonical)))).toBeNull()
  })

  it.each(["", "null", "[]", "{", '"x"'])("is not believed as %j", (bytes) =>
    expect(parsePrevious(utf8(bytes))).toBeNull()
  )
  it("is not believed in bytes that are no text", () => expect(parsePrevious(new Uint8Array([0xff]))).toBeNull())
})
