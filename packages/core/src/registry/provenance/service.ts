/**
 * Provenance of agents: models, prompts, tools, data, code, each with who recorded it and the record of it. Spec:
 * document 1 section 4.
 */
import type { AgentNotFound, InvalidTransition, ProvenanceCreate, ProvenanceOut } from "@flyball/contract"
import { formatInstant, readRecord } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { readAgent } from "../agents/read-agent.ts"
import { recordHash, newId } from "../../foundation/ids.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { idAtMs } from "../../foundation/id-time.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { planAddProvenance } from "./plan-add.ts"
import { erasedProvenance, KILL_REACH, PROVENANCE, type ProvenanceDocument, writeMembers } from "@flyball/rules"

/** Operations on the provenance of agents. Spec: document 1 section 4, `/agents/{agent_id}/provenance`. */
export interface ProvenanceApi {
  readonly add: (
    agentId: string,
    input: ProvenanceCreate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<ProvenanceOut, AgentNotFound | InvalidTransition | ReadFault>
  /** Oldest first. */
  readonly list: (
    agentId: string,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<ProvenanceOut>, AgentNotFound | ReadFault>
}

const PAGE = 500

/** Service for the provenance of agents. Spec: document 1 section 4, `/agents/{agent_id}/provenance`. */
export class Provenance extends Context.Service<Provenance, ProvenanceApi>()("flyball/core/Provenance") {
  static readonly layer: Layer.Layer<Provenance, never, Storage> = Layer.effect(
    Provenance,
    Effect.gen(function* () {
      const storage = yield* Storage

      /** The record of each piece of an agent. */
      const recordsOf = Effect.fnUntraced(function* (agentId: string) {
        const found = new Map<string, { readonly seq: number; readonly hash: Uint8Array }>()
        for (let from = 0; ;) {
          const page = yield* storage.records({ agentId, kinds: ["agent.provenance_added"], from, limit: PAGE })
          for (const { bytes, hash, seq } of page) {
            const read = readRecord(bytes)
            if (read.ok) found.set(String(read.record.body["provenance_id"]), { seq, hash })
          }
          if (page.length < PAGE) return found
          from = page.at(-1)!.seq + 1
        }
      })

      return Provenance.of({
        add: (agentId, input, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const agent = yield* readAgent(storage, agentId, scope)
              const id = yield* newId("prv")
              const reach = input.kind === "model" ? yield* storage.get(KILL_REACH.collection, KILL_REACH.id) : null
              const { change, piece } = yield* Effect.fromResult(
                planAddProvenance(id, agent, input, writer, reach?.version ?? 0)
              )
              const {
                records: [receipt]
              } = yield* storage.commit(change)
              return out(id, piece, receipt!)
            })
          ),
        list: Effect.fnUntraced(function* (agentId, scope = everyUnit) {
          yield* readAgent(storage, agentId, scope)
          const documents = yield* storage.find(PROVENANCE, "agent_id", agentId)
          const records = yield* recordsOf(agentId)
          // A component from before a recovery has its record in the retired chain.
          return documents.map(({ body, id }) => out(id, body as ProvenanceDocument, records.get(id) ?? null))
        })
      })
    })
  )
}

const out = (
  id: string,
  piece: ProvenanceDocument,
  record: { readonly seq: number; readonly hash: Uint8Array } | null
): ProvenanceOut => ({
  id,
  agent_id: piece.agentId,
  kind: piece.kind,
  ...writeMembers(piece, erasedProvenance(id)),
  digest: piece.digest,
  slsa_level: piece.slsaLevel,
  recorded_by: piece.recordedBy,
  created_at: formatInstant(idAtMs(id)),
  seq: record?.seq ?? null,
  record_hash: record === null ? null : recordHash(record.hash)
})
