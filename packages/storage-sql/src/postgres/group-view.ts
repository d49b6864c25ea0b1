/**
 * Store state while one group is admitted: the rows that were looked up, and the writes of the ChangeSets admitted so
 * far.
 */
import type { DocumentPut, Head, StoreView } from "@flyball/core/storage"
import { GroupOutbox } from "./outbox/group-outbox.ts"

/** Names hold no U+0000, so nothing else makes the same slot. */
const slot = (...names: ReadonlyArray<string | number>): string => names.join("\0")

/** One view per attempt. It answers only what was read from the database or written by the group. */
export class GroupView implements StoreView {
  head: Head | null = null
  atMs = 0
  readonly #versions = new Map<string, number>()
  readonly #stored = new Set<string>()
  /** Holder and the slot of its document, by unique value. */
  readonly #holders = new Map<string, { readonly id: string; readonly document: string }>()
  readonly #once = new Map<string, { readonly seq: number; readonly digest: string | null }>()
  readonly #heads = new Map<number, Head>()
  readonly #parts = new Map<string, "present" | "erased">()
  readonly #counts = new Map<string, number>()
  /** Outbox state of the group, and the group's changes to it. */
  readonly outbox = new GroupOutbox()

  version(collection: string, id: string): number {
    return this.#versions.get(slot(collection, id)) ?? 0
  }

  uniqueHolder(collection: string, key: string, value: string): string | null {
    return this.#holders.get(slot(collection, key, value))?.id ?? null
  }

  once(scope: string, key: string): { readonly seq: number; readonly digest: string | null } | null {
    return this.#once.get(slot(scope, key)) ?? null
  }

  part(seq: number, name: string): "present" | "erased" | "missing" {
    return this.#parts.get(slot(seq, name)) ?? "missing"
  }

  delivery(id: string): ReturnType<GroupOutbox["delivery"]> {
    return this.outbox.delivery(id)
  }

  hasEvent(id: string): boolean {
    return this.outbox.hasEvent(id)
  }

  /** True when the database (and not only this group) holds the document. */
  isStored(collection: string, id: string): boolean {
    return this.#stored.has(slot(collection, id))
  }

  /** The receipt of a record that an idempotency key led to. */
  headAt(seq: number): Head {
    return this.#heads.get(seq)!
  }

  knowVersion(collection: string, id: string, version: number): void {
    this.#versions.set(slot(collection, id), version)
    this.#stored.add(slot(collection, id))
  }

  knowHolder(collection: string, key: string, value: string, id: string): void {
    this.#holders.set(slot(collection, key, value), { id, document: slot(collection, id) })
  }

  knowOnce(scope: string, key: string, digest: string | null, at: Head): void {
    this.#once.set(slot(scope, key), { seq: at.seq, digest })
    this.#heads.set(at.seq, at)
  }

  /** Forgets the digest of an idempotency key, where it was read. */
  forget(scope: string, key: string): void {
    const taken = this.once(scope, key)
    if (taken !== null) this.#once.set(slot(scope, key), { seq: taken.seq, digest: null })
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** Sets the value of a counter: as it was read, or after an addition of the group. */
  knowCount(name: string, value: number): void {
    this.#counts.set(name, value)
  }

  knowPart(seq: number, name: string, state: "present" | "erased"): void {
    this.#parts.set(slot(seq, name), state)
  }

  /**
   * All puts of one ChangeSet: first every old unique value goes, then every new one comes, so that values can change
   * hands.
   */
  write(puts: ReadonlyArray<DocumentPut>): void {
    if (puts.length === 0) return
    const documents = new Set(puts.map(({ collection, id }) => slot(collection, id)))
    for (const [value, { document }] of this.#holders) if (documents.has(document)) this.#holders.delete(value)
    for (const { collection, id, unique } of puts) {
      this.#versions.set(slot(collection, id), this.version(collection, id) + 1)
      for (const [key, value] of Object.entries(unique ?? {})) this.knowHolder(collection, key, value, id)
    }
    this.outbox.put(puts)
  }

  /** Documents of one ChangeSet that go, with the unique values that they hold. */
  delete(documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>): void {
    const gone = new Set(documents.map(({ collection, id }) => slot(collection, id)))
    if (gone.size === 0) return
    for (const document of gone) this.#versions.set(document, 0)
    for (const [value, { document }] of this.#holders) if (gone.has(document)) this.#holders.delete(value)
  }
}
