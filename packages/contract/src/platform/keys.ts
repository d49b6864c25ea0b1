/** Platform keys: the keys of the platform API. Spec: document 2 section 5; api.md "Document 2". */
import { platformScopes } from "@flyball/evidence/words"
import { Schema } from "effect"
import { ahead } from "../foundation/ahead.ts"
import { id, instant, integer, list, name, oneOf, optional, orgUnit } from "../foundation/fields.ts"
import { becomesRecord, computed, inBody, inDocument, inPart, showsRecords } from "../foundation/place.ts"
import type { Info, Input } from "../foundation/plain.ts"
import { plans } from "./plans.ts"

export { platformScopes }
export type PlatformScope = (typeof platformScopes)[number]

/** Limits of one key, where its plan is `custom`. A member that is left out limits nothing. */
export const PlatformKeyLimits = Schema.Struct({
  requests_per_minute: optional(integer(1, 1_000_000)),
  requests_per_day: optional(integer(1, 1_000_000_000)),
  concurrent: optional(integer(1, 10_000)),
  concurrent_runs: optional(integer(1, 10_000))
})

/** Body of POST /admin/platform-keys. Spec: api.md "Document 2". */
export const PlatformKeyCreate = Schema.Struct({
  name: inPart("profile", name(200)),
  org_unit: inPart("profile", orgUnit),
  plan: inBody(oneOf(plans)),
  /** Its uses, 1 to 17 scopes. */
  scopes: inBody(list(oneOf(platformScopes), 1, platformScopes.length)),
  /** The agent that calls the gateway with this key, of `org_unit`: its clients need no header that names it. */
  agent_id: inBody(optional(id("agent"))),
  /** Only with the plan `custom`. */
  limits: inBody(optional(PlatformKeyLimits)),
  expires_at: ahead(inBody(optional(instant)))
}).annotate(becomesRecord("platform_key.minted"))
export type PlatformKeyCreate = typeof PlatformKeyCreate.Type

/** A platform key to mint. */
export interface PlatformKeyInput extends Input<typeof PlatformKeyCreate> {}

const shownLimits = Schema.Struct({
  requests_per_minute: Schema.NullOr(Schema.Int),
  requests_per_day: Schema.NullOr(Schema.Int),
  concurrent: Schema.Int,
  concurrent_runs: Schema.Int
})

/** A platform key without the key. `limits`: those of the key, from its plan or its own. Spec: document 2 section 5. */
export const PlatformKeyOut = Schema.Struct({
  id: inBody(Schema.String, "key_id"),
  name: inPart("profile", Schema.String),
  org_unit: inPart("profile", Schema.NullOr(Schema.String)),
  hint: inBody(Schema.String, "key_digest"),
  plan: inBody(oneOf(plans)),
  scopes: inBody(Schema.Array(oneOf(platformScopes))),
  agent_id: inBody(Schema.NullOr(Schema.String)),
  limits: inBody(shownLimits),
  created_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  last_used_at: inDocument(Schema.NullOr(instant)),
  expires_at: inBody(Schema.NullOr(instant)),
  revoked_at: computed(Schema.NullOr(instant))
}).annotate(showsRecords(["platform_key.minted", "platform_key.revoked"]))
export type PlatformKeyOut = typeof PlatformKeyOut.Type

/** A platform key, without the key. */
export interface PlatformKeyInfo extends Info<typeof PlatformKeyOut> {}

/** Answer of the creation of a platform key: the only one that contains `key`. Spec: document 2 section 5. */
export const PlatformKeyMinted = Schema.Struct({ ...PlatformKeyOut.fields, key: Schema.String })
export type PlatformKeyMinted = typeof PlatformKeyMinted.Type

/** A minted platform key: the only answer with `key`. */
export interface PlatformKeyMintedInfo extends Info<typeof PlatformKeyMinted> {}
