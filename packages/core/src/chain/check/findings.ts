/** Types of the findings of a check of stored bytes. A finding is a value, never an error. Spec: style section 5. */

/**
 * Something stored that is not as it must be.
 *
 * Codes of the pack format (chain-format section 6) where one fits; `E_HASH`, `E_COLUMN` and `E_TILE` are about the
 * store's own columns, which no pack has.
 */
export interface ChainFinding {
  readonly code:
    | "E_NONCANONICAL"
    | "E_LIMIT"
    | "E_VERSION"
    | "E_SEQ"
    | "E_PREV"
    | "E_TIME"
    | "E_ORIGIN"
    | "E_ROOT"
    | "E_CHECKPOINT_SIG"
    | "E_COUNT"
    | "E_PART_MISMATCH"
    | "E_PART_UNEXPLAINED"
    | "E_HASH"
    | "E_COLUMN"
    | "E_TILE"
  /** The record it is about; null when it is about the whole. */
  readonly seq: number | null
  readonly expected: string
  readonly found: string
}

/** Findings that are listed; the rest are counted. Spec: chain-format section 6. */
export const MAX_FINDINGS = 100

/** Collects findings with bounded memory. */
export class FindingList {
  readonly listed: Array<ChainFinding> = []
  unlisted = 0
  /** The lowest seq that any finding named, listed or not. */
  firstBadSeq: number | null = null

  add(...findings: ReadonlyArray<ChainFinding>): void {
    for (const finding of findings) {
      if (this.listed.length < MAX_FINDINGS) this.listed.push(finding)
      else this.unlisted += 1
      if (finding.seq !== null && (this.firstBadSeq === null || finding.seq < this.firstBadSeq))
        this.firstBadSeq = finding.seq
    }
  }

  /** True when nothing was found. */
  get none(): boolean {
    return this.listed.length === 0
  }
}
