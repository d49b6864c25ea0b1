/** The records of a pack against the root in its checkpoint. Spec: format 1 section 5. */
import { equalBytes, toBase64 } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import { split } from "../merkle/coords.ts"
import { RangeFolder } from "../merkle/range-folder.ts"
import { verifyInclusion } from "../merkle/verify.ts"
import type { PackHeader } from "../pack/format.ts"
import type { Findings } from "./findings.ts"
import type { PackCheckpoint } from "./head-lines.ts"
import type { RecordRun } from "./record-run.ts"

/** Follows the tree over a pack's records: one running fold, or a proof for each. */
export class TreeChecks {
  /** Roots of a full pack at the sizes asked for, as far as it came. */
  readonly roots = new Map<number, Uint8Array>()
  readonly #crypto: Crypto
  readonly #findings: Findings
  readonly #header: PackHeader
  readonly #checkpoint: PackCheckpoint
  readonly #folder: RangeFolder
  /** Where to take a root next, ascending. */
  readonly #rootsAt: ReadonlyArray<number>
  #nextRoot = 0
  /** Whether from, to and the tree's size make sense together. */
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
    // Without the records before `from` no root can be computed; such a full pack has its finding.
    this.#rootsAt =
      header.kind === "full" && header.from === 0
        ? [...new Set(rootsAt)].filter((size) => size > 0).sort((a, b) => a - b)
        : []
    this.#checkHeader()
  }

  /** Takes the hash of the next record of a range or full pack. */
  push(leaf: Uint8Array): void {
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

  /** Whether a run begins where the tree stands, and no root is wanted in its middle. */
  fits({ count, firstSeq }: RecordRun): boolean {
    const behind = this.#folder.next + count
    const wanted = this.#rootsAt[this.#nextRoot]
    return (
      this.#bounded &&
      firstSeq === this.#folder.next &&
      behind - 1 <= this.#header.to &&
      (wanted === undefined || wanted >= behind)
    )
  }

  /** Takes a run that fits. */
  take(run: RecordRun): void {
    for (const { hash, level } of run.subtrees) this.#folder.pushSubtree(level, hash)
    this.#takeRoot()
  }

  /**
   * Checks the proof of a record of a sparse pack. `seq` is null when the record could not be read: then the proof
   * names it.
   */
  prove(leaf: Uint8Array, seq: number | null, provenSeq: number, proof: ReadonlyArray<Uint8Array>, line: number): void {
    const fail = (expected: string, found: string): void => {
      this.#failed++
      this.#findings.add("E_PROOF", { line, seq: seq ?? provenSeq, expected, found })
    }
    if (seq !== null && seq !== provenSeq) return fail(`the proof of record ${seq}`, `a proof of record ${provenSeq}`)
    const { root, size } = this.#checkpoint
    if (!verifyInclusion(this.#crypto, { seq: provenSeq, size, leaf, proof, root }))
      fail(
        `a proof of ${proofLength(provenSeq, size)} hashes that leads to the checkpoint's root`,
        `${proof.length} hashes that do not`
      )
  }

  /** Checks the root, with the hashes left and right of the range. */
  range(from: number, to: number, hashes: ReadonlyArray<Uint8Array>, line: number): void {
    const { from: first, to: last } = this.#header
    if (from !== first || to !== last)
      this.#findings.add("E_COUNT", { line, expected: `S ${first} ${last}`, found: `S ${from} ${to}` })
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
      this.#findings.add("E_PROOF", {
        line,
        expected: `${left} hashes left of the range and ${right} right of it`,
        found: `${hashes.length}`
      })
      return
    }
    const root = this.#folder.root(this.#checkpoint.size, hashes.slice(0, left), hashes.slice(left))
    this.#rangeHolds = root !== null && equalBytes(root, this.#checkpoint.root)
    if (!this.#rangeHolds) {
      this.#findings.add("E_ROOT", {
        line,
        expected: `root ${toBase64(this.#checkpoint.root)}`,
        found: root === null ? "none" : `root ${toBase64(root)}`
      })
    }
  }

  /** Whether every record stands under the checkpoint's root. */
  get holds(): boolean {
    return this.#header.kind === "sparse" ? this.#failed === 0 : this.#rangeHolds
  }

  #checkHeader(): void {
    const { from, kind, to, tree_size } = this.#header
    const { line, size } = this.#checkpoint
    const count = (expected: string, found: string): void =>
      this.#findings.add("E_COUNT", { line: HEADER_LINE, expected, found })
    if (tree_size !== size)
      this.#findings.add("E_COUNT", { line, expected: `tree_size ${tree_size}, as the header says`, found: `${size}` })
    if (!(from <= to && to < tree_size))
      count("from <= to < tree_size", `from ${from}, to ${to}, tree_size ${tree_size}`)
    else if (kind === "full" && (from !== 0 || to !== tree_size - 1))
      count(`a full pack from 0 to ${tree_size - 1}`, `from ${from} to ${to}`)
  }
}

const HEADER_LINE = 2

/** How many hashes an inclusion proof has; said in a finding, so that a missing one is seen at once. */
const proofLength = (seq: number, size: number): string => {
  if (seq >= size) return "no"
  let length = 0
  let at = BigInt(seq)
  for (let last = BigInt(size) - 1n; last > 0n; last >>= 1n, at >>= 1n) if ((at & 1n) === 1n || at < last) length++
  return String(length)
}
