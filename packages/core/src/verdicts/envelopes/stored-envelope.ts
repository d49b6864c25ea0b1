/** Reads envelopes out of documents, and writes them for the wire. */
import { EnvelopeNotFound, type EnvelopeOut, type EnvelopeVersionOut, isId } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { idAtMs } from "../../foundation/id-time.ts"
import { covers, type Scope } from "../../foundation/scope.ts"
import type { Document, DocumentPut, StorageApi, ChangeSet } from "../../storage/port.ts"
import { EPOCH } from "./in-force.ts"
import { type EnvelopeDocument, ENVELOPES, envelopeUnique, type VersionDocument } from "@flyball/rules"

/** An envelope as it was read. */
export interface StoredEnvelope {
  readonly id: string
  readonly version: number
  readonly body: EnvelopeDocument
}

/** The envelope in a document. */
export const storedEnvelope = ({ body, id, version }: Document): StoredEnvelope => ({
  id,
  version,
  body: body as EnvelopeDocument
})

/** The put that makes `body` of an envelope. */
export const putEnvelope = (id: string, expectedVersion: number, body: EnvelopeDocument): DocumentPut => ({
  collection: ENVELOPES,
  id,
  expectedVersion,
  body: body as unknown as DocumentPut["body"],
  unique: envelopeUnique(body),
  keys: body.agentId === null ? {} : { agent_id: body.agentId }
})

/** The org unit that an envelope concerns: its own, or that of its agent. */
export const unitOf = Effect.fnUntraced(function* (storage: StorageApi, { agentId, orgUnit }: EnvelopeDocument) {
  if (agentId === null) return orgUnit
  const agent = yield* storage.get(AGENTS, agentId)
  return agent === null ? null : storedAgent(agent).body.orgUnit
})

/**
 * The envelope of this id.
 *
 * - Fails: `EnvelopeNotFound` when there is none in scope.
 */
export const readStoredEnvelope = Effect.fnUntraced(function* (storage: StorageApi, id: string, scope: Scope) {
  const document = isId("envelope", id) ? yield* storage.get(ENVELOPES, id) : null
  if (document === null) return yield* new EnvelopeNotFound({ envelopeId: id })
  const stored = storedEnvelope(document)
  return covers(scope, yield* unitOf(storage, stored.body)) ? stored : yield* new EnvelopeNotFound({ envelopeId: id })
})

/** The put that tells everybody who decides that what is in force changed. */
export const nextEpoch = (storage: StorageApi) =>
  Effect.map(storage.get(EPOCH.collection, EPOCH.id), (document): DocumentPut => {
    const version = document?.version ?? 0
    return { ...EPOCH, expectedVersion: version, body: { changes: version + 1 } }
  })

/** The envelope as the interface shows it. */
export const envelopeOut = ({ body, id, version }: StoredEnvelope): EnvelopeOut => ({
  id,
  name: body.name,
  agent_id: body.agentId,
  org_unit: body.orgUnit,
  status: body.withdrawn ? "withdrawn" : body.live === null ? "draft" : "published",
  withdrawal_reason: body.withdrawalReason ?? null,
  live_version: body.withdrawn ? null : body.live,
  shadow_version: body.shadow,
  draft:
    body.draft === null
      ? null
      : {
          version: body.draft.version,
          digest: `sha256:${body.draft.digest}`,
          authors: body.draft.authors,
          envelope: body.draft.envelope ?? {}
        },
  revision: version,
  created_at: formatInstant(idAtMs(id))
})

/** A version as the interface shows it; its status comes from its envelope. */
export const versionOut = (of: EnvelopeDocument, version: VersionDocument): EnvelopeVersionOut => ({
  envelope_id: version.envelopeId,
  version: version.version,
  digest: `sha256:${version.digest}`,
  mode: version.mode,
  status:
    of.live === version.version
      ? of.withdrawn
        ? "withdrawn"
        : "published"
      : of.shadow === version.version
        ? "shadow"
        : "superseded",
  change: version.change,
  authors: version.authors,
  published_by: version.publishedBy,
  lint_digest: `sha256:${version.lintDigest}`,
  diff_digest: `sha256:${version.diffDigest}`,
  backtest_digest: `sha256:${version.backtestDigest}`,
  envelope: version.envelope,
  warnings: null
})

/** An act that was decided: the envelope after it, and the change. */
export interface EnvelopePlan {
  readonly envelope: EnvelopeDocument
  readonly change: ChangeSet
}
