/** The tree against a naive recursive one: every size to 300, every range to 40, from leaves and from stored tiles. */
import {
  consistencyProof,
  emptyRoot,
  inclusionProof,
  portableCrypto,
  RangeFolder,
  rangeProof,
  rootAt,
  rootOfHashes,
  tileReader,
  verifyConsistency,
  verifyInclusion
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { assert, describe, it } from "vitest"
import { naiveConsistency, naiveLeaf, naivePath, naiveRoot } from "./naive.ts"

const MAX_SIZE = 300
const leaves = Array.from({ length: MAX_SIZE }, (_, index) => naiveLeaf(new TextEncoder().encode(`leaf ${index}`)))
const roots = Array.from({ length: MAX_SIZE + 1 }, (_, size) => naiveRoot(leaves.slice(0, size)))
const hex = (hashes: ReadonlyArray<Uint8Array>): string =>
  hashes.map((hash) => Buffer.from(hash).toString("hex")).join(" ")

/** Stored hashes as a storage gives them: complete nodes of levels 0 and 8 only. */
const storedHashes = async (tileLevel: number, from: number, count: number): Promise<Uint8Array> => {
  const width = 256 ** tileLevel
  const complete = Math.floor(MAX_SIZE / width)
  const nodes = Array.from({ length: Math.max(0, Math.min(count, complete - from)) }, (_, index) =>
    naiveRoot(leaves.slice((from + index) * width, (from + index + 1) * width))
  )
  return Uint8Array.from(nodes.flatMap((node) => [...node]))
}
const read = tileReader(nodeCrypto, storedHashes)

describe("the Merkle tree", () => {
  it("has the naive root at every size, from leaves and from tiles, with both crypto libraries", async () => {
    assert.equal(hex([emptyRoot(nodeCrypto)]), hex([roots[0]!]))
    for (let size = 0; size <= MAX_SIZE; size++) {
      assert.equal(hex([rootOfHashes(nodeCrypto, leaves.slice(0, size))]), hex([roots[size]!]), `size ${size}`)
      assert.equal(hex([await rootAt(nodeCrypto, size, read)]), hex([roots[size]!]), `size ${size} from tiles`)
    }
    assert.equal(hex([rootOfHashes(portableCrypto, leaves)]), hex([roots[MAX_SIZE]!]))
  })

  it("proves inclusion as the definition does, and accepts nothing else", async () => {
    for (let size = 1; size <= MAX_SIZE; size += size < 70 ? 1 : 23) {
      for (let seq = 0; seq < size; seq += size < 70 ? 1 : 7) {
        const proof = await inclusionProof(nodeCrypto, seq, size, read)
        assert.equal(hex(proof), hex(naivePath(seq, leaves.slice(0, size))), `leaf ${seq} of ${size}`)
        const claim = { seq, size, leaf: leaves[seq]!, proof, root: roots[size]! }
        assert.isTrue(verifyInclusion(nodeCrypto, claim))
        assert.isFalse(verifyInclusion(nodeCrypto, { ...claim, leaf: leaves[(seq + 1) % MAX_SIZE]! }))
        assert.isFalse(verifyInclusion(nodeCrypto, { ...claim, root: roots[size - 1]! }))
        assert.isFalse(verifyInclusion(nodeCrypto, { ...claim, proof: [...proof, roots[0]!] }))
        if (proof.length > 0) assert.isFalse(verifyInclusion(nodeCrypto, { ...claim, proof: proof.slice(1) }))
      }
    }
  })

  it("proves consistency as the definition does, and accepts nothing else", async () => {
    for (let to = 1; to <= MAX_SIZE; to += to < 50 ? 1 : 19) {
      for (let from = 1; from <= to; from += to < 50 ? 1 : 11) {
        const proof = await consistencyProof(nodeCrypto, from, to, read)
        assert.equal(hex(proof), hex(naiveConsistency(from, leaves.slice(0, to))), `${from} in ${to}`)
        const claim = { from, to, fromRoot: roots[from]!, toRoot: roots[to]!, proof }
        assert.isTrue(verifyConsistency(nodeCrypto, claim))
        if (from < to) {
          assert.isFalse(verifyConsistency(nodeCrypto, { ...claim, fromRoot: roots[from - 1]! }))
          assert.isFalse(verifyConsistency(nodeCrypto, { ...claim, proof: [...proof, roots[0]!] }))
        }
      }
    }
  })

  it("folds every range of every tree up to size 40", async () => {
    for (let size = 1; size <= 40; size++) {
      for (let from = 0; from < size; from++) {
        for (let to = from; to < size; to++) {
          const { left, right } = await rangeProof(nodeCrypto, from, to, size, read)
          const fold = (skipped: number, shownLeft: ReadonlyArray<Uint8Array>): string => {
            const folder = new RangeFolder(nodeCrypto, from)
            for (let seq = from; seq <= to; seq++) folder.pushLeaf(leaves[seq === skipped ? seq + 1 : seq]!)
            const root = folder.root(size, shownLeft, right)
            return root === null ? "" : hex([root])
          }
          assert.equal(fold(-1, left), hex([roots[size]!]), `${from}..${to} of ${size}`)
          assert.notEqual(fold(to, left), hex([roots[size]!]))
          if (left.length > 0) assert.notEqual(fold(-1, left.slice(1)), hex([roots[size]!]))
        }
      }
    }
  })
})
