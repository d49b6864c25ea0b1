/**
 * Making a ChangeSet ready to travel, in its caller's own fiber: whatever can fail fails here, so that a bug in one
 * cannot spoil its neighbours' batch.
 */
import type { OutboxDraft } from "@flyball/core/thread"
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { bodyTextOf, documentActs, saltBytes } from "@flyball/core/storage"
import { anyVersion, batchHeaderBytes, noName, PackedChange } from "./batch.ts"
import { PackWriter, Scratch } from "./packed.ts"

/** Approximate size of a record besides its body and parts: salts, idempotency key, lengths. */
const frameBytes = 320
/** The writer wants three bytes for each unit of a text that it is about to write. */
const slackBytes = 2_048
/** Where small ChangeSets are packed. Making a buffer for each costs more than copying it out. */
const scratch = new Scratch(16_384)
/** Bytes that are allocated at once for copies out of it. */
const slabBytes = 65_536
let slab = Buffer.alloc(0)
let slabUsed = 0

/**
 * Packs a ChangeSet. Nothing of it is held on to: while its commit waits, only these bytes are alive.
 *
 * - Unit: `outbox` is what it asks of the outbox, which travels as text: next to no ChangeSet asks anything. `salts` is
 *   32 bytes for each part, in order of drafts, then of parts.
 * - Fails: throws `RecordUnwritable` where a body breaks the format.
 */
export const prepare = (change: ChangeSet, salts: Uint8Array, outbox: OutboxDraft | null): PackedChange => {
  const { counts = [], expects = [], puts = [], records = [], erase = [], forget = [] } = change
  const bodies = records.map(bodyTextOf)
  const documents = puts.map(({ body }) => JSON.stringify(body))
  const bytes = contentBytes(records, bodies, documents) + outboxUnits(outbox)
  const out = new PackWriter(bytes + records.length * frameBytes + slackBytes, scratch)
  const names = new Names()
  const agents = new Names()
  out.skip(batchHeaderBytes)
  out.u8(change.expectEmpty === true ? 1 : 0)
  out.u8(change.expectNew === true ? 1 : 0)
  out.f64(change.sealBeforeMs ?? Number.POSITIVE_INFINITY)
  packVersions(out, names, expects)
  out.u32(puts.length)
  puts.forEach((put, index) => {
    out.u32(names.indexOf(put.collection))
    out.text(put.id)
    out.f64(put.expectedVersion ?? anyVersion)
    out.text(documents[index]!)
    packKeys(out, names, put.keys)
    packKeys(out, names, put.unique)
  })
  for (const act of documentActs) packVersions(out, names, change[act] ?? [])
  packRecords(out, { agents, names }, records, bodies, salts)
  out.u32(erase.length)
  for (const { seq, name: part } of erase) {
    out.f64(seq)
    out.u32(names.indexOf(part))
    out.u32(
      records.findLastIndex(
        (draft) => draft.kind === "part.erased" && draft.body["seq"] === seq && draft.body["name"] === part
      )
    )
  }
  out.u32(forget.length)
  for (const { scope, key } of forget) {
    out.u32(names.indexOf(scope))
    out.text(key)
  }
  out.u32(counts.length)
  for (const { add, atMost = Number.POSITIVE_INFINITY, name } of counts) {
    out.text(name)
    out.f64(add)
    out.f64(atMost)
  }
  packOutbox(out, outbox)
  out.text(agents.joined())
  const packed = out.finish()
  // A ChangeSet without records counts as one: it takes its share of a transaction too.
  const weight = { records: Math.max(1, records.length), bytes }
  return packed.buffer === scratch.buffer.buffer
    ? new PackedChange(takenOut(packed), false, names.joined(), weight)
    : new PackedChange(packed, true, names.joined(), weight)
}

/**
 * A copy of what stands in the scratch, which is wiped: a salt that is erased later must not survive there. The copy is
 * wiped when it joins the batch.
 */
