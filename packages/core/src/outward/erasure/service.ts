/**
 * Erasure: takes the content of a part away for good, and leaves a record that says so. Spec: api, POST
 * /chain/erasures.
 */
import { type ErasureIn, type ErasureOut, type PartErased, type PartNotFound, RecordNotFound } from "@flyball/contract"
import { type RecordView, readRecord, toHex } from "@flyball/evidence"
import { Clock, Context, Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type Document, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { erasedKeyOf } from "./idempotency-key.ts"
import { planErase } from "./plan-erase.ts"
import { type Beside, documentIdOf, type Scrub, scrubOf } from "./scrub.ts"

/** Operation that erases a part. Spec: format 1 section 3; decision 0008. */
export interface ErasureApi {
  readonly erase: (
    command: ErasureIn,
    writer: Writer
  ) => Effect.Effect<ErasureOut, RecordNotFound | PartNotFound | PartErased | ReadFault>
}

/** Service that erases parts of records. Spec: format 1 section 3; decision 0008. */
export class Erasure extends Context.Service<Erasure, ErasureApi>()("flyball/core/Erasure") {
  static readonly layer: Layer.Layer<Erasure, never, Storage | Chain> = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { originTag } = yield* Chain

      const heldBy = Effect.fnUntraced(function* (record: RecordView, name: string) {
        const scrub = scrubOf(record.kind, name)
        if (scrub === null) return null
        const document = yield* storage.get(scrub.collection, documentIdOf(scrub, record.body))
        if (document === null) return null
        const beside = yield* Effect.forEach(scrub.beside ?? [], (one) =>
          Effect.map(besideOf(storage, one, document.id), (found) =>
            found.flatMap((other) => one.without(other, document) ?? [])
          )
        )
        return {
          scrub,
          document,
          beside: beside.flat(),
          body: record.body,
          current:
            scrub.isSetBy === undefined
              ? yield* isCurrent(storage, record, name, scrub)
              : scrub.isSetBy(document, record.body)
        }
      })

      const erase: ErasureApi["erase"] = Effect.fnUntraced(function* (command, writer) {
        const receipt = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const record = yield* storage.record(command.seq)
            if (record === null) return yield* new RecordNotFound({ seq: command.seq })
            const part = (yield* storage.parts([command.seq])).find(({ name }) => name === command.name) ?? null
            const read = readRecord(record.bytes)
            if (!read.ok)
              return yield* new StorageCorrupt({ reason: `record ${command.seq} cannot be read (${read.code})` })
            const target = {
              record,
              part,
              held: yield* heldBy(read.record, command.name),
              once: yield* erasedKeyOf(storage, originTag, read.record)
            }
            const change = yield* Effect.fromResult(planErase(command, target, writer, yield* Clock.currentTimeMillis))
            return yield* storage.commit(change)
          })
        )
        const { hash, seq } = receipt.records[0]!
        return {
          seq,
          record_hash: `sha256:${toHex(hash)}`,
          erased: { seq: command.seq, name: command.name, reason: command.reason }
        }
      })

      return Erasure.of({ erase })
    })
  )
}

const besideOf = (
  storage: StorageApi,
  { collection, lookUp }: Beside,
  id: string
): Effect.Effect<ReadonlyArray<Document>, ReadFault> =>
  lookUp === undefined
    ? Effect.map(storage.get(collection, id), (found) => (found === null ? [] : [found]))
    : storage.find(collection, lookUp.key, lookUp.value)

/** Newest records per read; an agent that was updated more often since costs another read. */
const PAGE = 100

/** Ids of documents that later records of the same kind write again. Records name keys and people once. */
const restated: ReadonlySet<string> = new Set(["agent_id", "envelope_id", "webhook_id"])

/** Reports whether no later record replaced the value of the part. */
const isCurrent = Effect.fnUntraced(function* (
  storage: StorageApi,
  record: RecordView,
  name: string,
  { idMember, restatedBy }: Scrub
): Effect.fn.Return<boolean, ReadFault | StorageCorrupt> {
  if (idMember !== null && !restated.has(idMember)) return true
  const about = idMember === "agent_id" ? { agentId: String(record.body[idMember]) } : {}
  for (let from = record.seq + 1; ;) {
    const later = yield* storage.records({ ...about, kinds: restatedBy, from, limit: PAGE })
    for (const { bytes, seq } of later) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      if (idMember !== null && read.record.body[idMember] !== record.body[idMember]) continue
      // A disowned agent has no owner, and its record has no part that says so.
      if (read.record.kind === "agent.orphaned" || read.record.parts.some((part) => part.name === name)) return false
    }
    if (later.length < PAGE) return true
    from = later.at(-1)!.seq + 1
  }
})
