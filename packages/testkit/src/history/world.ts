/** State of a random history, so that its next ChangeSets mostly make sense. */
import type { ChangeSet, CommitReceipt } from "@flyball/core/storage"
import type { Scene } from "../observe.ts"

/** Texts that stores are tempted to confuse or to order wrongly. */
export const awkwardTexts = ["a", "A", "a!", "b", "\u00e9", "e\u0301", "\uffee", "\u{1f600}"] as const

/** Names that a history draws from: few, so that it meets itself. */
export const cast = {
  collections: ["things", "others", "webhooks"],
  events: ["thing.made", "thing.lost"],
  owners: [undefined, "a".repeat(16), "b".repeat(16)],
  kinds: ["decision.witnessed", "decision.settled", "capture.gap"],
  agents: ["agt_1", "AGT_1", "agt_\u00e9", null],
  scopes: ["agt_1", "settle"],
  idempotencyKeys: Array.from({ length: 12 }, (_, n) => `${awkwardTexts[n % awkwardTexts.length]}/${n}`),
  parts: ["args", "labels", "result"],
  counters: ["a", "A"]
} as const

/** Everything of a history that can be observed. */
export const historyScene: Scene = {
  collections: cast.collections,
  counters: cast.counters,
  once: cast.scopes.map((scope) => ({ scope, keys: cast.idempotencyKeys }))
}

/** A model of the store: just enough to aim at it. It learns from answers and never judges them. */
export class HistoryWorld {
  readonly #versions = new Map<string, number>()
  readonly #parts: Array<{ readonly seq: number; readonly name: string }> = []
  #head = -1

  get isEmpty(): boolean {
    return this.#head < 0
  }

  get length(): number {
    return this.#head + 1
  }

  /** Parts that were written, erased ones included. */
  get parts(): ReadonlyArray<{ readonly seq: number; readonly name: string }> {
    return this.#parts
  }

  version(collection: string, id: string): number {
    return this.#versions.get(`${collection}\0${id}`) ?? 0
  }

  /** Takes note of a commit that was done. */
  learn(change: ChangeSet, receipt: CommitReceipt): void {
    this.#head = receipt.head.seq
    for (const { collection, id } of change.puts ?? [])
      this.#versions.set(`${collection}\0${id}`, this.version(collection, id) + 1)
    for (const { collection, id } of change.deletes ?? []) this.#versions.set(`${collection}\0${id}`, 0)
    for (const [index, draft] of (change.records ?? []).entries()) {
      const { seq, duplicate } = receipt.records[index]!
      if (!duplicate) this.#parts.push(...draft.parts.map(({ name }) => ({ seq, name })))
    }
  }
}
