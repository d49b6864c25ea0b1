/** Pages of records and parts as they travel from the reading worker: one buffer a page. */
import type { StoredPart, StoredRecord } from "@flyball/core/storage"
import { partsPerRecord } from "./layout.ts"
import { PackReader, PackWriter } from "./packed.ts"
import { StoreDamaged } from "./sqlite-fault.ts"

/** A record as SQLite hands it out: seq, kind, agent, at, and its hash with its bytes behind. */
export type RecordRow = readonly [
  seq: number,
  kind: number,
  agent: number | null,
  atMs: number,
  hashAndBytes: Uint8Array
]

/** A page of records, and what its numbers of words stand for. */
export interface RecordPage {
  readonly rows: ReadonlyArray<RecordRow>
  readonly word: (id: number) => string
}

const hashBytes = 32
const saltBytes = 32
/** The word of a record that is about no agent. */
const noWord = 0xffff_ffff

/** Packs a page of records: its words first, each once. */
export const packRecords = ({ rows, word }: RecordPage): ArrayBuffer => {
  const indexes = new Map<number, number>()
  let length = 0
  for (const [, kind, agent, , bytes] of rows) {
    if (!indexes.has(kind)) indexes.set(kind, indexes.size)
    if (agent !== null && !indexes.has(agent)) indexes.set(agent, indexes.size)
    length += 28 + bytes.length
  }
  const out = new PackWriter(length + indexes.size * 256)
  out.u32(indexes.size)
  for (const id of indexes.keys()) out.text(word(id))
  out.u32(rows.length)
  for (const [seq, kind, agent, atMs, bytes] of rows) {
    out.f64(seq)
    out.f64(atMs)
    out.u32(indexes.get(kind)!)
    out.u32(agent === null ? noWord : indexes.get(agent)!)
    out.bytes(bytes)
  }
  return out.finish().buffer
}

/** Reads a page of records. Byte arrays are views of the page, which nobody else holds. */
export const readRecords = (buffer: ArrayBuffer): ReadonlyArray<StoredRecord> => {
  const from = new PackReader(buffer)
  const words: Array<string> = []
  for (let left = from.u32(); left > 0; left--) words.push(from.text())
  const records: Array<StoredRecord> = []
  for (let left = from.u32(); left > 0; left--) {
    const seq = from.f64()
    const atMs = from.f64()
    const kind = words[from.u32()]!
    const agent = from.u32()
    const length = from.u32() - hashBytes
    const hash = from.raw(hashBytes)
    records.push({ seq, bytes: from.raw(length), hash, kind, agentId: agent === noWord ? null : words[agent]!, atMs })
  }
  return records
}

/**
 * A part as SQLite hands it out: its place, its name, the record that says it was erased, and its salt with its bytes
 * behind.
 */
export type PartRow = readonly [id: number, name: number, erasedBy: number | null, saltAndBytes: Uint8Array | null]

/** A page of parts, and what its numbers of words stand for. */
export interface PartPage {
  readonly rows: ReadonlyArray<PartRow>
  readonly word: (id: number) => string
}

/** Packs parts, erased ones included: their names first, each once. */
export const packParts = ({ rows, word }: PartPage): ArrayBuffer => {
  const indexes = new Map<number, number>()
  let length = 0
  for (const [, name, , bytes] of rows) {
    if (!indexes.has(name)) indexes.set(name, indexes.size)
    length += 24 + (bytes?.length ?? 0)
  }
  const out = new PackWriter(length + 8 + indexes.size * 256)
  out.u32(indexes.size)
  for (const id of indexes.keys()) out.text(word(id))
  out.u32(rows.length)
  for (const [id, name, erasedBy, bytes] of rows) {
    out.f64(Math.floor(id / partsPerRecord))
    out.u32(indexes.get(name)!)
    out.f64(erasedBy ?? -1)
    if (erasedBy !== null) continue
    if (bytes === null || bytes.length < saltBytes)
      throw new StoreDamaged(
        `a part of record ${Math.floor(id / partsPerRecord)} has lost its salt or its bytes, and no record ` +
          "says that it was erased"
      )
    out.bytes(bytes)
  }
  return out.finish().buffer
}

/** Reads parts back. Byte arrays are views of the page, which nobody else holds. */
export const readParts = (buffer: ArrayBuffer): ReadonlyArray<StoredPart> => {
  const from = new PackReader(buffer)
  const words: Array<string> = []
  for (let left = from.u32(); left > 0; left--) words.push(from.text())
  const parts: Array<StoredPart> = []
  for (let left = from.u32(); left > 0; left--) {
    const seq = from.f64()
    const name = words[from.u32()]!
    const erasedBy = from.f64()
    if (erasedBy >= 0) {
      parts.push({ seq, name, salt: null, bytes: null, erasedBy })
      continue
    }
    const length = from.u32() - saltBytes
    const salt = from.raw(saltBytes)
    parts.push({ seq, name, salt, bytes: from.raw(length), erasedBy: null })
  }
  return parts
}
