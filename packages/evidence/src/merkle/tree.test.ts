import { describe, expect, it } from "vitest"
import { toHex } from "../bytes.ts"
import { nodeCrypto as crypto } from "../node/crypto.ts"
import { split } from "./coords.ts"
import { emptyRoot } from "./fold.ts"
import { naiveConsistency, naivePath, naiveReader, naiveRoot, testLeaves } from "./naive-tree.ts"
import { consistencyProof, inclusionProof, rangeProof } from "./prove.ts"
import { RangeFolder } from "./range-folder.ts"
import { rootAt, rootOfHashes } from "./root.ts"
import { MissingNodes, TILE_WIDTH, tileReader, tileRoot } from "./tiles.ts"
import { verifyConsistency, verifyInclusion, verifySubtreeConsistency, verifySubtreeInclusion } from "./verify.ts"

const MAX = 68
const leaves = testLeaves(crypto, MAX)
const roots = Array.from({ length: MAX + 1 }, (_, size) => naiveRoot(crypto, leaves.slice(0, size)))
const readerOf = (size: number) => naiveReader(crypto, leaves.slice(0, size))

describe("split", () => {
  it("covers a range with the fewest aligned subtrees", () => {
    expect(split(0, 0)).toEqual([])
    expect(split(3, 11)).toEqual([
      { level: 0, index: 3 },
      { level: 2, index: 1 },
      { level: 1, index: 4 },
      { level: 0, index: 10 }
    ])
    expect(split(0, 2 ** 40 + 1)).toEqual([
      { level: 40, index: 0 },
      { level: 0, index: 2 ** 40 }
    ])
    for (let from = 0; from <= 40; from++) {
      for (let to = from; to <= 40; to++) {
        let at = from
        for (const { index, level } of split(from, to)) {
          expect(index * 2 ** level).toBe(at)
          at += 2 ** level
        }
        expect(at).toBe(to)
      }
    }
  })
})

describe("roots and proofs against the definition", () => {
  it("root, by hashes and by stored nodes", async () => {
    expect(toHex(emptyRoot(crypto))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    for (let size = 0; size <= MAX; size++) {
      expect(rootOfHashes(crypto, leaves.slice(0, size))).toEqual(roots[size])
      expect(await rootAt(crypto, size, readerOf(size))).toEqual(roots[size])
    }
  })

  it("inclusion of every leaf in every size; no other leaf, place or size passes", async () => {
    for (let size = 1; size <= MAX; size++) {
      for (let seq = 0; seq < size; seq++) {
        const proof = await inclusionProof(crypto, seq, size, readerOf(size))
        expect(proof).toEqual(naivePath(crypto, seq, leaves.slice(0, size)))
        const claim = { seq, size, leaf: leaves[seq]!, proof, root: roots[size]! }
        expect(verifyInclusion(crypto, claim)).toBe(true)
        expect(verifyInclusion(crypto, { ...claim, seq: seq + 1 })).toBe(false)
        expect(verifyInclusion(crypto, { ...claim, leaf: leaves[(seq + 1) % MAX]! })).toBe(false)
        expect(verifyInclusion(crypto, { ...claim, root: roots[size - 1]! })).toBe(false)
        expect(verifyInclusion(crypto, { ...claim, proof: [...proof, leaves[0]!] })).toBe(false)
        expect(verifyInclusion(crypto, { ...claim, proof: proof.slice(1) })).toBe(size === 1)
      }
    }
  })

  it("consistency of every two sizes, from 0 and of equals too", async () => {
    for (let to = 0; to <= MAX; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = await consistencyProof(crypto, from, to, readerOf(to))
        expect(proof).toEqual(from === 0 ? [] : naiveConsistency(crypto, from, leaves.slice(0, to)))
        const claim = { from, to, fromRoot: roots[from]!, toRoot: roots[to]!, proof }
        expect(verifyConsistency(crypto, claim)).toBe(true)
        expect(verifyConsistency(crypto, { ...claim, proof: [...proof, roots[1]!] })).toBe(false)
        if (from > 0) expect(verifyConsistency(crypto, { ...claim, fromRoot: roots[from - 1]! })).toBe(false)
        if (from > 0 && from < to) {
          expect(verifyConsistency(crypto, { ...claim, toRoot: roots[to - 1]! })).toBe(false)
          expect(verifyConsistency(crypto, { ...claim, proof: proof.slice(1) })).toBe(false)
        }
      }
    }
  })

  it("refuses questions that have no answer", async () => {
    await expect(inclusionProof(crypto, 5, 5, readerOf(5))).rejects.toThrow(RangeError)
    await expect(consistencyProof(crypto, 6, 5, readerOf(5))).rejects.toThrow(RangeError)
    await expect(rangeProof(crypto, 2, 5, 5, readerOf(5))).rejects.toThrow(RangeError)
    await expect(rangeProof(crypto, 3, 2, 5, readerOf(5))).rejects.toThrow(RangeError)
    for (const bad of [-1, 0.5, Number.NaN, 2 ** 53, -1n, 2n ** 64n]) {
      expect(verifyInclusion(crypto, { seq: bad, size: 2 ** 40, leaf: leaves[0]!, proof: [], root: leaves[0]! })).toBe(
        false
      )
      expect(verifyConsistency(crypto, { from: 0, to: bad, fromRoot: roots[0]!, toRoot: roots[0]!, proof: [] })).toBe(
        false
      )
    }
  })
})

