/** Discloses one part of a record. Spec: api.md, GET /chain/records/{seq}/parts/{name}. */
import { PartErased, PartNotFound, type PartOut, RecordNotFound } from "@flyball/contract"
import { fromUtf8, readRecord, toBase64 } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"

/** Reads of parts. Spec: format 1 section 3. */
export interface PartsApi {
  /**
   * The content of a part, with the salt that its commitment was made with.
   *
   * - Fails: `RecordNotFound` for a record about an agent outside `scope`, or about no agent where `scope` is not every
   *   unit; `PartErased` with the record that says so.
   */
  readonly get: (
    seq: number,
    name: string,
    scope?: Scope
  ) => Effect.Effect<PartOut, RecordNotFound | PartNotFound | PartErased | ReadFault>
}

/** Service that reads parts of records. Spec: format 1 section 3. */
export class Parts extends Context.Service<Parts, PartsApi>()("flyball/core/Parts") {
  static readonly layer: Layer.Layer<Parts, never, Storage> = Layer.effect(
    Parts,
    Effect.gen(function* () {
      const storage = yield* Storage
      return Parts.of({
        get: Effect.fnUntraced(function* (seq, name, scope = everyUnit) {
          const record = yield* storage.record(seq)
          if (record === null) return yield* new RecordNotFound({ seq })
          if (scope.orgUnits !== "*") {
            // What concerns no agent may concern any unit.
            if (record.agentId === null) return yield* new RecordNotFound({ seq })
            yield* readAgent(storage, record.agentId, scope).pipe(
              Effect.catchTag("AgentNotFound", () => Effect.fail(new RecordNotFound({ seq })))
            )
          }
          const part = (yield* storage.parts([seq])).find((one) => one.name === name)
          if (part === undefined) return yield* new PartNotFound({ seq, name })
          if (part.erasedBy !== null) return yield* new PartErased({ seq, name, erasedBy: part.erasedBy })
          const read = readRecord(record.bytes)
          const committed = read.ok ? read.record.parts.find((one) => one.name === name) : undefined
          if (committed === undefined)
            return yield* new StorageCorrupt({ reason: `record ${seq} does not commit to its part ${name}` })
          return {
            seq,
            name,
            commitment: committed.c,
            salt: toBase64(part.salt),
            bytes: toBase64(part.bytes),
            text: fromUtf8(part.bytes)
          }
        })
      })
    })
  )
}
