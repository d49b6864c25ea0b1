/** Collects findings, and what they do to the verdicts. */
import type { Finding, FindingCode } from "./report.ts"
import { MAX_LISTED_FINDINGS } from "./report.ts"

/** The findings of one pack: the first hundred whole, of the rest only what they mean. */
export class Findings {
  count = 0
  readonly #listed: Array<Finding> = []
  readonly #codes = new Set<FindingCode>()

  add(
    code: FindingCode,
    finding: {
      readonly line: number | null
      readonly seq?: number | null
      readonly expected: string
      readonly found: string
    }
  ): void {
    this.count++
    // The first of its code is listed even when the list is full: what is wrong must not hide behind how often
    // something else is.
    const isNews = !this.#codes.has(code)
    this.#codes.add(code)
    if (this.#listed.length >= MAX_LISTED_FINDINGS) {
      if (!isNews) return
      this.#listed.splice(this.#lastRepeated(), 1)
    }
    const { expected, found, line, seq = null } = finding
    this.#listed.push({ code, line, seq, expected, found })
  }

  /** Index of the last one listed whose code is listed before it too: there are fewer codes than places. */
  #lastRepeated(): number {
    const first = new Map<FindingCode, number>()
    this.#listed.forEach(({ code }, i) => {
      if (!first.has(code)) first.set(code, i)
    })
    return this.#listed.findLastIndex(({ code }, i) => first.get(code) !== i)
  }

  /** At most a hundred, in the order of the file; those about no line of it come last. */
  listed(): ReadonlyArray<Finding> {
    return this.#listed.toSorted((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity))
  }

  has(code: FindingCode): boolean {
    return this.#codes.has(code)
  }

  /** True when some finding means this exit status. */
  hasClass(status: 1 | 2 | 3): boolean {
    return [...this.#codes].some((code) => exitClass(code) === status)
  }

  /** True when the records or the tree are not what they claim: everything but signatures, and what is only missing. */
  get breaksIntegrity(): boolean {
    return [...this.#codes].some((code) => exitClass(code) !== 2 && !SIGNATURES.has(code))
  }
}

/** The exit status of a finding. Spec: format 1 section 6, "Exit class". */
export const exitClass = (code: FindingCode): 1 | 2 | 3 => (UNREADABLE.has(code) ? 3 : MISSING.has(code) ? 2 : 1)

const UNREADABLE: ReadonlySet<FindingCode> = new Set(["E_FORMAT", "E_VERSION", "E_LIMIT"])
const MISSING: ReadonlySet<FindingCode> = new Set(["E_KEY_UNKNOWN", "E_STALE", "E_ROLLBACK"])
const SIGNATURES: ReadonlySet<FindingCode> = new Set(["E_CHECKPOINT_SIG", "E_PACK_SIG", "E_KEY_REVOKED"])
