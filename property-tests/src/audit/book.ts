/**
 * The requests of callers of real processes and their answers: kept outside of every process, to be compared with the
 * store.
 */

/** Where something landed, by the answer to its caller. */
export interface Landed {
  readonly seq: number
  readonly hash: string
}

/** A root that somebody vouched for: a checkpoint, a state of the guard, a signature. */
export interface Vouched {
  readonly size: number
  readonly rootHex: string
  /** The name of who vouched, for messages. */
  readonly by: string
}

/**
 * The words that a decision carries in its arguments. They stand nowhere else, so that a search over files finds a part
 * that should be gone.
 */
export const wordsOf = (ref: string): string => `words of ${ref}.`

/**
 * The arguments of a decision, which follow from its reference: content that is not this was not sent. Unit of the
 * padding: bytes.
 */
export const argsOf = (ref: string, paddingBytes = 0): { readonly padding: string; readonly words: string } => ({
  padding: "x".repeat(paddingBytes),
  words: wordsOf(ref)
})

/** The result that a decision is settled with. */
export const resultOf = (ref: string): { readonly settled: string } => ({ settled: ref })

/** The book of all callers. Nothing is ever taken out of it, except what is sent again after it was refused. */
export class Book {
  /** Padding of all arguments, for stores that should grow fast. Unit: bytes. */
  readonly paddingBytes: number
  readonly sent = new Set<string>()
  readonly witnessed = new Map<string, Landed>()
  readonly settleSent = new Set<string>()
  readonly settled = new Map<string, Landed>()
  readonly eraseSent = new Set<string>()
  readonly erased = new Map<string, Landed | null>()
  /** References that were refused with the words "nothing was written", and not sent again since. */
  readonly refused = new Set<string>()
  readonly vouched: Array<Vouched> = []
  /** Answers that contradict one another. */
  readonly problems: Array<string> = []

  constructor(paddingBytes = 0) {
    this.paddingBytes = paddingBytes
  }

  /** Notes that these are on their way. */
  sending(refs: ReadonlyArray<string>): void {
    for (const ref of refs) {
      this.sent.add(ref)
      this.refused.delete(ref)
    }
  }

  /** Notes where a decision landed. Every receipt of one reference must be the same. */
  landed(lines: Map<string, Landed>, ref: string, { hash, seq }: Landed): void {
    const before = lines.get(ref)
    if (before === undefined) lines.set(ref, { seq, hash })
    else if (before.seq !== seq || before.hash !== hash)
      this.problems.push(`${ref} was acknowledged at ${before.seq}, then at ${seq}`)
  }

  /** How many acts were acknowledged. */
  get acknowledged(): number {
    return this.witnessed.size + this.settled.size + this.erased.size
  }
}
