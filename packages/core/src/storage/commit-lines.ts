/**
 * The lines in which commits wait for the next transaction: classes, and keys in turn. Pure. Spec: design section 3.
 */
import { Context } from "effect"
import { FairLine } from "../foundation/fair-line.ts"
import type { CommitClass, CommitTurn } from "./port.ts"

/** The turn of a ChangeSet that names none: an act of a person or of a rule. */
const unnamed: CommitTurn = { class: "act", key: "" }

/** In the order in which they are served. */
const classes: ReadonlyArray<CommitClass> = ["act", "verdict", "capture"]

/** Records of capture in a batch with anything more urgent, at most: an act waits for what shares its transaction. */
const RECORDS_BESIDE = 50

/**
 * Batches that pass a class over, at most: the next one begins with its first item. A flood of evaluations leaves
 * capture a share, and a flood of acts both.
 */
const MAX_PASSES = 4

/** True when this commit is made again after a conflict: it keeps its place before those that have not had a turn. */
export const LostBefore = Context.Reference<boolean>("flyball/core/LostBefore", { defaultValue: () => false })

/** Records and bytes that an item adds to a batch. */
export interface Weight {
  readonly records: number
  readonly bytes: number
}

/** Commits that wait for their batch. */
export class CommitLines<A extends { readonly weight: Weight }> {
  readonly #lines: { readonly [C in CommitClass]: FairLine<A> } = {
    act: new FairLine(),
    verdict: new FairLine(),
    capture: new FairLine()
  }
  readonly #passes: Record<CommitClass, number> = { act: 0, verdict: 0, capture: 0 }
  readonly #bounds: Weight
  #records = 0
  #bytes = 0

  /** `bounds`: of one batch, unless one item alone has more. */
  constructor(bounds: Weight) {
    this.#bounds = bounds
  }

  get isEmpty(): boolean {
    return classes.every((name) => this.#lines[name].size === 0)
  }

  /** True when what waits fills a batch. */
  get isFull(): boolean {
    return this.#records >= this.#bounds.records || this.#bytes >= this.#bounds.bytes
  }

  /** Reports whether an item fills a batch alone by its records. */
  isLarge({ weight }: A): boolean {
    return weight.records >= this.#bounds.records
  }

  /** Adds an item. `returning`: see {@link LostBefore}. */
  add(item: A, turn: CommitTurn = unnamed, returning = false): void {
    this.#lines[turn.class].add(item, turn.key, item.weight.records, returning)
    this.#records += item.weight.records
    this.#bytes += item.weight.bytes
  }

  /** Takes an item back; false where it does not wait. */
  remove(item: A): boolean {
    if (!classes.some((name) => this.#lines[name].remove(item))) return false
    this.#records -= item.weight.records
    this.#bytes -= item.weight.bytes
    return true
  }

  /** Takes the next batch. Empty where nothing waits. */
  take(): ReadonlyArray<A> {
    const batch: Array<A> = []
    let records = 0
    let bytes = 0
    const takeFirst = (name: CommitClass): void => {
      const item = this.#lines[name].first()!
      this.#lines[name].take(item)
      batch.push(item)
      records += item.weight.records
      bytes += item.weight.bytes
      this.#passes[name] = 0
    }
    const overdue = classes.find((name) => this.#passes[name] >= MAX_PASSES)
    if (overdue !== undefined && this.#lines[overdue].size > 0) takeFirst(overdue)
    for (const name of classes) {
      const line = this.#lines[name]
      const maxRecords =
        name === "capture" && batch.length > 0
          ? Math.min(this.#bounds.records, records + RECORDS_BESIDE)
          : this.#bounds.records
      const before = batch.length
      for (let next = line.first(); next !== undefined; next = line.first()) {
        const { weight } = next
        const fits = records + weight.records <= maxRecords && bytes + weight.bytes <= this.#bounds.bytes
        if (batch.length > 0 && !fits) break
        takeFirst(name)
      }
      if (batch.length === before && name !== overdue) this.#passes[name] += line.size > 0 ? 1 : -this.#passes[name]
    }
    this.#records -= records
    this.#bytes -= bytes
    return batch
  }
}
