/**
 * Rehashes new records before they are signed for, in the thread that reads. Loaded on first use: a thread must start
 * in tens of milliseconds.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Rehasher } from "@flyball/core/thread"
import type { Head, Rehashed, StoredRecord } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { StringTable } from "./string-table.ts"

const hashBytes = 32
/**
 * Records of one slice, which takes a millisecond or two. A slice that ends where a tile does folds to one hash.
 */
const sliceRecords = 256
/** Stands for the agent of a record that is about none; words are numbered from 1. */
const noAgent = 0

/** The rows of a slice side by side: hashes and bytes in one buffer, and lists of numbers as text. */
type SliceRow = readonly [
  count: number,
  joined: Uint8Array,
  lengths: string,
  kinds: string,
  agents: string,
  times: string
]

/** Hashes what one connection reads. The writer has another, and other code. */
export class SqliteRehasher {
  readonly rehasher = new Rehasher(nodeCrypto)
  readonly #strings: StringTable
  readonly #select: StatementSync

  constructor(db: DatabaseSync) {
    this.#strings = new StringTable(db)
    // A row costs three times as much as its share of this one: objects and buffers are made once for all. SQLite goes
    // through the table by seq; were it otherwise, the hashes would tell.
    // A row with anything else than its column holds is left out and missed: bytes that were moved to the row before or
    // behind must not come together again here, nor texts pass for lists.
    this.#select =
      db.prepare(`SELECT count(*), CAST(group_concat(hash || bytes, '') AS BLOB), group_concat(length(bytes)),
        group_concat(kind), group_concat(ifnull(agent, ${noAgent})), group_concat(at_ms)
      FROM record WHERE seq BETWEEN ? AND ? AND typeof(hash) = 'blob' AND length(hash) = ${hashBytes}
      AND typeof(bytes) = 'blob' AND typeof(kind) = 'integer' AND typeof(at_ms) = 'integer'
        AND (agent IS NULL OR (typeof(agent) = 'integer' AND agent <> ${noAgent}))`)
    this.#select.setReturnArrays(true)
  }

  /**
   * The records behind `previous` up to `to`, in slices: after each the generator yields, so that other requests are
   * served in between. Spec: port, `rehash`.
   */
  *fold(previous: Head | null, to: number): Generator<undefined, Rehashed | null> {
    const subtrees: Array<Rehashed["subtrees"][number]> = []
    let last = previous
    for (;;) {
      const next = (last?.seq ?? -1) + 1
      const end = Math.min(next - (next % sliceRecords) + sliceRecords - 1, to)
      const records = this.#read(next, end)
      const folded: Rehashed | null = records === null ? null : this.rehasher.fold(records, last)
      if (folded === null || folded.last.seq !== end) return null
      subtrees.push(...folded.subtrees)
      last = folded.last
      if (end === to) return { subtrees, last }
      yield
    }
  }

  /**
   * The records of a slice, as views of one buffer: a scanner takes it once. Null where not all exist.
   */
  #read(from: number, to: number): ReadonlyArray<StoredRecord> | null {
    const [count, joined, lengths, kinds, agents, times] = this.#select.get(from, to) as unknown as SliceRow
    if (count !== to - from + 1) return null
    const lengthOf = numbersOf(lengths)
    const kindOf = numbersOf(kinds)
    const agentOf = numbersOf(agents)
    const timeOf = numbersOf(times)
    this.#strings.learn(agentOf)
    const records: Array<StoredRecord> = []
    let at = 0
    for (let index = 0; index < count; index++) {
      const bytesAt = at + hashBytes
      const agent = agentOf[index]!
      records.push({
        seq: from + index,
        kind: this.#strings.text(kindOf[index]!),
        agentId: agent === noAgent ? null : this.#strings.text(agent),
        atMs: timeOf[index]!,
        hash: joined.subarray(at, bytesAt),
        bytes: joined.subarray(bytesAt, (at = bytesAt + lengthOf[index]!))
      })
    }
    return records
  }
}

const numbersOf = (list: string): ReadonlyArray<number> => list.split(",").map(Number)
