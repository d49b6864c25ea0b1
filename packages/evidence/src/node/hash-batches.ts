/** Many hashes at once: what a check of a whole pack spends its time in. */
import { hash } from "node:crypto"
import type { NodeHashes } from "./sha256-lanes.ts"
import { nodeLanes } from "./sha256-lanes.ts"

/** 0x00 with room for the longest record behind it. */
const leaf = new Uint8Array(65_537)
/**
 * Views of that buffer by length. Node hashes whole views only; making one for each record costs 280 ns, copying the
 * record to where a view
 * is at hand costs 80 (records have few lengths).
 */
const leafViews: Array<Uint8Array | undefined> = new Array(4097).fill(undefined)

const viewOf = (length: number): Uint8Array =>
  length < leafViews.length ? (leafViews[length] ??= leaf.subarray(0, length)) : leaf.subarray(0, length)

/** `leafHashes` of the port, for records of at most 65,536 bytes. */
export const hashLeaves = (bytes: Uint8Array, bounds: Int32Array, count: number, out: Uint8Array): void => {
  const text = Buffer.from(out.buffer, out.byteOffset, out.byteLength)
  for (let i = 0; i < count; i++) {
    const start = bounds[2 * i]!
    const end = bounds[2 * i + 1]!
    leaf.set(bytes.subarray(start, end), 1)
    // A digest as a Latin-1 string, written in one call: half the time of a digest as a Buffer, and 100 ns less than
    // letter by letter.
    text.write(hash("sha256", viewOf(end - start + 1), "binary"), 32 * i, 32, "latin1")
  }
}

const pair = new Uint8Array(65)
pair[0] = 1

const oneByOne: NodeHashes = (pairs, count, out) => {
  const text = Buffer.from(out.buffer, out.byteOffset, out.byteLength)
  for (let i = 0; i < count; i++) {
    pair.set(pairs.subarray(64 * i, 64 * i + 64), 1)
    text.write(hash("sha256", pair, "binary"), 32 * i, 32, "latin1")
  }
}

/** Nodes that were hashed by OpenSSL; past `LANES_FROM` the lanes are worth the 10 ms that making them takes. */
let hashed = 0
const LANES_FROM = 20_000
let lanes: NodeHashes | null | undefined

/** `nodeHashes` of the port. */
export const hashNodes: NodeHashes = (pairs, count, out) => {
  if (lanes === undefined && hashed < LANES_FROM) hashed += count
  else lanes ??= trusted(nodeLanes())
  ;(lanes ?? oneByOne)(pairs, count, out)
}

/** The lanes, if what they make is what OpenSSL makes. */
const trusted = (made: NodeHashes | null): NodeHashes => {
  const count = 9
  const pairs = Uint8Array.from({ length: 64 * count }, (_, i) => (i * 37) % 251)
  const [ours, theirs] = [new Uint8Array(32 * count), new Uint8Array(32 * count)]
  made?.(pairs, count, ours)
  oneByOne(pairs, count, theirs)
  return made !== null && Buffer.compare(ours, theirs) === 0 ? made : oneByOne
}
