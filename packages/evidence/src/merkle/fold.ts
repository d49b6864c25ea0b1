/** The two ends of folding a tree: nothing, and the ragged right edge. Spec: RFC 6962 section 2.1. */
import type { Crypto } from "../crypto.ts"

/** Root of the tree without leaves: SHA-256 of nothing. Spec: format 1 section 2. */
export const emptyRoot = (crypto: Crypto): Uint8Array => crypto.sha256(new Uint8Array(0))

/** Joins the roots of neighbouring subtrees from the right. There is at least one. */
export const foldRight = (crypto: Crypto, hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  let root = hashes[hashes.length - 1]!
  for (let i = hashes.length - 2; i >= 0; i--) root = crypto.nodeHash(hashes[i]!, root)
  return root
}
