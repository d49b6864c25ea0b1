/** One batch of ChangeSets as it travels to the storage worker: packed on the host's thread, read in the worker. */
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import type { Weight } from "../group-commit.ts"
import { PackReader, PackWriter } from "./packed.ts"

/** A ChangeSet made ready by its caller's fiber. Everything that can fail is done there, so that packing a batch cannot. */
export interface PreparedChange {
  readonly change: ChangeSet
  /** Canonical form of each record's body, as text: it becomes bytes once, in the batch. */
  readonly bodies: ReadonlyArray<string>
  /** JSON text of each put's body. */
  readonly documents: ReadonlyArray<string>
  /** JSON text of each delivery's body. */
  readonly payloads: ReadonlyArray<string>
  /** Bytes of all parts, in order, joined. */
  readonly contents: Uint8Array
  /** 32 bytes for each part, in order. */
  readonly salts: Uint8Array
  readonly weight: Weight
}

/** A batch as it is posted: `buffer` is transferred, `names` are the short texts that repeat (kinds, agents, scopes, collections). */
export interface PackedBatch {
  readonly nowMs: number
  readonly buffer: ArrayBuffer
  readonly names: ReadonlyArray<string>
}

/** A number that stands for a text of {@link PackedBatch.names}. */
export type Name = number

/** The name index of "none". */
export const noName: Name = 0xffff_ffff

export interface BatchedPut {
  readonly collection: Name
  readonly id: string
  readonly expectedVersion: number
  /** JSON text. */
  readonly body: string
  readonly keys: ReadonlyArray<{ readonly name: Name; readonly value: string; readonly single: boolean }>
}