describe("subtrees", () => {
  const leafOf = (seq: number) => leaves[seq]!

  it("start at a multiple of their width, rounded up to a power of two", async () => {
    const [start, end] = [5, 7]
    const root = crypto.nodeHash(leafOf(start), leafOf(start + 1))
    const inclusion = { seq: 5, start, end, leaf: leafOf(5), proof: [leafOf(6)], root }
    expect(verifySubtreeInclusion(crypto, inclusion)).toBe(false)
    expect(verifySubtreeInclusion(crypto, { ...inclusion, seq: 4, start: 4, end: 6, leaf: leafOf(5) })).toBe(true)
    for (const claim of [
      { start: 5, end: 7 },
      { start: 2, end: 5 },
      { start: 7, end: 6 },
      { start: 0, end: 9 }
    ]) {
      expect(
        verifySubtreeConsistency(crypto, { ...claim, size: 8, subtreeRoot: root, root: roots[8]!, proof: [] })
      ).toBe(false)
    }
    const path = await inclusionProof(crypto, 4, 8, readerOf(8))
    const pair = crypto.nodeHash(leafOf(4), leafOf(5))
    const consistency = { start: 4, end: 6, size: 8, subtreeRoot: pair, root: roots[8]!, proof: path.slice(1) }
    expect(verifySubtreeConsistency(crypto, consistency)).toBe(true)
    expect(verifySubtreeConsistency(crypto, { ...consistency, start: 6, end: 8 })).toBe(false)
  })
})

describe("the range folder", () => {
  it("finds the root from every range and what lies around it", async () => {
    for (let size = 1; size <= 40; size++) {
      for (let from = 0; from < size; from++) {
        const folder = new RangeFolder(crypto, from)
        for (let to = from; to < size; to++) {
          folder.pushLeaf(leaves[to]!)
          const { left, right } = await rangeProof(crypto, from, to, size, readerOf(size))
          expect(folder.root(size, left, right)).toEqual(roots[size])
          expect(folder.root(size, [...left, leaves[0]!], right)).toBeNull()
          expect(folder.root(size, left, right.slice(1)) === null).toBe(right.length > 0)
          expect(
            folder.root(
              size,
              left.map((hash) => hash.subarray(1)),
              right
            ) === null
          ).toBe(left.length > 0)
        }
        expect(folder.next).toBe(size)
        expect(folder.root(size - 1)).toBeNull()
      }
    }
  })

  it("takes slices that others have folded, and hashes from an array that is used again", () => {
    const folder = new RangeFolder(crypto, 4)
    folder.pushSubtree(2, naiveRoot(crypto, leaves.slice(4, 8)))
    folder.pushSubtree(3, naiveRoot(crypto, leaves.slice(8, 16)))
    const shared = new Uint8Array(32)
    for (const leaf of leaves.slice(16, 19)) {
      shared.set(leaf)
      folder.pushLeaf(shared)
    }
    expect(folder.root(19, [naiveRoot(crypto, leaves.slice(0, 4))])).toEqual(roots[19])
    expect(() => folder.pushSubtree(2, leaves[0]!)).toThrow(RangeError)
    expect(() => folder.pushLeaf(new Uint8Array(31))).toThrow(RangeError)
    expect(new RangeFolder(crypto).root()).toEqual(roots[0])
  })
})

describe("stored tiles", () => {
  const many = testLeaves(crypto, 1300)
  const level1 = Array.from({ length: 5 }, (_, i) => naiveRoot(crypto, many.slice(i * 256, (i + 1) * 256)))
  let calls = 0
  const stored = (tileLevel: number, from: number, count: number): Promise<Uint8Array> => {
    calls++
    const hashes = (tileLevel === 0 ? many : level1).slice(from, from + count)
    return Promise.resolve(Uint8Array.from(hashes.flatMap((hash) => [...hash])))
  }

  it("root of a full tile", () => {
    expect(tileRoot(crypto, Uint8Array.from(many.slice(0, TILE_WIDTH).flatMap((hash) => [...hash])))).toEqual(level1[0])
    expect(() => tileRoot(crypto, new Uint8Array(32))).toThrow(RangeError)
  })

  it("answer roots and proofs, each tile read once", async () => {
    const read = tileReader(crypto, stored)
    for (const size of [1, 255, 256, 257, 512, 700, 1280, 1300]) {
      const root = naiveRoot(crypto, many.slice(0, size))
      expect(await rootAt(crypto, size, read)).toEqual(root)
      for (const seq of [0, Math.floor(size / 2), size - 1]) {
        calls = 0
        const proof = await inclusionProof(crypto, seq, size, read)
        expect(calls).toBeLessThanOrEqual(4)
        expect(verifyInclusion(crypto, { seq, size, leaf: many[seq]!, proof, root })).toBe(true)
      }
      const proof = await consistencyProof(crypto, Math.ceil(size / 3), size, read)
      expect(
        verifyConsistency(crypto, {
          from: Math.ceil(size / 3),
          to: size,
          fromRoot: naiveRoot(crypto, many.slice(0, Math.ceil(size / 3))),
          toRoot: root,
          proof
        })
      ).toBe(true)
    }
  })

  it("say so when the store is behind", async () => {
    await expect(rootAt(crypto, 1400, tileReader(crypto, stored))).rejects.toThrow(MissingNodes)
  })
})
