/** Batches of hashes are what the hashes are one by one, by OpenSSL and by our own lanes. */
import { describe, expect, it } from "vitest"
import { equalBytes } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { foldRun } from "../merkle/fold-run.ts"
import { split } from "../merkle/coords.ts"
import { RangeFolder } from "../merkle/range-folder.ts"
import { rootOfHashes } from "../merkle/root.ts"
import { nodeCrypto } from "./crypto.ts"
import { nodeLanes } from "./sha256-lanes.ts"

/** Bytes that repeat after a long while, with every value in them. */
const bytesOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 167 + (i >> 8) * 31 + seed * 89) & 0xff)
const children = (pairs: Uint8Array, i: number) =>
  [pairs.slice(64 * i, 64 * i + 32), pairs.slice(64 * i + 32, 64 * i + 64)] as const

describe("nodes in lanes", () => {
  const lanes = nodeLanes()!

  it("are the nodes of OpenSSL and of the portable hash, for every count and into the pairs themselves", () => {
    for (const count of [1, 2, 3, 4, 5, 8, 63, 1023, 1024, 1025, 2050]) {
      const pairs = bytesOf(64 * count, count)
      const expected = Array.from({ length: count }, (_, i) => nodeCrypto.nodeHash(...children(pairs, i)))
      expect(equalBytes(portableCrypto.nodeHash(...children(pairs, count - 1)), expected.at(-1)!)).toBe(true)
      const out = new Uint8Array(32 * count)
      lanes(pairs, count, out)
      lanes(pairs, count, pairs)
      for (let i = 0; i < count; i++) {
        if (
          !equalBytes(out.subarray(32 * i, 32 * i + 32), expected[i]!) ||
          !equalBytes(pairs.subarray(32 * i, 32 * i + 32), expected[i]!)
        )
          throw new Error(`node ${i} of ${count} differs`)
      }
    }
  })

  it("see every bit of both children", () => {
    const pairs = new Uint8Array(64 * 512)
    for (let bit = 0; bit < 512; bit++) pairs[64 * bit + (bit >> 3)]! ^= 1 << (bit & 7)
    const out = new Uint8Array(32 * 512)
    lanes(pairs, 512, out)
    for (let i = 0; i < 512; i++)
      expect(equalBytes(out.subarray(32 * i, 32 * i + 32), nodeCrypto.nodeHash(...children(pairs, i)))).toBe(true)
  })
})

describe.each([portableCrypto, nodeCrypto])("batches, $name", (crypto) => {
  it("of leaves are the leaves, wherever and however long they are", () => {
    const lengths = [0, 1, 55, 56, 63, 64, 700, 4095, 4096, 65_536]
    const bytes = bytesOf(
      lengths.reduce((sum, length) => sum + length + 3, 0),
      5
    )
    const before = bytes.slice()
    const bounds = new Int32Array(2 * lengths.length)
    let at = 2
    lengths.forEach((length, i) => {
      bounds.set([at, at + length], 2 * i)
      at += length + 3
    })
    const out = new Uint8Array(32 * lengths.length)
    crypto.leafHashes(bytes, bounds, lengths.length, out)
    lengths.forEach((_, i) =>
      expect(out.slice(32 * i, 32 * i + 32)).toEqual(
        portableCrypto.leafHash(bytes.subarray(bounds[2 * i], bounds[2 * i + 1]))
      )
    )
    expect(equalBytes(bytes, before)).toBe(true)
  })

  it("of runs fold to the subtrees that they are, beyond 2^31 too, and past where lanes begin", () => {
    for (const from of [0, 1, 6, 7, 1000, 2 ** 40 + 5]) {
      for (const count of [1, 2, 3, 8, 9, 100]) {
        const leaves = bytesOf(32 * count, from % 251)
        const subtrees = foldRun(crypto, from, leaves.slice(), count)
        const coords = split(from, from + count)
        expect(subtrees.map(({ level }) => level)).toEqual(coords.map(({ level }) => level))
        coords.forEach(({ index, level }, i) => {
          const first = index * 2 ** level - from
          const hashes = Array.from({ length: 2 ** level }, (_, n) =>
            leaves.slice(32 * (first + n), 32 * (first + n) + 32)
          )
          expect(subtrees[i]!.hash).toEqual(rootOfHashes(portableCrypto, hashes))
        })
      }
    }
    if (crypto.name === "portable") return
    const count = 24_000
    const folder = new RangeFolder(crypto)
    const leaves = bytesOf(32 * count, 3)
    for (const { hash, level } of foldRun(crypto, 0, leaves.slice(), count)) folder.pushSubtree(level, hash)
    for (const { hash, level } of foldRun(crypto, count, leaves.slice(), 1)) folder.pushSubtree(level, hash)
    const oneByOne = new RangeFolder(crypto)
    for (let i = 0; i < count; i++) oneByOne.pushLeaf(leaves.subarray(32 * i, 32 * i + 32))
    oneByOne.pushLeaf(leaves.subarray(0, 32))
    expect(folder.root()).toEqual(oneByOne.root())
  })
})