export interface BatchedPart {
  readonly name: Name
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

export interface BatchedRecord {
  readonly kind: Name
  /** {@link noName} when it is about no agent. */
  readonly agent: Name
  /** UTF-8 of the canonical body. */
  readonly body: Uint8Array
  readonly parts: ReadonlyArray<BatchedPart>
  readonly once: { readonly scope: Name; readonly key: string; readonly digest: Uint8Array } | null
}

/** A ChangeSet as the worker reads it. Byte arrays are views of the batch's buffer. */
export interface BatchedChange {
  readonly expectEmpty: boolean
  readonly startsChain: boolean
  readonly expects: ReadonlyArray<{ readonly collection: Name; readonly id: string; readonly version: number }>
  readonly puts: ReadonlyArray<BatchedPut>
  readonly records: ReadonlyArray<BatchedRecord>
  /** `by` is the index of the draft that says so. */
  readonly erase: ReadonlyArray<{ readonly seq: number; readonly name: Name; readonly by: number }>
  readonly forget: ReadonlyArray<{ readonly scope: Name; readonly key: string }>
  readonly deliveries: ReadonlyArray<{ readonly id: string; readonly eventType: Name; readonly body: string }>
}

/** What a record takes in a batch beside its bodies and parts, roughly: salts, once key, lengths. */
const frameBytes = 320

/** Packs the ChangeSets of one batch, in order. */
export const packBatch = (nowMs: number, changes: ReadonlyArray<PreparedChange>): PackedBatch => {
  const out = new PackWriter(changes.reduce((sum, { weight }) => sum + weight.bytes + weight.records * frameBytes, 0))
  const indexes = new Map<string, Name>()
  const name = (text: string): void => {
    let index = indexes.get(text)
    if (index === undefined) indexes.set(text, index = indexes.size)
    out.u32(index)
  }
  out.u32(changes.length)
  for (const prepared of changes) packChange(out, name, prepared)
  return { nowMs, buffer: out.finish(), names: [...indexes.keys()] }
}

const packChange = (out: PackWriter, name: (text: string) => void, prepared: PreparedChange): void => {
  const { change, documents, payloads } = prepared
  const { expects = [], puts = [], records = [], erase = [], forget = [], deliveries = [] } = change
  out.u8(change.expectEmpty === true ? 1 : 0)
  out.u8(records[0]?.kind === "chain.genesis" ? 1 : 0)
  out.u32(expects.length)
  for (const { collection, id, version } of expects) {
    name(collection)
    out.text(id)
    out.f64(version)
  }
  out.u32(puts.length)
  puts.forEach((put, index) => {
    name(put.collection)
    out.text(put.id)
    out.f64(put.expectedVersion)
    out.text(documents[index]!)
    packKeys(out, name, put.keys)
    packKeys(out, name, put.unique)
  })
  packRecords(out, name, records, prepared)
  out.u32(erase.length)
  for (const { seq, name: part } of erase) {
    out.f64(seq)
    name(part)
    out.u32(records.findLastIndex((draft) => draft.kind === "part.erased" && draft.body["seq"] === seq && draft.body["name"] === part))
  }
  out.u32(forget.length)
  for (const { scope, key } of forget) {
    name(scope)
    out.text(key)
  }
  out.u32(deliveries.length)
  deliveries.forEach(({ id, eventType }, index) => {
    out.text(id)
    name(eventType)
    out.text(payloads[index]!)
  })
}

const packKeys = (out: PackWriter, name: (text: string) => void, keys: { readonly [key: string]: string } | undefined): void => {
  const entries = Object.entries(keys ?? {})
  out.u32(entries.length)
  for (const [key, value] of entries) {
    name(key)
    out.text(value)
  }
}

const packRecords = (
  out: PackWriter,
  name: (text: string) => void,
  records: ReadonlyArray<RecordDraft>,
  { bodies, contents, salts }: PreparedChange
): void => {
  let salted = 0
  let copied = 0
  out.u32(records.length)
  records.forEach(({ kind, agentId, parts, once }, index) => {
    name(kind)
    if (agentId === null) out.u32(noName)
    else name(agentId)
    out.text(bodies[index]!)
    out.u8(parts.length)
    for (const part of parts) {
      name(part.name)
      out.raw(salts.subarray(salted, salted += 32))
      out.bytes(contents.subarray(copied, copied += part.bytes.length))
    }
    out.u8(once === undefined ? 0 : 1)
    if (once === undefined) return
    name(once.scope)
    out.text(once.key)
    out.hex32(once.digest)
  })
}

/** Reads a batch back into its ChangeSets. */
export const readBatch = (buffer: ArrayBuffer): ReadonlyArray<BatchedChange> => {
  const from = new PackReader(buffer)
  return times(from.u32(), () => ({
    expectEmpty: from.u8() === 1,
    startsChain: from.u8() === 1,
    expects: times(from.u32(), () => ({ collection: from.u32(), id: from.text(), version: from.f64() })),
    puts: times(from.u32(), () => ({
      collection: from.u32(),
      id: from.text(),
      expectedVersion: from.f64(),
      body: from.text(),
      keys: [...readKeys(from, false), ...readKeys(from, true)]
    })),
    records: times(from.u32(), () => ({
      kind: from.u32(),
      agent: from.u32(),
      body: from.bytes(),
      parts: times(from.u8(), () => ({ name: from.u32(), salt: from.raw(32), bytes: from.bytes() })),
      once: from.u8() === 0 ? null : { scope: from.u32(), key: from.text(), digest: from.raw(32) }
    })),
    erase: times(from.u32(), () => ({ seq: from.f64(), name: from.u32(), by: from.u32() })),
    forget: times(from.u32(), () => ({ scope: from.u32(), key: from.text() })),
    deliveries: times(from.u32(), () => ({ id: from.text(), eventType: from.u32(), body: from.text() }))
  }))
}

const readKeys = (from: PackReader, single: boolean): BatchedPut["keys"] => times(from.u32(), () => ({ name: from.u32(), value: from.text(), single }))

const times = <A>(count: number, make: () => A): Array<A> => {
  const out: Array<A> = []
  for (let index = 0; index < count; index++) out.push(make())
  return out
}
