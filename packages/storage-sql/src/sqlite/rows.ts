/** Pages of records and parts as they travel from the reading worker: one buffer a page. */
import type { StoredPart, StoredRecord } from "@flyball/core/storage"
import { PackReader, PackWriter } from "./packed.ts"

/** A record as SQLite hands it out: seq, kind, agent, at, and its hash with its bytes behind. */
export type RecordRow = readonly [seq: number, kind: number, agent: number | null, atMs: number, hashAndBytes: Uint8Array]

/** A page of records, and what its numbers of words stand for. */
export interface RecordPage {
  readonly rows: ReadonlyArray<RecordRow>
  readonly word: (id: number) => string
}

const hashBytes = 32
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

/** Packs parts, erased ones included. */
export const packParts = (parts: ReadonlyArray<StoredPart>): ArrayBuffer => {
  const out = new PackWriter(parts.length * 512)
  out.u32(parts.length)
  for (const part of parts) {
    out.f64(part.seq)
    out.text(part.name)
    out.f64(part.erasedBy ?? -1)
    if (part.erasedBy !== null) continue
    out.raw(part.salt)
    out.bytes(part.bytes)
  }
  return out.finish().buffer
}

/** Reads parts back. */
export const readParts = (buffer: ArrayBuffer): ReadonlyArray<StoredPart> => {
  const from = new PackReader(buffer)
  const parts: Array<StoredPart> = []
  const count = from.u32()
  for (let index = 0; index < count; index++) {
    const seq = from.f64()
    const name = from.text()
    const erasedBy = from.f64()
    if (erasedBy >= 0) parts.push({ seq, name, salt: null, bytes: null, erasedBy })
    else parts.push({ seq, name, salt: from.raw(32), bytes: from.bytes(), erasedBy: null })
  }
  return parts
}
