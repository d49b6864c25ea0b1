/** Pages of records and parts as they travel from the reading worker: one buffer a page. */
import type { StoredPart, StoredRecord } from "@flyball/core/storage"
import { PackReader, PackWriter } from "./packed.ts"

/** Packs a page of records. */
export const packRecords = (records: ReadonlyArray<StoredRecord>): ArrayBuffer => {
  const out = new PackWriter(records.length * 1024)
  out.u32(records.length)
  for (const { seq, bytes, hash, kind, agentId, atMs } of records) {
    out.f64(seq)
    out.f64(atMs)
    out.raw(hash)
    out.text(kind)
    out.u8(agentId === null ? 0 : 1)
    if (agentId !== null) out.text(agentId)
    out.bytes(bytes)
  }
  return out.finish().buffer
}

/** Reads a page of records. Byte arrays are views of the page, which nobody else holds. */
export const readRecords = (buffer: ArrayBuffer): ReadonlyArray<StoredRecord> => {
  const from = new PackReader(buffer)
  const records: Array<StoredRecord> = []
  const count = from.u32()
  for (let index = 0; index < count; index++) {
    const seq = from.f64()
    const atMs = from.f64()
    const hash = from.raw(32)
    const kind = from.text()
    const agentId = from.u8() === 0 ? null : from.text()
    records.push({ seq, bytes: from.bytes(), hash, kind, agentId, atMs })
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
