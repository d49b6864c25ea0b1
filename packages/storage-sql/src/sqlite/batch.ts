/**
 * One batch of ChangeSets as it travels to the storage worker: each packed by its caller's fiber, joined on the host's
 * thread, read in the worker.
 */
import type { CountAdd, Weight } from "@flyball/core/storage"
import { type DocumentAct, documentActs, type OutboxDraft } from "@flyball/core/thread"
import { PackReader, PackWriter } from "./packed.ts"

/**
 * A ChangeSet ready to travel. Everything that can fail is done, so that joining a batch cannot. A class for the reason
 * in `group-commit.ts`.
 */
export class PackedChange {
  /** Its bytes, after {@link batchHeaderBytes} that are free. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether its buffer is nobody else's: then it becomes the batch where nothing else waits. */
  readonly whole: boolean
  /**
   * The short texts that repeat from one ChangeSet to the next (kinds, scopes, collections, names of parts), joined by
   * U+0000, which none of them holds.
   */
  readonly names: string
  readonly weight: Weight

  constructor(bytes: Uint8Array<ArrayBuffer>, whole: boolean, names: string, weight: Weight) {
    this.bytes = bytes
    this.whole = whole
    this.names = names
    this.weight = weight
  }
}

/** A batch as it is posted: `buffer` is transferred. */
export interface PackedBatch {
  readonly nowMs: number
  readonly buffer: ArrayBuffer
  /** {@link PackedChange.names} of its ChangeSets, each once: the ChangeSets of a batch mostly share them. */
  readonly names: ReadonlyArray<string>
}

/** Room for the number of ChangeSets and the first one's index of names. */
export const batchHeaderBytes = 8

/** A number that stands for a text of {@link PackedChange.names}. */
export type Name = number

/** The name index of "none". */
export const noName: Name = 0xffff_ffff

/** Stands for a put that expects no version. */
export const anyVersion = -1

/** A document of a batch. */
export interface BatchedPut {
  readonly collection: Name
  readonly id: string
  /** {@link anyVersion} where it expects none. */
  readonly expectedVersion: number
  /** JSON text. */
  readonly body: string
  readonly keys: ReadonlyArray<{ readonly name: Name; readonly value: string; readonly single: boolean }>
}

/** A document at a version. */
export interface BatchedVersion {
  readonly collection: Name
  readonly id: string
  readonly version: number
}

/** A part of a record of a batch. */
export interface BatchedPart {
  readonly name: Name
  readonly bytes: Uint8Array
}

/** A record of a batch. */
export interface BatchedRecord {
  readonly kind: Name
  /** Index in {@link BatchedChange.agents}; {@link noName} when it is about no agent. */
  readonly agent: number
  /** The canonical body. */
  readonly bodyText: string
  /** 32 bytes for each part, in order. */
  readonly salts: Uint8Array
  readonly parts: ReadonlyArray<BatchedPart>
  readonly once: { readonly scope: Name; readonly key: string; readonly digest: Uint8Array } | null
}

/** A ChangeSet as the worker reads it. Byte arrays are views of the batch's buffer. */
export interface BatchedChange {
  /** Which of the batch's names its numbers stand for. */
  readonly names: number
  readonly expectEmpty: boolean
  readonly expectNew: boolean
  /** Infinity where any time will do. */
  readonly sealBeforeMs: number
  readonly expects: ReadonlyArray<BatchedVersion>
  readonly puts: ReadonlyArray<BatchedPut>
  readonly acts: { readonly [act in DocumentAct]: ReadonlyArray<BatchedVersion> }
  readonly records: ReadonlyArray<BatchedRecord>
  /** `by` is the index of the draft that says so. */
  readonly erase: ReadonlyArray<{ readonly seq: number; readonly name: Name; readonly by: number }>
  readonly forget: ReadonlyArray<{ readonly scope: Name; readonly key: string }>
  readonly counts: ReadonlyArray<CountAdd>
  /** Its changes to the outbox; null when there are none. */
  readonly outbox: OutboxDraft | null
  /** The agents that its records are about. Apart from the names, which would be others in each ChangeSet. */
  readonly agents: ReadonlyArray<string>
}

