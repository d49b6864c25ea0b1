/** Checks that revisions of drafts and numbers of versions follow each other in the records. Spec: decision 0026. */
import type { ReplayRecord } from "../records/record.ts"

/**
 * A number that is not the next one. `expected` and `found` as texts. Spec: format 1 section 8, "Members that name
 * other records".
 */
export interface WrongNumber {
  readonly member: "revision" | "version"
  readonly expected: string
  readonly found: string
}

/** Known version numbers of an envelope. */
interface Numbers {
  /** The version that was published last; null where it is not known. */
  readonly latest: number | null
  /** Least and greatest number of writes of its document. */
  readonly least: number
  readonly most: number
  /** Erasures before. */
  readonly erasures: number
}

/** Parts whose erasure writes the document of some envelope again, if it holds them still. So does a withdrawal's. */
const inDocument: ReadonlySet<unknown> = new Set(["envelope", "profile"])

/**
 * Fold of revision and version numbers. A revision counts the writes of the envelope's document: drafts, publications,
 * withdrawals, and erasures that found something in it. The records of erasures do not name the envelope, so each may
 * have been of any. Memory grows with the number of envelopes only. Spec: format 1 section 8, "Members that name other
 * records"; decision 0026.
 */
export class EnvelopeNumbers {
  readonly #byId = new Map<string, Numbers>()
  #erasures = 0
  readonly #withdrawals = new Set<number>()
  #isWhole: boolean

  /** `isWhole`: no envelope was drafted before the first record. */
  constructor(isWhole: boolean) {
    this.#isWhole = isWhole
  }

  /** A record that cannot be read: from here on no number is known. */
  forget(): void {
    this.#byId.clear()
    this.#isWhole = false
  }

  /**
   * Takes one record, in order; answers what is wrong with its numbers. Those that follow are held against what it
   * says.
   */
  take({ body, kind, seq }: Pick<ReplayRecord, "body" | "kind" | "seq">): WrongNumber | null {
    if (kind === "part.erased" && (inDocument.has(body["name"]) || this.#withdrawals.has(Number(body["seq"]))))
      this.#erasures++
    if (kind === "envelope.withdrawn") this.#withdrawals.add(seq)
    if (kind !== "envelope.drafted" && kind !== "envelope.published" && kind !== "envelope.withdrawn") return null
    const id = String(body["envelope_id"])
    const before = this.#of(id)
    const [version, revision] = [Number(body["version"]), Number(body["revision"])]
    const [least, most] = [before.least + 1, before.most + 1 + this.#erasures - before.erasures]
    const erasures = this.#erasures
    if (kind === "envelope.withdrawn") return this.#put(id, { ...before, least, most, erasures }, null)
    const wrong =
      before.latest === null || version === before.latest + 1
        ? null
        : wrongNumber("version", String(before.latest + 1), version)
    if (kind === "envelope.published") return this.#put(id, { latest: version, least, most, erasures }, wrong)
    const isNext = least <= revision && revision <= most
    const range = least === most ? String(least) : `${least} to ${most}`
    return this.#put(
      id,
      { latest: version - 1, least: revision, most: revision, erasures },
      wrong ?? (isNext ? null : wrongNumber("revision", range, revision))
    )
  }

  #of(id: string): Numbers {
    const begin = this.#isWhole
      ? { latest: 0, least: 0, most: 0 }
      : { latest: null, least: 0, most: Number.POSITIVE_INFINITY }
    return this.#byId.get(id) ?? { ...begin, erasures: this.#erasures }
  }

  #put(id: string, numbers: Numbers, wrong: WrongNumber | null): WrongNumber | null {
    this.#byId.set(id, numbers)
    return wrong
  }
}

const wrongNumber = (member: WrongNumber["member"], expected: string, found: number): WrongNumber => ({
  member,
  expected,
  found: String(found)
})
