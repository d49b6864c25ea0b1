/** Evidence packs: requested, listed, streamed. Spec: api, `/evidence/packs`. */
import {
  AgentNotFound,
  type Forbidden,
  type InvalidInput,
  PackNotFound,
  type PackOut,
  type PackRequest
} from "@flyball/contract"
import { formatInstant, toHex } from "@flyball/evidence"
import { Clock, Context, Effect, Layer } from "effect"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { Chain } from "../../chain/chain.ts"
import { Checkpointer, NO_CHECKPOINT } from "../../chain/checkpointer.ts"
import { checkpointOf, latestCheckpoint } from "../../chain/check/checkpoints.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Signer } from "../../chain/keys/signer.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { newId } from "../../foundation/ids.ts"
import { covers, coversAll, everyUnit, type Scope } from "../../foundation/scope.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { instantMs } from "../../storage/store-time.ts"
import { buildPack } from "./build-pack.ts"
import {
  requestedScope,
  requestedWithin,
  packBody,
  type PackDocument,
  PACKS,
  type PackSpec,
  storedPack
} from "./document.ts"
import { packKeys, retiredPackKeys } from "./pack-keys.ts"
import { planRequestPack } from "./plan-request.ts"
import { seqsBetween } from "./seqs-between.ts"

/** Operations on evidence packs. Objects outside `scope` are answered as not found. Spec: format 1 section 5. */
export interface PacksApi {
  /** Signs a checkpoint and stores the request. */
  readonly request: (
    request: PackRequest,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<PackOut, AgentNotFound | Forbidden | InvalidInput | ReadFault>
  /** Oldest first. */
  readonly list: (scope?: Scope) => Effect.Effect<ReadonlyArray<PackOut>, ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<PackOut, PackNotFound | ReadFault>
  /**
   * The bytes of a requested pack, made again. The first stream that is read to its end is recorded as
   * `evidence.exported`, and only then is a `writer` that is an effect run: finding a person's pseudonym may write a
   * record, and reading a pack must not. Reading may throw `StorageUnavailable` or `StorageCorrupt`.
   */
  readonly build: (
    id: string,
    writer: Writer | Effect.Effect<Writer, ReadFault>,
    scope?: Scope
  ) => Effect.Effect<AsyncIterable<Uint8Array>, PackNotFound | ReadFault>
  /**
   * Signs a checkpoint and answers the bytes of a pack that was not requested before. Read to its end, it is stored
   * under an id of its own and recorded as `build` records it; before that nothing is.
   */
  readonly download: (
    request: PackRequest,
    writer: Writer | Effect.Effect<Writer, ReadFault>,
    scope?: Scope
  ) => Effect.Effect<AsyncIterable<Uint8Array>, AgentNotFound | Forbidden | InvalidInput | ReadFault>
  /**
   * The bytes of a pack of the last signed checkpoint. Writes nothing: for commands that read beside a running
   * server.
   */
  readonly export: (
    request: PackRequest
  ) => Effect.Effect<AsyncIterable<Uint8Array>, AgentNotFound | Forbidden | InvalidInput | ReadFault>
}

/** Service of evidence packs. Spec: format 1 section 5. */
export class Packs extends Context.Service<Packs, PacksApi>()("flyball/core/Packs") {
  /** With `retired`: of a retired chain. */
  static readonly layer = ({ retired = false }: { readonly retired?: boolean } = {}): Layer.Layer<
    Packs,
    never,
    Storage | Signer | Chain | Checkpointer
  > =>
    Layer.effect(
      Packs,
      Effect.gen(function* () {
        const chain = yield* Chain
        const checkpointer = yield* Checkpointer
        const storage = yield* Storage
        const signer = yield* Signer
        const crypto = yield* EvidenceCrypto
        const { origin } = chain
        const signing = (retired ? retiredPackKeys : packKeys)({ storage, signer, crypto, origin })

        /** Which agents the caller may see; null when all. */
        const visibleAgents = Effect.fnUntraced(function* (request: PackRequest, scope: Scope) {
          if (typeof request.agent_id === "string") {
            const document = yield* storage.get(AGENTS, request.agent_id)
            if (document === null || !covers(scope, storedAgent(document).body.orgUnit))
              return yield* new AgentNotFound({ agentId: request.agent_id })
          }
          if (scope.orgUnits === "*") return null
          const found = yield* Effect.forEach(scope.orgUnits, (orgUnit) => storage.find(AGENTS, "org_unit", orgUnit))
          return found
            .flat()
            .map(({ id }) => id)
            .sort()
        })

        /** Plans a request and reads the checkpoint that it refers to. */
        const planned = Effect.fnUntraced(function* (request: PackRequest, scope: Scope) {
          const agentIds = yield* visibleAgents(request, scope)
          const checkpoint = yield* checkpointer.now
          const span = yield* seqsBetween(storage, request, checkpoint.size)
          const spec = yield* Effect.fromResult(planRequestPack(request, scope, agentIds, checkpoint.size, span))
          const pack: Omit<PackDocument, "createdBy"> = {
            ...spec,
            ...requestedWithin(scope),
            createdAtMs: instantMs(yield* Clock.currentTimeMillis),
            exportedDigest: null
          }
          return { checkpoint, pack }
        })

        const request: PacksApi["request"] = Effect.fnUntraced(function* (request, writer, scope = everyUnit) {
          const { pack: unsaid } = yield* planned(request, scope)
          const pack: PackDocument = { ...unsaid, createdBy: writer.id }
          return yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const id = yield* newId("pck")
              yield* storage.commit({ puts: [{ collection: PACKS, id, expectedVersion: 0, body: packBody(pack) }] })
              return packOut(id, pack)
            })
          )
        })

