/**
 * Which agent's decision or evaluation lies where: two bytes for each record, four in a piece with over 32,000 agents.
 */

/** Seqs of one piece. A power of two. */
const PIECE = 65_536
/** Agents that are kept. A hostile pack could name a new one in each record. */
const MAX_AGENTS = 1_000_000

/** No record at this seq can be settled or voided. */
const NOTHING = 0
/** Something lies there that could not be read. */
const UNKNOWN = 1
/** From here on: the agent's place, twice, and one more for an evaluation. */
const FIRST_CODE = 2

/** A record at a seq. */
export interface RecordAt {
  readonly what: "decision" | "evaluation"
  readonly agentId: string
}

/** The table. */
export class RecordsAt {
  readonly #pieces = new Map<number, Uint16Array | Uint32Array>()
  readonly #places = new Map<string, number>()
  readonly #agents: Array<string> = []

  /** Notes what lies at a seq. */
  add(seq: number, what: RecordAt["what"], agentId: string): void {
    const place = this.#placeOf(agentId)
    this.#set(seq, place === null ? UNKNOWN : FIRST_CODE + place * 2 + (what === "evaluation" ? 1 : 0))
  }

  /** Notes that what lies at a seq cannot be read. */
  addUnknown(seq: number): void {
    this.#set(seq, UNKNOWN)
  }

  /** The record at a seq: null where none of this kind lies there, undefined where that is not known. */
  at(seq: number): RecordAt | null | undefined {
    const code = this.#pieces.get(Math.floor(seq / PIECE))?.[seq % PIECE] ?? NOTHING
    if (code === NOTHING) return null
    if (code === UNKNOWN) return undefined
    const place = Math.floor((code - FIRST_CODE) / 2)
    return { what: code % 2 === FIRST_CODE % 2 ? "decision" : "evaluation", agentId: this.#agents[place]! }
  }

  #placeOf(agentId: string): number | null {
    const known = this.#places.get(agentId)
    if (known !== undefined) return known
    if (this.#agents.length >= MAX_AGENTS) return null
    this.#places.set(agentId, this.#agents.length)
    return this.#agents.push(agentId) - 1
  }

  #set(seq: number, code: number): void {
    const key = Math.floor(seq / PIECE)
    const known = this.#pieces.get(key) ?? new Uint16Array(PIECE)
    const piece = code > 0xffff && known instanceof Uint16Array ? Uint32Array.from(known) : known
    if (this.#pieces.get(key) !== piece) this.#pieces.set(key, piece)
    piece[seq % PIECE] = code
  }
}

/** A number below 2^32 for some seqs, 0 for all others: four bytes for each record of a piece that has any. */
export class NumbersAt {
  readonly #pieces = new Map<number, Uint32Array>()

  set(seq: number, value: number): void {
    const key = Math.floor(seq / PIECE)
    const piece = this.#pieces.get(key) ?? new Uint32Array(PIECE)
    this.#pieces.set(key, piece)
    piece[seq % PIECE] = value
  }

  get(seq: number): number {
    return this.#pieces.get(Math.floor(seq / PIECE))?.[seq % PIECE] ?? 0
  }
}
