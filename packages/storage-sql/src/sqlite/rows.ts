/** Pages of records and parts as they travel from the reading worker: columns, and one buffer with the bytes of all. */
import type { StoredPart, StoredRecord } from "@flyball/core/storage"
import { partsPerRecord } from "./layout.ts"
import { StoreDamaged } from "./sqlite-fault.ts"

/** A record as SQLite hands it out: seq, kind, agent, at, and its hash with its bytes behind. */
export type RecordRow = readonly [
  seq: number,
  kind: number,
  agent: number | null,
  atMs: number,
  hashAndBytes: Uint8Array
]

/** Records that were read, and what their numbers of words stand for. */
export interface RecordRows {
  readonly rows: ReadonlyArray<RecordRow>
  readonly word: (id: number) => string
}

/** A page of records in columns. `bytes`: hash and bytes of each, of these `lengths`. */
export interface RecordPage {
  readonly seqs: ReadonlyArray<number>
  readonly kinds: ReadonlyArray<string>
  readonly agents: ReadonlyArray<string | null>
  readonly times: ReadonlyArray<number>
  readonly lengths: ReadonlyArray<number>
  readonly bytes: Uint8Array<ArrayBuffer>
}

const hashBytes = 32
const saltBytes = 32

/** Makes a page of records that can be transferred. */
export const packRecords = ({ rows, word }: RecordRows): RecordPage => ({
  seqs: rows.map(([seq]) => seq),
  kinds: rows.map(([, kind]) => word(kind)),
  agents: rows.map(([, , agent]) => (agent === null ? null : word(agent))),
  times: rows.map(([, , , atMs]) => atMs),
  lengths: rows.map((row) => row[4].length),
  bytes: joined(rows.map((row) => row[4]))
})

/** Reads a page of records. Byte arrays are views of the page, which nobody else holds. */
export const readRecords = ({
  agents,
  bytes,
  kinds,
  lengths,
  seqs,
  times
}: RecordPage): ReadonlyArray<StoredRecord> => {
  let at = 0
  return seqs.map((seq, index) => {
    const from = at
    at += lengths[index]!
    return {
      seq,
      bytes: bytes.subarray(from + hashBytes, at),
      hash: bytes.subarray(from, from + hashBytes),
      kind: kinds[index]!,
      agentId: agents[index]!,
      atMs: times[index]!
    }
  })
}

/**
 * A part as SQLite hands it out: its place, its name, the record that says it was erased, and its salt with its bytes
 * behind.
 */
export type PartRow = readonly [id: number, name: number, erasedBy: number | null, saltAndBytes: Uint8Array | null]

/** Parts that were read, and what their numbers of words stand for. */
export interface PartRows {
  readonly rows: ReadonlyArray<PartRow>
  readonly word: (id: number) => string
}

/** A page of parts in columns. `bytes`: salt and bytes of each that was not erased, of these `lengths`. */
export interface PartPage {
  readonly seqs: ReadonlyArray<number>
  readonly names: ReadonlyArray<string>
  readonly erasedBy: ReadonlyArray<number | null>
  readonly lengths: ReadonlyArray<number>
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Makes a page of parts, erased ones included, that can be transferred. */
export const packParts = ({ rows, word }: PartRows): PartPage => {
  const contents = rows.map(([id, , erasedBy, bytes]) => {
    if (erasedBy !== null) return nothing
    if (bytes === null || bytes.length < saltBytes)
      throw new StoreDamaged(
        `a part of record ${Math.floor(id / partsPerRecord)} has lost its salt or its bytes, and no record ` +
          "says that it was erased"
      )
    return bytes
  })
  return {
    seqs: rows.map(([id]) => Math.floor(id / partsPerRecord)),
    names: rows.map(([, name]) => word(name)),
    erasedBy: rows.map(([, , erasedBy]) => erasedBy),
    lengths: contents.map(({ length }) => length),
    bytes: joined(contents)
  }
}

/** Reads parts back. Byte arrays are views of the page, which nobody else holds. */
export const readParts = ({ bytes, erasedBy, lengths, names, seqs }: PartPage): ReadonlyArray<StoredPart> => {
  let at = 0
  return seqs.map((seq, index) => {
    const from = at
    at += lengths[index]!
    const [name, by] = [names[index]!, erasedBy[index]!]
    return by === null
      ? {
          seq,
          name,
          salt: bytes.subarray(from, from + saltBytes),
          bytes: bytes.subarray(from + saltBytes, at),
          erasedBy: null
        }
      : { seq, name, salt: null, bytes: null, erasedBy: by }
  })
}

const nothing = new Uint8Array(0)

/** Joins byte arrays into a buffer of their own: one of a pool cannot be transferred. */
const joined = (all: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const out = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const one of all) {
    out.set(one, at)
    at += one.length
  }
  return out
}
