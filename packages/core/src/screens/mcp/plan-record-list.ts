/** Plans the record of a list of tools, and of the finding that follows. Pure. Spec: decision 0072. */
import {
  type ManifestChangedBody,
  type ManifestSeenBody,
  canonicalBytes,
  portableCrypto,
  toHex,
  utf8
} from "@flyball/evidence"
import {
  changesOut,
  digestsOut,
  FINDINGS,
  findingOf,
  type Manifest,
  MCP_SERVERS,
  type McpServerDocument,
  type McpTransport,
  type PlacedList,
  serverAfter
} from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, DocumentPut, IdempotencyKey, JsonObject, RecordDraft } from "../../storage/port.ts"

/** Scope of the look-up of lists by the listing that brought them. */
export const LISTING_SCOPE = "mcp_listing"
/** Scope of the look-up of findings by their id. */
export const FINDING_SCOPE = "finding"

/** The key of a record that is found by an id: of the id alone, so that nothing of a part outlives its erasure. */
export const keyOfId = (scope: string, id: string): IdempotencyKey => ({
  scope,
  key: id,
  digest: toHex(portableCrypto.sha256(utf8(id)))
})

/** How a server is reached, as far as a client says it. */
export interface ServerAddress {
  readonly transport: McpTransport
  /** 64 hex digits. */
  readonly addressDigest: string
  readonly toolServer: string | null
}

/** A list that somebody saw. */
export interface SeenListing extends ServerAddress {
  readonly listingId: string
  readonly agentId: string
  readonly orgUnitDigest: string | null
  readonly serverId: string
  readonly coverage: "complete" | "partial"
  readonly manifest: Manifest
  readonly bytes: Uint8Array
}

/** A stored server, as it was read; version 0 where there is none. */
export interface StoredServer {
  readonly version: number
  readonly body: McpServerDocument | null
}

/** Look-up keys of findings: all of them by id, and those of one list. */
export const findingKeys = (id: string, serverId: string, root: string) => ({
  every: id,
  list: `${serverId} ${root}`
})

/** Decides what a list changes: one record, and one for a finding. `findingId`: the id that a finding gets. */
export const planRecordList = (
  listing: SeenListing,
  server: StoredServer,
  placed: PlacedList,
  { findingId, seenAt, writer }: { readonly findingId: string; readonly seenAt: string; readonly writer: Writer }
): ChangeSet => {
  const { agentId, bytes, coverage, listingId, manifest, orgUnitDigest, serverId } = listing
  const seen = omitNullish({
    address_digest: listing.addressDigest,
    agent_id: agentId,
    coverage,
    duplicates: manifest.duplicates.length === 0 ? null : manifest.duplicates.length,
    listing_id: listingId,
    org_unit_digest: orgUnitDigest,
    root: manifest.root,
    seen_at: seenAt,
    server_id: serverId,
    state: placed.state,
    tool_server: listing.toolServer,
    tools: manifest.digests.tools.length,
    transport: listing.transport,
    trusted: placed.trusted,
    unread: manifest.unread,
    writer: writer.id
  } satisfies { readonly [M in keyof ManifestSeenBody]: unknown })
  const isWhole = placed.state !== "unchanged"
  const records: Array<RecordDraft> = [
    {
      kind: "mcp.manifest_seen",
      agentId,
      body: seen as JsonObject,
      parts: isWhole
        ? [
            ...(manifest.unread === "too_large" ? [] : [{ name: "manifest", bytes }]),
            { name: "mcp_digests", bytes: canonicalBytes(digestsOut(manifest.digests)) }
          ]
        : [],
      once: keyOfId(LISTING_SCOPE, listingId)
    }
  ]
  const puts: Array<DocumentPut> = [
    {
      collection: MCP_SERVERS,
      id: serverId,
      expectedVersion: server.version,
      body: serverAfter(server.body, seen as JsonObject)
    }
  ]
  const { diff } = placed
  if (diff === null) return { turn: { class: "capture", key: writer.id }, records, puts }
  const changed = omitNullish({
    against: placed.against,
    agent_id: agentId,
    before_root: placed.beforeRoot,
    finding_id: findingId,
    layers: diff.layers,
    listing_id: listingId,
    root: manifest.root,
    server_id: serverId,
    severity: diff.severity,
    tools: diff.tools,
    writer: writer.id
  } satisfies { readonly [M in keyof ManifestChangedBody]: unknown })
  records.push({
    kind: "mcp.manifest_changed",
    agentId,
    body: changed as JsonObject,
    parts: [
      { name: "mcp_changes", bytes: canonicalBytes(changesOut(diff)) },
      { name: "texts", bytes: canonicalBytes(diff.texts) }
    ],
    once: keyOfId(FINDING_SCOPE, findingId)
  })
  puts.push({
    collection: FINDINGS,
    id: findingId,
    expectedVersion: 0,
    body: findingOf(changed as JsonObject),
    keys: findingKeys(findingId, serverId, manifest.root)
  })
  const events = [
    event("mcp_manifest_changed", {
      finding_id: findingId,
      server_id: serverId,
      agent_id: agentId,
      severity: diff.severity,
      tools: diff.tools,
      manifest_digest: `sha256:${manifest.root}`,
      writer: writer.id
    })
  ]
  return { turn: { class: "capture", key: writer.id }, records, puts, events }
}
