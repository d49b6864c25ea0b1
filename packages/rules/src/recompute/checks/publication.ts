/** Checks the declared change of a publication against the records before it. Spec: decisions 0025 and 0026. */
import type { GovernedState } from "../../evaluations/governed-state.ts"
import type { Limits } from "@flyball/envelope"
import { type ComparedVersion, judgePublication } from "../../evaluations/judge-publication.ts"
import type { ReplayRecord } from "../../records/record.ts"

/**
 * Result of comparing a publication, or the reason why it was not compared. `isWhole` false: an agent's envelope was
 * not shown, so a graver change there would be missed.
 */
export type RecomputedPublication = (ComparedVersion & { readonly isWhole: boolean }) | { readonly notCompared: string }

/**
 * Budgets of a comparison: the shortest and the longest of the service. A change that the service proved is proved
 * here. Spec: decision 0029.
 */
const short: Limits = { nodes: 10_000, work: 4_000_000 }
const long: Limits = { nodes: 200_000, work: 100_000_000 }

/**
 * Publications that are compared with the longest budget. One takes seconds, and a pack made to waste time could hold
 * thousands.
 */
const MAX_LONG = 16

/** Compares publications with the state before them. */
export class PublicationJudge {
  readonly #state: GovernedState
  #longLeft = MAX_LONG

  constructor(state: GovernedState) {
    this.#state = state
  }

  /** Call before the record is folded. */
  judge(record: ReplayRecord): RecomputedPublication {
    const later = this.#state.textOf(record)
    const view = this.#state.gateView(record)
    if (later === null || view === null)
      return { notCompared: "Its text, or that of a version in force before it, is not shown." }
    const found = later === "not an envelope" ? null : this.#compared((limits) => judgePublication(later, view, limits))
    return found === null
      ? {
          notCompared:
            "Its text is no envelope that fits here, so it could not be compared with the versions before it."
        }
      : { ...found, isWhole: view.isWhole }
  }

  #compared(ask: (limits: Limits) => ComparedVersion | null): ComparedVersion | null {
    const found = ask(short)
    if (found?.change !== "unknown") return found
    if (this.#longLeft === 0) return { ...found, isOpen: true }
    this.#longLeft--
    return ask(long)
  }
}
