/** Plans the revoking of a key, of either family. */
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"

/** A family of keys: how its documents, records and events are named. */
export interface KeyFamily {
  readonly kind: "ingest" | "platform"
  readonly collection: "ingest_keys" | "platform_keys"
  readonly uses: "ingest_key_uses" | "platform_key_uses"
}

/** The keys of agents. */
export const ingestFamily: KeyFamily = { kind: "ingest", collection: "ingest_keys", uses: "ingest_key_uses" }
/** The keys of callers of the platform API. */
export const platformFamily: KeyFamily = { kind: "platform", collection: "platform_keys", uses: "platform_key_uses" }

/** Members that the documents of all keys have. */
export type KeyDocument = JsonObject & {
  readonly digest: string
  /** Null once the profile was erased; such a key opens nothing. */
  readonly orgUnit: string | null
  readonly expiresAtMs: number | null
  readonly revoked: boolean
}

/** Inputs for revoking a key, as read from the store. */
export interface RevokeCommand {
  readonly keyId: string
  readonly key: KeyDocument
  readonly version: number
  readonly writer: Writer
}

/** Scope of the revocations of a family, and their kind: by it the record of a key's revocation is found again. */
export const revokeScope = ({ kind }: Pick<KeyFamily, "kind">) => `${kind}_key.revoked` as const

/**
 * Decides what revoking a key would change: null when it is revoked already, since revoking twice is revoking.
 *
 * - Fails: never. When it was revoked is the record's own time; no second one is kept that could contradict it.
 * - Spec: api "agents and registry", `/admin/ingest-keys/{id}/revoke`.
 */
export const planRevoke = (family: KeyFamily, { key, keyId, version, writer }: RevokeCommand): ChangeSet | null =>
  key.revoked
    ? null
    : {
        puts: [
          {
            collection: family.collection,
            id: keyId,
            expectedVersion: version,
            body: { ...key, revoked: true },
            unique: { digest: key.digest }
          }
        ],
        records: [
          {
            kind: revokeScope(family),
            agentId: null,
            body: { key_id: keyId, writer: writer.id },
            parts: [],
            once: { scope: revokeScope(family), key: keyId, digest: key.digest }
          }
        ],
        events: [event("key.revoked", { key_id: keyId, kind: family.kind, writer: writer.id })]
      }
