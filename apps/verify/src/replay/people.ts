/**
 * Judges whether two pseudonyms are certainly two people: a person whose identity was erased comes again under another.
 * Spec: decisions 0008, 0025 and 0026.
 */
import type { ReplayRecord } from "@flyball/rules"
import type { ActVerdict } from "./act.ts"

/**
 * Where a record lies, in order over all chains: how far behind record 0 of the chain at hand, below zero in chains
 * that a recovery put aside. `before` is as a replay takes it.
 */
export const placeOf = (seq: number, before: number): number => seq - before

/** Kinds by which somebody begins what takes a second person. */
const beginnings: ReadonlySet<unknown> = new Set(["envelope.drafted", "waiver.requested"])

/**
 * The fold. Memory grows with people, and with nothing else.
 *
 * It reads no more of a body than it needs, so that words which this version does not know hide nobody.
 */
export class People {
  readonly #isWhole: boolean
  /** The pseudonym that a record gave out. */
  readonly #given = new Map<number, string>()
  readonly #seenAt = new Map<string, number>()
  readonly #erasedAt = new Map<string, number>()
  /**
   * Erasures of an identity that none of these records gave: in a range, perhaps that of somebody who was seen before
   * it.
   */
  readonly #othersErasedAt: Array<number> = []
  /** Where each began something last, and so stood for somebody. */
  readonly #wroteAt = new Map<string, number>()

  /** `fromGenesis`: nobody was seen before the first record. */
  constructor(fromGenesis: boolean) {
    this.#isWhole = fromGenesis
  }

  /** Takes one record of any body. */
  take({ body, kind }: ReplayRecord, place: number, before: number): void {
    const { name, principal_id: id, seq, writer } = body
    if (kind === "principal.seen" && typeof id === "string") {
      this.#given.set(place, id)
      if (!this.#seenAt.has(id)) this.#seenAt.set(id, place)
    }
    if (kind === "part.erased" && name === "identity") this.#erase(placeOf(Number(seq), before), place)
    if (!this.#isWhole && beginnings.has(kind) && typeof writer === "string") this.#wroteAt.set(writer, place)
  }

  #erase(target: number, place: number): void {
    const id = this.#given.get(target)
    if (id !== undefined && !this.#erasedAt.has(id)) this.#erasedAt.set(id, place)
    if (id === undefined && !this.#isWhole) this.#othersErasedAt.push(place)
  }

  /**
   * Null where the writer is certainly none of those who began it, as far as these records tell people apart at all:
   * whom a host names itself, the host tells apart.
   */
  problem(began: ReadonlyArray<string>, writer: string): ActVerdict | null {
    const seenAt = this.#seenAt.get(writer)
    const same = seenAt === undefined ? undefined : began.find((one) => (this.#erasedAt.get(one) ?? seenAt) < seenAt)
    if (same !== undefined)
      return {
        verdict: "second_person_missing",
        reason: `The identity of ${same} was erased before ${writer} was first seen: they may be one person.`
      }
    const open = this.#isWhole || !isPseudonym(writer) ? undefined : began.find((one) => this.#isOpen(one, seenAt))
    return open === undefined
      ? null
      : {
          verdict: "withheld",
          reason: `Whether the identity of ${open} was erased before ${writer} was first seen is not shown.`
        }
  }

  /**
   * True when somebody who was seen before these records, if at all, may have been erased before the writer was first
   * seen: `seenAt`, or before these records too.
   */
  #isOpen(one: string, seenAt: number | undefined): boolean {
    if (!isPseudonym(one) || this.#seenAt.has(one)) return false
    const wroteAt = this.#wroteAt.get(one)
    if (wroteAt === undefined) return true
    // Who writes is not erased yet.
    return seenAt !== undefined && this.#othersErasedAt.some((place) => wroteAt < place && place < seenAt)
  }
}

const isPseudonym = (id: string): boolean => id.startsWith("usr_")
