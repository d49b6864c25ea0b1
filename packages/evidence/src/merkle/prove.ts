/** Proofs made from stored nodes. Each reads its nodes in one call. Spec: RFC 6962 section 2.1, format 1 section 5. */
import type { Crypto } from "../crypto.ts"
import { type NodeReader, split, splitPoint } from "./coords.ts"
import { foldRight } from "./fold.ts"

/** Leaves [from, to) whose subtree root is one hash of a proof. */
interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Audit path of a leaf in the tree of `size` leaves, deepest hash first.
 *
 * - Fails: `RangeError` unless seq < size.
 * - Spec: RFC 6962 section 2.1.1.
 */
export const inclusionProof = async (
  crypto: Crypto,
  seq: number,
  size: number,
  read: NodeReader
): Promise<ReadonlyArray<Uint8Array>> => {
  if (!(seq >= 0 && seq < size)) throw new RangeError(`There is no leaf ${seq} in a tree of ${size}.`)
  const spans: Array<Span> = []
  let from = 0
  let to = size
  while (to - from > 1) {
    const middle = from + splitPoint(to - from)
    if (seq < middle) {
      spans.push({ from: middle, to })
      to = middle
    } else {
      spans.push({ from, to: middle })
      from = middle
    }
  }
  return readSpans(crypto, spans.toReversed(), read)
}

/**
 * Proof that the tree of `to` leaves begins with the tree of `from` leaves. Empty when `from` is 0 or equals `to`.
 *
 * - Fails: `RangeError` unless from <= to.
 * - Spec: RFC 6962 section 2.1.2.
 */
export const consistencyProof = async (
  crypto: Crypto,
  from: number,
  to: number,
  read: NodeReader
): Promise<ReadonlyArray<Uint8Array>> => {
  if (!(from >= 0 && from <= to)) throw new RangeError(`A tree of ${to} leaves has no earlier tree of ${from}.`)
  if (from === 0 || from === to) return []
  const spans: Array<Span> = []
  let begin = 0
  let end = to
  // The verifier has the root of the old tree: it is left out as long as the old tree is a left edge of the subtree.
  let leftEdge = true
  while (from !== end) {
    const middle = begin + splitPoint(end - begin)
    if (from <= middle) {
      spans.push({ from: middle, to: end })
      end = middle
    } else {
      spans.push({ from: begin, to: middle })
      begin = middle
      leftEdge = false
    }
  }
  if (!leftEdge) spans.push({ from: begin, to: end })
  return readSpans(crypto, spans.toReversed(), read)
}

/**
 * The hashes left and right of the leaves `from` to `to` (inclusive): what the S line of a pack carries. Spec: format 1
 * section 5.
 */
export const rangeProof = async (
  _crypto: Crypto,
  from: number,
  to: number,
  size: number,
  read: NodeReader
): Promise<{ readonly left: ReadonlyArray<Uint8Array>; readonly right: ReadonlyArray<Uint8Array> }> => {
  if (!(from >= 0 && from <= to && to < size))
    throw new RangeError(`There is no range ${from} to ${to} in a tree of ${size} leaves.`)
  const left = split(0, from)
  const hashes = await read([...left, ...split(to + 1, size)])
  return { left: hashes.slice(0, left.length), right: hashes.slice(left.length) }
}

/** The subtree root of each span. */
const readSpans = async (
  crypto: Crypto,
  spans: ReadonlyArray<Span>,
  read: NodeReader
): Promise<ReadonlyArray<Uint8Array>> => {
  const coords = spans.map((span) => split(span.from, span.to))
  const hashes = await read(coords.flat())
  let at = 0
  return coords.map((some) => foldRight(crypto, hashes.slice(at, (at += some.length))))
}
