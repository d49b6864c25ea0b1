/**
 * Checks of proofs. Numbers and hashes come from strangers: each bad one reads false, nothing throws.
 *
 * Sizes go up to 2^64 - 1, so they are counted as `bigint`.
 */
import { equalBytes } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import { emptyRoot } from "./fold.ts"

/** A size or a leaf number: an integer from 0 to 2^64 - 1. A `number` must be a safe integer. */
export type Count = number | bigint

/** True when `leaf` is leaf `seq` of the tree with this size and root. Spec: RFC 9162 section 2.1.3.2. */
export const verifyInclusion = (
  crypto: Crypto,
  claim: {
    readonly seq: Count
    readonly size: Count
    readonly leaf: Uint8Array
    readonly proof: ReadonlyArray<Uint8Array>
    readonly root: Uint8Array
  }
): boolean => {
  const seq = count(claim.seq)
  const size = count(claim.size)
  if (seq === null || size === null || seq >= size || !allHashes([claim.leaf, ...claim.proof])) return false
  let at = seq
  let last = size - 1n
  let hash = claim.leaf
  for (const sibling of claim.proof) {
    if (last === 0n) return false
    if ((at & 1n) === 1n || at === last) {
      hash = crypto.nodeHash(sibling, hash)
      // A right edge without sibling has moved up through several levels at once.
      while ((at & 1n) === 0n && at !== 0n) {
        at >>= 1n
        last >>= 1n
      }
    } else hash = crypto.nodeHash(hash, sibling)
    at >>= 1n
    last >>= 1n
  }
  return last === 0n && equalBytes(hash, claim.root)
}

/**
 * True when the tree (`to`, `toRoot`) begins with the tree (`from`, `fromRoot`).
 *
 * Equal sizes need equal roots and no proof; those roots are compared only, whatever their length. The empty tree
 * begins every tree.
 *
 * - Spec: RFC 9162 section 2.1.4.2; for size 0, format 1 section 6.
 */
export const verifyConsistency = (
  crypto: Crypto,
  claim: {
    readonly from: Count
    readonly to: Count
    readonly fromRoot: Uint8Array
    readonly toRoot: Uint8Array
    readonly proof: ReadonlyArray<Uint8Array>
  }
): boolean => {
  const from = count(claim.from)
  const to = count(claim.to)
  if (from === null || to === null || from > to) return false
  if (from === to) return claim.proof.length === 0 && equalBytes(claim.fromRoot, claim.toRoot)
  if (from === 0n) return claim.proof.length === 0 && equalBytes(claim.fromRoot, emptyRoot(crypto))
  return subtreeWalk(crypto, 0n, from, to, claim.fromRoot, claim.toRoot, claim.proof)
}

/**
 * True when `leaf` is leaf `seq` of the tree's subtree over the leaves [start, end), whose root is `root`.
 *
 * - Spec: draft-ietf-plants-merkle-tree-certs section 4.3.
 */
export const verifySubtreeInclusion = (
  crypto: Crypto,
  claim: {
    readonly seq: Count
    readonly start: Count
    readonly end: Count
    readonly leaf: Uint8Array
    readonly proof: ReadonlyArray<Uint8Array>
    readonly root: Uint8Array
  }
): boolean => {
  const seq = count(claim.seq)
  const start = count(claim.start)
  const end = count(claim.end)
  if (seq === null || start === null || end === null || !isSubtree(start, end) || seq < start || seq >= end)
    return false
  return verifyInclusion(crypto, {
    seq: seq - start,
    size: end - start,
    leaf: claim.leaf,
    proof: claim.proof,
    root: claim.root
  })
}

/**
 * True when the subtree over the leaves [start, end) with `subtreeRoot` belongs to the tree (`size`, `root`).
 *
 * - Spec: draft-ietf-plants-merkle-tree-certs section 4.4.
 */
export const verifySubtreeConsistency = (
  crypto: Crypto,
  claim: {
    readonly start: Count
    readonly end: Count
    readonly size: Count
    readonly subtreeRoot: Uint8Array
    readonly root: Uint8Array
    readonly proof: ReadonlyArray<Uint8Array>
  }
): boolean => {
  const start = count(claim.start)
  const end = count(claim.end)
  const size = count(claim.size)
  if (start === null || end === null || size === null || !isSubtree(start, end) || end > size) return false
  if (start === end) return claim.proof.length === 0 && equalBytes(claim.subtreeRoot, emptyRoot(crypto))
  if (start === 0n && end === size) return claim.proof.length === 0 && equalBytes(claim.subtreeRoot, claim.root)
  return subtreeWalk(crypto, start, end, size, claim.subtreeRoot, claim.root, claim.proof)
}

/** The climb that both consistency checks share: with start 0 it is RFC 9162's. */
const subtreeWalk = (
  crypto: Crypto,
  start: bigint,
  end: bigint,
  size: bigint,
  subtreeRoot: Uint8Array,
  root: Uint8Array,
  proof: ReadonlyArray<Uint8Array>
): boolean => {
  if (!allHashes([subtreeRoot, root, ...proof])) return false
  const climb = { first: start, last: end - 1n, treeLast: size - 1n }
  while (climb.first !== climb.last && (climb.last === climb.treeLast || (climb.last & 1n) === 1n)) up(climb)
  let rest = proof
  let old = subtreeRoot
  if (climb.first !== climb.last) {
    if (proof.length === 0) return false
    old = proof[0]!
    rest = proof.slice(1)
  }
  let whole = old
  for (const sibling of rest) {
    if (climb.treeLast === 0n) return false
    if ((climb.last & 1n) === 1n || climb.last === climb.treeLast) {
      if (climb.first < climb.last) old = crypto.nodeHash(sibling, old)
      whole = crypto.nodeHash(sibling, whole)
      while ((climb.last & 1n) === 0n && climb.last !== 0n) up(climb)
    } else whole = crypto.nodeHash(whole, sibling)
    up(climb)
  }
  return climb.treeLast === 0n && equalBytes(old, subtreeRoot) && equalBytes(whole, root)
}

/**
 * Where a climb stands: the first and last leaf of the subtree and the last of the tree, as nodes of the level it has
 * reached.
 */
interface Climb {
  first: bigint
  last: bigint
  treeLast: bigint
}

const up = (climb: Climb): void => {
  climb.first >>= 1n
  climb.last >>= 1n
  climb.treeLast >>= 1n
}

/** True when [start, end) can be a subtree: it starts at a multiple of its width, rounded up to a power of two. */
const isSubtree = (start: bigint, end: bigint): boolean => {
  if (start > end) return false
  let width = 1n
  while (width < end - start) width <<= 1n
  return start % width === 0n
}

const count = (value: Count): bigint | null => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  return value >= 0n && value < 1n << 64n ? value : null
}

const allHashes = (hashes: ReadonlyArray<Uint8Array>): boolean => hashes.every((hash) => hash.length === 32)
