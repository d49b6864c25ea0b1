/** Roots. Spec: RFC 6962 section 2.1, format 1 section 2. */
import type { Crypto } from "../crypto.ts"
import { type NodeReader, split } from "./coords.ts"
import { emptyRoot, foldRight } from "./fold.ts"
import { RangeFolder } from "./range-folder.ts"

/** Root over these leaf hashes. Spec: format 1 section 2; RFC 6962 section 2.1. */
export const rootOfHashes = (crypto: Crypto, hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  const folder = new RangeFolder(crypto)
  for (const hash of hashes) folder.pushLeaf(hash)
  return folder.root() ?? emptyRoot(crypto)
}

/**
 * Root of the first `size` leaves, from at most log2(size) stored nodes. Spec: format 1 section 2; RFC 6962 section
 * 2.1.
 */
export const rootAt = async (crypto: Crypto, size: number, read: NodeReader): Promise<Uint8Array> =>
  size === 0 ? emptyRoot(crypto) : foldRight(crypto, await read(split(0, size)))
