/** Ingest keys as they travel. Spec: document 1 sections 2 and 5; api.md "agents and registry". */
import { Schema } from "effect"
import { autonomyTiers } from "./agents.ts"
import { ahead } from "./foundation/ahead.ts"
import { instant, name, oneOf, optional, orgUnit } from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, computed, inBody, inDocument, inPart, showsRecords } from "./foundation/place.ts"

/** Capture tiers that a key may claim only where it was minted with them. */
const keyCaptures = ["mediated"] as const

/** Body of POST /admin/ingest-keys. Spec: document 1 section 5, item 5. */
export const IngestKeyCreate = Schema.Struct({
  name: inPart("profile", name(200)),
  org_unit: inPart("profile", orgUnit),
  max_autonomy_tier: inBody(optional(oneOf(autonomyTiers))),
  /** For a gateway or a proxy, which acts for the agent: its decisions may say `capture: mediated`. */
  capture: inBody(optional(oneOf(keyCaptures))),
  expires_at: ahead(inBody(optional(instant)))
}).annotate(becomesRecord("ingest_key.minted"))
export type IngestKeyCreate = typeof IngestKeyCreate.Type

/** An ingest key to mint. */
export interface IngestKeyInput extends Input<typeof IngestKeyCreate> {}

/**
 * An ingest key without the key.
 *
 * `hint`: the first 8 hex digits of the key's SHA-256, so that who holds a key can find its record. Spec: document 1
 * section 2, "Ingest key"; decision 0037.
 */
export const IngestKeyOut = Schema.Struct({
  id: inBody(Schema.String, "key_id"),
  name: inPart("profile", Schema.String),
  org_unit: inPart("profile", Schema.NullOr(Schema.String)),
  hint: inBody(Schema.String, "key_digest"),
  max_autonomy_tier: inBody(oneOf(autonomyTiers)),
  capture: inBody(Schema.NullOr(oneOf(keyCaptures))),
  created_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  last_used_at: inDocument(Schema.NullOr(instant)),
  expires_at: inBody(Schema.NullOr(instant)),
  revoked_at: computed(Schema.NullOr(instant))
}).annotate(showsRecords(["ingest_key.minted", "ingest_key.revoked"]))
export type IngestKeyOut = typeof IngestKeyOut.Type

/** An ingest key, without the key. */
export interface IngestKeyInfo extends Info<typeof IngestKeyOut> {}

/**
 * Answer of the creation of an ingest key: the only one that contains `key`. Spec: document 1 section 2, "Ingest key",
 * and section 5, item 5.
 */
export const IngestKeyMinted = Schema.Struct({ ...IngestKeyOut.fields, key: Schema.String })
export type IngestKeyMinted = typeof IngestKeyMinted.Type

/** A minted key: the only answer with `key`. */
export interface IngestKeyMintedInfo extends Info<typeof IngestKeyMinted> {}
