/** Ingest keys as they travel. Spec: document 1 sections 2 and 5; api.md "agents and registry". */
import { Schema } from "effect"
import { autonomyTiers } from "./agents.ts"
import { instant, name, oneOf, optional, orgUnit } from "./fields.ts"

/** Body of POST /admin/ingest-keys. */
export const IngestKeyCreate = Schema.Struct({
  name: name(200),
  org_unit: orgUnit,
  max_autonomy_tier: optional(oneOf(autonomyTiers)),
  expires_at: optional(instant)
})
export type IngestKeyCreate = typeof IngestKeyCreate.Type

/**
 * An ingest key without the key.
 *
 * `hint`: the first 8 hex digits of the key's SHA-256, so that who holds a key can find its record.
 */
export const IngestKeyOut = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  org_unit: Schema.NullOr(Schema.String),
  hint: Schema.String,
  max_autonomy_tier: oneOf(autonomyTiers),
  created_by: Schema.String,
  created_at: instant,
  last_used_at: Schema.NullOr(instant),
  expires_at: Schema.NullOr(instant),
  revoked_at: Schema.NullOr(instant)
})
export type IngestKeyOut = typeof IngestKeyOut.Type

/** Answer of the minting: the only time that `key` is shown. */
export const IngestKeyMinted = Schema.Struct({ ...IngestKeyOut.fields, key: Schema.String })
export type IngestKeyMinted = typeof IngestKeyMinted.Type