        const find = Effect.fnUntraced(function* (id: string, scope: Scope) {
          const document = yield* storage.get(PACKS, id)
          return document !== null && coversAll(scope, requestedScope(storedPack(document)))
            ? document
            : yield* new PackNotFound({ packId: id })
        })

        const list: PacksApi["list"] = (scope = everyUnit) =>
          everyDocument(storage, PACKS, (page) =>
            Effect.succeed(
              page
                .map((document) => ({ id: document.id, pack: storedPack(document) }))
                .filter(({ pack }) => coversAll(scope, requestedScope(pack)))
                .map(({ id, pack }) => packOut(id, pack))
            )
          )

        /**
         * Records the export once. The first caller that streamed it is the writer; a concurrent stream finds it done.
         * With `unrequested` it stores that pack too.
         */
        const recordExport = (
          id: string,
          by: Writer | Effect.Effect<Writer, ReadFault>,
          digest: string,
          unrequested: Omit<PackDocument, "createdBy"> | null = null
        ): Effect.Effect<void, ReadFault> =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const document = yield* storage.get(PACKS, id)
              const known = document === null ? unrequested : storedPack(document)
              if (known === null || known.exportedDigest !== null) return
              const writer = Effect.isEffect(by) ? yield* by : by
              const pack: PackDocument = { createdBy: writer.id, ...known }
              yield* storage.commit({
                puts: [
                  {
                    collection: PACKS,
                    id,
                    expectedVersion: document?.version ?? 0,
                    body: packBody({ ...pack, exportedDigest: digest })
                  }
                ],
                records: [
                  {
                    kind: "evidence.exported",
                    body: { digest, pack_id: id, pack_kind: pack.kind, tree_size: pack.treeSize, writer: writer.id },
                    parts: [],
                    agentId: null
                  }
                ],
                events: [
                  event("evidence.exported", {
                    pack_id: id,
                    kind: pack.kind,
                    tree_size: pack.treeSize,
                    digest: `sha256:${digest}`,
                    writer: writer.id
                  })
                ]
              })
            })
          )

        const build: PacksApi["build"] = Effect.fnUntraced(function* (id, writer, scope = everyUnit) {
          const pack = storedPack(yield* find(id, scope))
          const checkpoint = yield* checkpointOf(storage, pack.treeSize)
          if (checkpoint === null)
            return yield* new StorageCorrupt({
              reason: `the checkpoint of ${pack.treeSize} records, which a pack refers to, is missing`
            })
          const run = Effect.runPromiseWith(yield* Effect.context<never>())
          return buildPack(
            { storage, crypto, origin, run, ...(yield* signing) },
            pack,
            checkpoint,
            pack.createdAtMs,
            (digest) => run(recordExport(id, writer, toHex(digest)))
          )
        })

        const download: PacksApi["download"] = Effect.fnUntraced(function* (request, writer, scope = everyUnit) {
          const { checkpoint, pack } = yield* planned(request, scope)
          const id = yield* newId("pck")
          const run = Effect.runPromiseWith(yield* Effect.context<never>())
          return buildPack(
            { storage, crypto, origin, run, ...(yield* signing) },
            pack,
            checkpoint,
            pack.createdAtMs,
            (digest) => run(recordExport(id, writer, toHex(digest), pack))
          )
        })

        const exportPack: PacksApi["export"] = Effect.fnUntraced(function* (request) {
          const checkpoint = yield* latestCheckpoint(storage)
          if (checkpoint === null) {
            return yield* new StorageUnavailable({ reason: NO_CHECKPOINT, wrote: "no" })
          }
          const agentIds = yield* visibleAgents(request, everyUnit)
          const span = yield* seqsBetween(storage, request, checkpoint.size)
          const spec: PackSpec = yield* Effect.fromResult(
            planRequestPack(request, everyUnit, agentIds, checkpoint.size, span)
          )
          const run = Effect.runPromiseWith(yield* Effect.context<never>())
          return buildPack(
            { storage, crypto, origin, run, ...(yield* signing) },
            spec,
            checkpoint,
            instantMs(yield* Clock.currentTimeMillis)
          )
        })

        return Packs.of({
          request,
          list,
          get: (id, scope = everyUnit) => Effect.map(find(id, scope), (document) => packOut(id, storedPack(document))),
          build,
          download,
          export: exportPack
        })
      })
    )
}

const packOut = (id: string, pack: PackDocument): PackOut => ({
  id,
  kind: pack.kind,
  from: pack.from,
  to: pack.to,
  tree_size: pack.treeSize,
  agent_id: pack.agentId,
  run_id: pack.runId,
  kinds: pack.kinds,
  since: pack.sinceMs === null ? null : formatInstant(pack.sinceMs),
  until: pack.untilMs === null ? null : formatInstant(pack.untilMs),
  disclose: pack.disclose,
  created_by: pack.createdBy,
  created_at: formatInstant(pack.createdAtMs),
  digest: pack.exportedDigest === null ? null : `sha256:${pack.exportedDigest}`
})