/** Joins the ChangeSets of one batch, in order. The ChangeSets are used up. */
export const packBatch = (nowMs: number, changes: ReadonlyArray<PackedChange>): PackedBatch => {
  const [first] = changes
  if (first?.whole === true && changes.length === 1) {
    const header = Buffer.from(first.bytes.buffer, first.bytes.byteOffset)
    header.writeUInt32LE(1, 0)
    header.writeUInt32LE(0, 4)
    return { nowMs, buffer: first.bytes.buffer, names: [first.names] }
  }
  const out = new PackWriter(changes.reduce((sum, { bytes }) => sum + bytes.length, batchHeaderBytes))
  const indexes = new Map<string, number>()
  out.u32(changes.length)
  for (const { bytes, names } of changes) {
    let index = indexes.get(names)
    if (index === undefined) indexes.set(names, (index = indexes.size))
    out.u32(index)
    out.raw(bytes.subarray(batchHeaderBytes))
    bytes.fill(0)
  }
  return { nowMs, buffer: out.finish().buffer, names: [...indexes.keys()] }
}

/** Reads a batch back into its ChangeSets. */
export const readBatch = (buffer: ArrayBuffer): ReadonlyArray<BatchedChange> => {
  const from = new PackReader(buffer)
  return times(from.u32(), () => ({
    names: from.u32(),
    expectEmpty: from.u8() === 1,
    expectNew: from.u8() === 1,
    sealBeforeMs: from.f64(),
    expects: readVersions(from),
    puts: times(from.u32(), () => ({
      collection: from.u32(),
      id: from.text(),
      expectedVersion: from.f64(),
      body: from.text(),
      keys: [...readKeys(from, false), ...readKeys(from, true)]
    })),
    acts: readActs(from),
    records: times(from.u32(), () => ({
      kind: from.u32(),
      agent: from.u32(),
      bodyText: from.text(),
      salts: from.bytes(),
      parts: times(from.u8(), () => ({ name: from.u32(), bytes: from.bytes() })),
      once: from.u8() === 0 ? null : { scope: from.u32(), key: from.text(), digest: from.raw(32) }
    })),
    erase: times(from.u32(), () => ({ seq: from.f64(), name: from.u32(), by: from.u32() })),
    forget: times(from.u32(), () => ({ scope: from.u32(), key: from.text() })),
    // Infinity where it has no limit.
    counts: times(from.u32(), () => ({ name: from.text(), add: from.f64(), atMost: from.f64() })),
    outbox: readOutbox(from),
    agents: from.text().split("\0")
  }))
}

const readVersions = (from: PackReader): ReadonlyArray<BatchedVersion> =>
  times(from.u32(), () => ({ collection: from.u32(), id: from.text(), version: from.f64() }))

const readActs = (from: PackReader): BatchedChange["acts"] => {
  const acts = {} as Record<DocumentAct, ReadonlyArray<BatchedVersion>>
  for (const act of documentActs) acts[act] = readVersions(from)
  return acts
}

const readOutbox = (from: PackReader): OutboxDraft | null => {
  if (from.u8() === 0) return null
  const events = times(from.u32(), () => {
    const [type, owner] = [from.text(), from.text()]
    return { type, ...(owner === "" ? {} : { owner }), data: from.text(), random: from.text() }
  })
  const rest = from.text()
  return { events, ...(rest === "" ? noMoves : (JSON.parse(rest) as Omit<OutboxDraft, "events">)) }
}

const noMoves: Omit<OutboxDraft, "events"> = { moves: [], cancel: [], again: [] }

const readKeys = (from: PackReader, single: boolean): BatchedPut["keys"] =>
  times(from.u32(), () => ({ name: from.u32(), value: from.text(), single }))

const times = <A>(count: number, make: () => A): Array<A> => {
  const out: Array<A> = []
  for (let index = 0; index < count; index++) out.push(make())
  return out
}