const takenOut = (packed: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  if (slabUsed + packed.length > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    slabUsed = 0
  }
  const copy = slab.subarray(slabUsed, (slabUsed += packed.length))
  copy.set(packed)
  packed.fill(0)
  return copy
}

/** Bytes of parts, and units of texts. */
const contentBytes = (
  records: ReadonlyArray<RecordDraft>,
  bodies: ReadonlyArray<string>,
  documents: ReadonlyArray<string>
): number => {
  let bytes = 0
  for (const { parts } of records) for (const part of parts) bytes += part.text?.length ?? part.bytes.length
  for (const text of bodies) bytes += text.length
  for (const text of documents) bytes += text.length
  return bytes
}

const outboxUnits = (outbox: OutboxDraft | null): number =>
  outbox === null ? 0 : outbox.events.reduce((units, { data }) => units + data.length, 0)

/** Events one after another, which are text already; the rest, which next to no ChangeSet has, as JSON. */
const packOutbox = (out: PackWriter, outbox: OutboxDraft | null): void => {
  out.u8(outbox === null ? 0 : 1)
  if (outbox === null) return
  const { again, cancel, events, moves } = outbox
  out.u32(events.length)
  for (const { data, owner = "", random, type } of events) {
    out.text(type)
    out.text(owner)
    out.text(data)
    out.text(random)
  }
  out.text(moves.length + cancel.length + again.length === 0 ? "" : JSON.stringify({ moves, cancel, again }))
}

/** Names that are searched one by one. Most ChangeSets have fewer, and no map need be made for them. */
const fewNames = 12

/** Names as numbers, each the next when it first comes. */
class Names {
  readonly #texts: Array<string> = []
  #indexes: Map<string, number> | null = null

  indexOf(text: string): number {
    const known = this.#indexes === null ? this.#texts.indexOf(text) : (this.#indexes.get(text) ?? -1)
    if (known >= 0) return known
    const index = this.#texts.push(text) - 1
    if (this.#indexes !== null) this.#indexes.set(text, index)
    else if (this.#texts.length > fewNames) this.#indexes = new Map(this.#texts.map((one, at) => [one, at]))
    return index
  }

  joined(): string {
    return this.#texts.join("\0")
  }
}

const packVersions = (out: PackWriter, names: Names, documents: NonNullable<ChangeSet["expects"]>): void => {
  out.u32(documents.length)
  for (const { collection, id, version } of documents) {
    out.u32(names.indexOf(collection))
    out.text(id)
    out.f64(version)
  }
}

const packKeys = (out: PackWriter, names: Names, keys: { readonly [key: string]: string } | undefined): void => {
  const texts = keys === undefined ? [] : Object.keys(keys)
  out.u32(texts.length)
  for (const key of texts) {
    out.u32(names.indexOf(key))
    out.text(keys![key]!)
  }
}

const packRecords = (
  out: PackWriter,
  { agents, names }: { readonly agents: Names; readonly names: Names },
  records: ReadonlyArray<RecordDraft>,
  bodies: ReadonlyArray<string>,
  salts: Uint8Array
): void => {
  let salted = 0
  out.u32(records.length)
  for (let index = 0; index < records.length; index++) {
    const { agentId, kind, once, parts } = records[index]!
    out.u32(names.indexOf(kind))
    if (agentId === null) out.u32(noName)
    else out.u32(agents.indexOf(agentId))
    out.text(bodies[index]!)
    out.bytes(salts.subarray(salted, (salted += parts.length * saltBytes)))
    out.u8(parts.length)
    for (const part of parts) {
      out.u32(names.indexOf(part.name))
      if (part.text === undefined) out.bytes(part.bytes)
      else out.text(part.text)
    }
    out.u8(once === undefined ? 0 : 1)
    if (once === undefined) continue
    out.u32(names.indexOf(once.scope))
    out.text(once.key)
    out.hex32(once.digest)
  }
}
