/** Ids and seqs that were seen, against sets that keep everything. */
import { describe, expect, it } from "vitest"
import { SeenIds } from "./seen-ids.ts"
import { SeenSeqs } from "./seen-seqs.ts"

/** A digest by number. Few differ in their first words, so that places are taken. */
const digest = (n: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, n % 3)
  view.setUint32(4, n % 50)
  view.setUint32(8, n % 7)
  view.setUint32(12, n + 1)
  return bytes
}

describe("the set of seen ids", () => {
  it("contains exactly the ids that were added, while its tables grow", () => {
    const seen = new SeenIds()
    for (let n = 0; n < 5_000; n++) expect(seen.add(digest(n))).toBe(true)
    for (let n = 0; n < 5_000; n++) expect(seen.add(digest(n))).toBe(false)
    expect(seen.add(digest(5_000))).toBe(true)
  })

  it("keeps the first number of each id", () => {
    const seen = new SeenIds()
    for (let n = 0; n < 5_000; n++) seen.add(digest(n), 2 ** 32 - 1 - n)
    seen.add(digest(7), 7)
    for (let n = 0; n < 5_000; n++) expect(seen.find(digest(n))).toBe(2 ** 32 - 1 - n)
    expect(seen.find(digest(5_000))).toBeNull()
  })

  it("compares the first 16 bytes, and does not alias the caller's buffer", () => {
    const seen = new SeenIds()
    const bytes = digest(1)
    seen.add(bytes)
    bytes[15]! ^= 1
    expect(seen.add(bytes)).toBe(true)
    bytes[16]! ^= 1
    expect(seen.add(bytes)).toBe(false)
  })

  it("stores seqs as bits, in chunks that may be far apart", () => {
    const seen = new SeenSeqs()
    const all = [0, 1, 7, 8, 65_535, 65_536, 65_537, 2 ** 31, 2 ** 31 + 8, 2 ** 40]
    for (const seq of all) expect([seq, seen.add(seq), seen.add(seq)]).toEqual([seq, true, false])
  })
})
