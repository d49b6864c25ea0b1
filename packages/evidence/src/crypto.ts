/** The primitives of format 1 as one port, with a portable implementation. */
import { sha256 } from "@noble/hashes/sha2.js"
import { toHex } from "./bytes.ts"
import { commitmentWith } from "./commitment.ts"
import { ed25519PublicKey, ed25519Sign, ed25519Verify } from "./ed25519-portable.ts"

/** Cryptographic functions that format 1 needs. Returned arrays are fresh: the library never writes to them again. */
export interface Crypto {
  /** For reports and messages, never to branch on. */
  readonly name: "portable" | "openssl"
  readonly sha256: (bytes: Uint8Array) => Uint8Array
  /** The same as lower-case hex digits. */
  readonly sha256Hex: (bytes: Uint8Array) => string
  /** SHA-256(0x00 || record): the record hash, and the RFC 6962 leaf hash. */
  readonly leafHash: (record: Uint8Array) => Uint8Array
  /** Like `sha256`, written to `out` from index `at` on: nothing is allocated. */
  readonly sha256Into: (bytes: Uint8Array, out: Uint8Array, at: number) => void
  /**
   * `nodeHash` of many pairs: number i is the 64 bytes at pairs[64i], and its hash goes to out[32i]. `out` may be
   * `pairs`.
   */
  readonly nodeHashes: (pairs: Uint8Array, count: number, out: Uint8Array) => void
  /** SHA-256(0x01 || left || right). `RangeError` unless both are 32 bytes. */
  readonly nodeHash: (left: Uint8Array, right: Uint8Array) => Uint8Array
  /** The commitment to a part. Spec: format 1 section 3. */
  readonly commitment: (salt: Uint8Array, name: string, part: Uint8Array) => Uint8Array
  /** A running SHA-256. `digest` ends it. */
  readonly hasher: () => Hasher
  /**
   * The library's own cofactorless check; the strict checks of format 1 section 4 stand in front of it. False on any
   * malformed input.
   */
  readonly ed25519Verify: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean
  readonly ed25519Sign: (seed: Uint8Array, message: Uint8Array) => Uint8Array
  readonly ed25519PublicKey: (seed: Uint8Array) => Uint8Array
}

/** A running SHA-256. */
export interface Hasher {
  readonly update: (chunk: Uint8Array) => void
  readonly digest: () => Uint8Array
}

/** Dies unless both are hashes: a node over anything else would have two readings. */
export const checkChildren = (left: Uint8Array, right: Uint8Array): void => {
  if (left.length !== 32 || right.length !== 32)
    throw new RangeError(`A node joins two hashes of 32 bytes; these have ${left.length} and ${right.length}.`)
}

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** Pure JavaScript (noble): the reference that runs everywhere. */
export const portableCrypto: Crypto = {
  name: "portable",
  sha256: (bytes) => sha256(bytes),
  sha256Hex: (bytes) => toHex(sha256(bytes)),
  sha256Into: (bytes, out, at) => out.set(sha256(bytes), at),
  leafHash: (record) => sha256.create().update(LEAF).update(record).digest(),
  nodeHashes: (pairs, count, out) => {
    for (let i = 0; i < count; i++) {
      const [left, right] = [pairs.subarray(64 * i, 64 * i + 32), pairs.subarray(64 * i + 32, 64 * i + 64)]
      out.set(portableCrypto.nodeHash(left, right), 32 * i)
    }
  },
  nodeHash: (left, right) => {
    checkChildren(left, right)
    return sha256.create().update(NODE).update(left).update(right).digest()
  },
  commitment: (salt, name, part) => commitmentWith(sha256, salt, name, part),
  hasher: () => {
    const running = sha256.create()
    return {
      update: (chunk) => {
        running.update(chunk)
      },
      digest: () => running.digest()
    }
  },
  ed25519Verify,
  ed25519Sign,
  ed25519PublicKey
}
