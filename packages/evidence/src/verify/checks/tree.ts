/** The hashes of the records against the root in the checkpoint. Spec: format 1 section 5. */
import { equalBytes, toBase64 } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import { split } from "../../merkle/coords.ts"
import { RangeFolder } from "../../merkle/range-folder.ts"
import { verifyInclusion } from "../../merkle/verify.ts"
import type { PackHeader } from "../../pack/format.ts"
import type { Findings } from "../findings.ts"
import type { PackCheckpoint } from "./head.ts"

/** Computes the root over the records of a full or range pack, and checks the proof of each record of a sparse pack. */
export class TreeChecks {
  /** Roots of a full pack at the requested sizes that it reaches. */
  readonly roots = new Map<number, Uint8Array>()
  readonly #crypto: Crypto
  readonly #findings: Findings
  readonly #header: PackHeader
  readonly #checkpoint: PackCheckpoint
  readonly #folder: RangeFolder
  /** Sizes whose roots are requested, ascending. */
  readonly #rootsAt: ReadonlyArray<number>
  #nextRoot = 0
  /** True when from <= to < tree size. */
  readonly #bounded: boolean
  #extra = 0
  #failed = 0
  #rangeHolds = false

  constructor(
    crypto: Crypto,
    findings: Findings,
    header: PackHeader,
    checkpoint: PackCheckpoint,
    rootsAt: ReadonlyArray<number>
  ) {
    this.#crypto = crypto
    this.#findings = findings
    this.#header = header
    this.#checkpoint = checkpoint
    this.#bounded = header.from <= header.to && header.to < checkpoint.size
    this.#folder = new RangeFolder(crypto, this.#bounded ? header.from : 0)
    // Without the records before `from` no root can be computed. Such a full pack has a finding.
    const hasAllLeaves = header.kind === "full" && header.from === 0
    this.#rootsAt = hasAllLeaves ? [...new Set(rootsAt)].filter((size) => size > 0).sort((a, b) => a - b) : []
    this.#checkHeader()
  }

  /** Adds the hash of the next record. A sparse pack has a proof for each record instead. */
  push(leaf: Uint8Array): void {
    if (this.#header.kind === "sparse") return
    const folder = this.#folder
    if (!this.#bounded || folder.next > this.#header.to) {
      this.#extra++
      return
    }
    folder.pushLeaf(leaf)
    this.#takeRoot()
  }

  #takeRoot(): void {
    const { next } = this.#folder
    if (next !== this.#rootsAt[this.#nextRoot]) return
    const root = this.#folder.root()
    if (root !== null) this.roots.set(next, root)
    this.#nextRoot++
  }

  /**
   * Checks the proof of a record of a sparse pack. `seq` is null for a record that cannot be read: the proof names it.
   */
  prove(leaf: Uint8Array, seq: number | null, provenSeq: number, proof: ReadonlyArray<Uint8Array>, line: number): void {
    const fail = (expected: string, found: string): void => {
      this.#failed++
      this.#findings.add("E_PROOF", { line, seq: seq ?? provenSeq, expected, found })
    }
    if (seq !== null && seq !== provenSeq) return fail(`the proof of record ${seq}`, `a proof of record ${provenSeq}`)
    const { root, size } = this.#checkpoint
    if (verifyInclusion(this.#crypto, { seq: provenSeq, size, leaf, proof, root })) return
    const expected = `a proof of ${proofLength(provenSeq, size)} hashes that leads to the checkpoint's root`
    fail(expected, `${proof.length} hashes that do not`)
  }

  /** Checks the root, with the hashes left and right of the range. */
  range(from: number, to: number, hashes: ReadonlyArray<Uint8Array>, line: number): void {
    const { from: first, to: last } = this.#header
    if (from !== first || to !== last) {
      this.#findings.add("E_COUNT", { line, expected: `S ${first} ${last}`, found: `S ${from} ${to}` })
    }
    if (!this.#bounded) return
    const wanted = last - first + 1
    const got = this.#folder.next - first + this.#extra
    if (got !== wanted) {
      this.#findings.add("E_COUNT", { line, expected: `${wanted} records`, found: `${got}` })
      return
    }
    const left = split(0, first).length
    const right = split(last + 1, this.#checkpoint.size).length
    if (hashes.length !== left + right) {
      const expected = `${left} hashes left of the range and ${right} right of it`
      this.#findings.add("E_PROOF", { line, expected, found: `${hashes.length}` })
      return
    }
    const root = this.#folder.root(this.#checkpoint.size, hashes.slice(0, left), hashes.slice(left))
    this.#rangeHolds = root !== null && equalBytes(root, this.#checkpoint.root)
    if (this.#rangeHolds) return
    const found = root === null ? "none" : `root ${toBase64(root)}`
    this.#findings.add("E_ROOT", { line, expected: `root ${toBase64(this.#checkpoint.root)}`, found })
  }

  /** True when every record stands under the checkpoint's root. */
  get holds(): boolean {
    return this.#header.kind === "sparse" ? this.#failed === 0 : this.#rangeHolds
  }

  #checkHeader(): void {
    const { from, kind, to, tree_size } = this.#header
    const { line, size } = this.#checkpoint
    const count = (expected: string, found: string, at = HEADER_LINE): void =>
      this.#findings.add("E_COUNT", { line: at, expected, found })
    if (tree_size !== size) count(`tree_size ${tree_size}, as the header says`, `${size}`, line)
    if (!(from <= to && to < tree_size))
      count("from <= to < tree_size", `from ${from}, to ${to}, tree_size ${tree_size}`)
    else if (kind === "full" && (from !== 0 || to !== tree_size - 1)) {
      count(`a full pack from 0 to ${tree_size - 1}`, `from ${from} to ${to}`)
    }
  }
}

const HEADER_LINE = 2

/** How many hashes an inclusion proof has. A finding states it, so that a missing hash is obvious. */
const proofLength = (seq: number, size: number): string => {
  if (seq >= size) return "no"
  let length = 0
  let at = BigInt(seq)
  for (let last = BigInt(size) - 1n; last > 0n; last >>= 1n, at >>= 1n) if ((at & 1n) === 1n || at < last) length++
  return String(length)
}
