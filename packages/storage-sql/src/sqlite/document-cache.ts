/**
 * Documents, and the head, in the memory of the one process that writes them.
 *
 * The file has a single writer, and all writes go through here: so what was read or written last is current until the
 * next commit begins that touches it. Nothing is kept that was read while such a commit was under way. See
 * docs/what-is-fast.md.
 */
import type { CommitReceipt, Document, Head } from "@flyball/core/storage"

/** Text of bodies kept, in UTF-16 units, of all collections together. Above it the whole cache is dropped. */
const MAX_UNITS = 4_000_000
/** Size of an answer besides its bodies, so that many answers of "nothing there" are not free. */
const ANSWER_UNITS = 200

/** One collection's answers. Each commit that touches the collection throws them all away. */
interface Shelf {
  readonly answers: Map<string, ReadonlyArray<Document>>
  /** Size of the answers. */
  units: number
  /** Commits under way that touch it. */
  changing: number
  /** Counts commits that were. */
  generation: number
}

/** A look-up that was begun: what it finds may be kept if nothing touched the collection meanwhile. */
export interface LookUp {
  readonly shelf: Shelf
  readonly key: string
  readonly generation: number
}

/** Answers of a store, by collection. */
export class DocumentCache {
  readonly #shelves = new Map<string, Shelf>()
  readonly #mostUnits: number
  #head: Head | null = null
  #units = 0
  /** Commits under way, and those that were: a head that was read while one was under way may be old by now. */
  #committing = 0
  #commits = 0

  constructor(mostUnits = MAX_UNITS) {
    this.#mostUnits = mostUnits
  }

  /**
   * The head as the last commit left it; null when it must be read. A copy: the caller owns the bytes of an answer.
   */
  get head(): Head | null {
    return this.#committing === 0 && this.#head !== null ? { ...this.#head, hash: this.#head.hash.slice() } : null
  }

  /** Before a head is read. */
  askHead(): number {
    return this.#committing === 0 ? this.#commits : -1
  }

  keepHead(commits: number, head: Head | null): void {
    if (commits === this.#commits && this.#committing === 0 && head !== null)
      this.#head = { ...head, hash: head.hash.slice() }
  }

  /** The answer to a look-up, or what to hand to {@link keep} with the answer. */
  lookUp(collection: string, key: string): ReadonlyArray<Document> | LookUp {
    const shelf = this.#shelf(collection)
    if (shelf.changing === 0) {
      const found = shelf.answers.get(key)
      if (found !== undefined) return found
    }
    return { shelf, key, generation: shelf.changing === 0 ? shelf.generation : -1 }
  }

  /**
   * Keeps what a look-up found, unless it may be old. Many will have it: nobody may be able to change it. `units`: how
   * long the bodies' text is.
   */
  keep({ generation, key, shelf }: LookUp, found: ReadonlyArray<Document>, units: number): void {
    if (shelf.changing > 0 || shelf.generation !== generation) return
    // The key is kept too, and may be as long as its caller likes.
    const taken = units + key.length + ANSWER_UNITS
    if (taken > this.#mostUnits) return
    if (this.#units + taken > this.#mostUnits) for (const other of this.#shelves.values()) this.#clear(other)
    // A concurrent look-up may have kept the same answer already; then it is counted twice until it is dropped.
    shelf.answers.set(key, found)
    shelf.units += taken
    this.#units += taken
  }

  /**
   * A commit goes on its way that puts documents of these collections. Call what it returns when it has ended, with
   * what is known of the head.
   */
  changing(collections: ReadonlySet<string>): (receipts: ReadonlyArray<CommitReceipt> | null) => void {
    const shelves = [...collections].map((collection) => this.#shelf(collection))
    for (const shelf of shelves) {
      shelf.changing += 1
      shelf.generation += 1
      this.#clear(shelf)
    }
    this.#committing += 1
    return (receipts) => {
      for (const shelf of shelves) shelf.changing -= 1
      this.#committing -= 1
      this.#commits += 1
      if (receipts === null) this.#head = null
      else this.#advance(receipts)
    }
  }

  #advance(receipts: ReadonlyArray<CommitReceipt>): void {
    let last: Head | null = null
    // Documents may be put before there is a chain: then there is a head of none.
    for (const { head } of receipts) if (head.seq >= ((last ?? this.#head)?.seq ?? 0)) last = head
    if (last !== null) this.#head = { ...last, hash: last.hash.slice() }
  }

  #shelf(collection: string): Shelf {
    let shelf = this.#shelves.get(collection)
    if (shelf === undefined)
      this.#shelves.set(collection, (shelf = { answers: new Map(), units: 0, changing: 0, generation: 0 }))
    return shelf
  }

  #clear(shelf: Shelf): void {
    shelf.answers.clear()
    this.#units -= shelf.units
    shelf.units = 0
  }
}
