import { describe, expect, it } from "vitest"
import { utf8 } from "./bytes.ts"
import { parsePrevious, type Previous, previousBytes } from "./previous.ts"

const known: Previous = { origin: "flyball.example/acme", checkpoint: "flyball.example/acme\n3\n…", signedSize: 9, signedRootHex: "0a".repeat(32), storedSize: 3, storedRootHex: "0b".repeat(32) }
const text = new TextDecoder()

describe("what a chain says of the one before it", () => {
  it("is canonical JSON, and reads back", () => {
    expect(text.decode(previousBytes(known))).toBe(
      `{"checkpoint":"flyball.example/acme\\n3\\n…","origin":"flyball.example/acme","signed_root":"sha256:${"0a".repeat(32)}","signed_size":9,` +
        `"stored_root":"sha256:${"0b".repeat(32)}","stored_size":3}`
    )
    for (const previous of [known, { ...known, checkpoint: null, storedSize: 0 }, { ...known, signedSize: null, signedRootHex: null }]) {
      expect(parsePrevious(previousBytes(previous))).toEqual(previous)
    }
  })

  it.each<[string, unknown]>([
    ["another member", { extra: 1 }], ["a member less", { checkpoint: undefined }], ["a size that is none", { signed_size: -1 }], ["a size that is no number", { stored_size: "3" }],
    ["a root without its size", { signed_size: null }], ["a size without its root", { signed_root: null }], ["a root in capitals", { stored_root: `sha256:${"0B".repeat(32)}` }],
    ["a checkpoint that is no text", { checkpoint: 1 }], ["no origin", { origin: null }]
  ])("is not believed with %s", (_, change) => {
    const value = { ...(JSON.parse(text.decode(previousBytes(known))) as object), ...(change as object) }
    expect(parsePrevious(utf8(JSON.stringify(value)))).toBeNull()
  })

  it.each(["", "null", "[]", "{", "\"x\""])("is not believed as %j", (bytes) => expect(parsePrevious(utf8(bytes))).toBeNull())
  it("is not believed in bytes that are no text", () => expect(parsePrevious(new Uint8Array([0xff]))).toBeNull())
})
