/** The writer of packs: the format's worked example to the byte, and the order of lines. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { concatBytes, fromHex, fromUtf8, toHex, utf8 } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { noteSigner } from "../checkpoint/sign.ts"
import type { PackHeader } from "./format.ts"
import { packLines } from "./lines.ts"

const folder = new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url)
const example = JSON.parse(readFileSync(new URL("example.json", folder), "utf8")) as {
  readonly seed: string
  readonly origin: string
  readonly checkpoint_note: string
  readonly records: ReadonlyArray<{ readonly bytes: string }>
  readonly part: { readonly seq: number; readonly name: string; readonly r: string; readonly bytes: string }
  readonly pack: { readonly digest_in_Z: string }
}
const header: PackHeader = {
  created: "2026-11-21T00:00:01.000Z",
  filter: {},
  from: 0,
  generator: "example/1",
  kind: "full",
  to: 1,
  tree_size: 2
}

describe("the worked example", () => {
  for (const crypto of [portableCrypto, nodeCrypto]) {
    it(`comes out byte for byte, ${crypto.name}`, async () => {
      const seed = fromHex(example.seed)!
      const signer = noteSigner(crypto, { name: example.origin, seed })
      const lines = packLines(crypto, example.origin)
      const written = [
        lines.open(header, example.checkpoint_note),
        ...example.records.map((record) => lines.record(utf8(record.bytes))),
        lines.range(0, 1, [], []),
        lines.disclosed(example.part.seq, example.part.name, fromHex(example.part.r)!, utf8(example.part.bytes))
      ]
      const closed = await lines.close((message) => crypto.ed25519Sign(seed, message), signer.name, signer.keyId)
      expect(fromUtf8(concatBytes(...written, closed.bytes))).toBe(readFileSync(new URL("example.evp", folder), "utf8"))
      expect(toHex(closed.digest)).toBe(example.pack.digest_in_Z)
    })
  }
})

describe("the order of lines", () => {
  const sparse: PackHeader = { ...header, kind: "sparse" }
  const hash = new Uint8Array(32)
  const open = (kind: PackHeader) => {
    const lines = packLines(portableCrypto, example.origin)
    lines.open(kind, example.checkpoint_note)
    return lines
  }
  const close = (lines: ReturnType<typeof open>) => lines.close(() => new Uint8Array(64), "a", new Uint8Array(4))

  it("is kept by the writer", async () => {
    expect(() => packLines(portableCrypto, "a").record(new Uint8Array(0))).toThrow("before it is open")
    expect(() => open(header).open(header, "")).toThrow("once")
    expect(() => open(header).disclosed(0, "a", hash, hash)).toThrow("after K")
    await expect(close(open(header))).rejects.toThrow()
    const full = open(header)
    full.record(new Uint8Array(2))
    expect(() => full.inclusion(0, [])).toThrow("full pack has no I")
    await expect(close(full)).rejects.toThrow("after R")
    full.range(0, 1, [], [])
    expect(() => full.record(new Uint8Array(2))).toThrow("after S")
    full.erased(0, "a", 1)
    expect(() => full.disclosed(0, "a", hash, hash)).toThrow("after E")
    await close(full)
    expect(() => full.erased(0, "a", 1)).toThrow("after Z")
    const part = open(sparse)
    part.record(new Uint8Array(2))
    expect(() => part.record(new Uint8Array(2))).toThrow("after R")
    expect(() => part.range(0, 1, [], [])).toThrow("sparse pack has no S")
    part.inclusion(0, [])
    part.disclosed(0, "a", hash, hash)
    await close(part)
    await close(open(sparse))
  })

  it("and so are the limits that a reader holds it to", () => {
    expect(() => open(header).record(new Uint8Array(65_537))).toThrow("65536")
    const lines = packLines(portableCrypto, example.origin)
    expect(() => lines.open(header, "", { hints: Array.from({ length: 65 }, () => "k") })).toThrow("64 K lines")
    expect(() => lines.open(header, "", { tokens: Array.from({ length: 17 }, () => hash) })).toThrow("16 W lines")
    const withRecord = () => {
      const ready = open(header)
      ready.record(new Uint8Array(2))
      return ready
    }
    expect(() => withRecord().range(0, 1, [new Uint8Array(31)], [])).toThrow("32 bytes")
    const ready = withRecord()
    ready.range(0, 1, [], [])
    expect(() => ready.disclosed(0, "a", hash, new Uint8Array(16 * 1024 * 1024 + 1))).toThrow("at most")
  })
})
