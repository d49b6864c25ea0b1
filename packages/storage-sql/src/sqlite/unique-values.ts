/** Values of look-up keys that one document of a collection may have: who holds them, in the writer. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Conflict } from "@flyball/core/storage"
import type { BatchedPut, Name } from "./batch.ts"
import type { Naming } from "./documents.ts"

/** A value of a look-up key. */
interface Value {
  readonly collection: Name
  readonly name: Name
  readonly value: string
}

/** The unique values of the table `document_key`, and of the rows that wait to go there. */
export class UniqueValues {
  readonly #holder: StatementSync
  /** Who holds a value that waits. */
  readonly #waiting = new Map<string, string>()

  constructor(db: DatabaseSync) {
    this.#holder = db.prepare(
      "SELECT d.id FROM document_key k JOIN document d ON d.doc = k.doc WHERE k.collection = ? AND k.name = ? " +
        "AND k.value = ? AND k.single = 1"
    )
  }

  /** What waited is in the table, or dropped. */
  settle(): void {
    this.#waiting.clear()
  }

  /** A document takes a value that {@link check} found nothing against; its row waits. */
  wait(naming: Naming, value: Value, id: string): void {
    this.#waiting.set(slotOf(naming, value), id)
  }

  /**
   * Judges values as all puts of the ChangeSet will leave them: a value that one put frees, another may take. Reads
   * only.
   */
  check(puts: ReadonlyArray<BatchedPut>, naming: Naming, conflicts: Array<Conflict>): void {
    if (!puts.some(({ keys }) => keys.some(({ single }) => single))) return
    // Most put one document, which takes nothing from another.
    const put = puts.length === 1 ? null : new Set(puts.map(({ collection, id }) => `${collection}\0${id}`))
    const taken = put === null ? null : new Map<string, string>()
    for (const { collection, id, keys } of puts) {
      for (const { name, value, single } of keys) {
        if (!single) continue
        const slot = slotOf(naming, { collection, name, value })
        const stored = this.#holderOf(slot, naming, { collection, name, value })
        const isFreed = stored !== undefined && (put === null ? stored === id : put.has(`${collection}\0${stored}`))
        const holder = taken?.get(slot) ?? (isFreed ? undefined : stored)
        if (holder === undefined) taken?.set(slot, id)
        else
          conflicts.push({
            _tag: "Unique",
            collection: naming.text(collection),
            key: naming.text(name),
            value,
            id: holder
          })
      }
    }
  }

  #holderOf(slot: string, naming: Naming, { collection, name, value }: Value): string | undefined {
    return (
      this.#waiting.get(slot) ??
      (this.#holder.get(naming.find(collection), naming.find(name), value)?.["id"] as string | undefined)
    )
  }
}

const slotOf = (naming: Naming, { collection, name, value }: Value): string =>
  `${naming.text(collection)}\0${naming.text(name)}\0${value}`
