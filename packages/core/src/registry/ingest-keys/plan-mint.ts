/** Plans the minting of an ingest key. */
import { detailItem, type IngestKeyCreate, InvalidInput } from "@flyball/contract"
import { canonicalBytes, formatInstant, parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { AsOf, ChangeSet, JsonObject } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { INGEST_KEYS } from "./document.ts"
import type { IngestKeyDocument } from "@flyball/rules"

/** Everything that minting needs to know. The key itself never comes here. */
export interface MintCommand {
  readonly keyId: string
  readonly input: IngestKeyCreate
  readonly digest: string
  readonly writer: Writer
}

/** The key there will be, and the change that makes it. */
export interface MintPlan {
  readonly key: IngestKeyDocument
  readonly change: ChangeSet
}

/**
 * Decides what minting an ingest key would change.
 *
 * - Fails: `InvalidInput` when the key would be expired already.
 * - Spec: document 1 section 2, "Ingest key"; api "agents and registry", `/admin/ingest-keys`.
 */
export const planMint = (command: MintCommand, asOf: AsOf): Result.Result<MintPlan, InvalidInput> => {
  const { input, keyId } = command
  const expiresAtMs = typeof input.expires_at === "string" ? parseInstant(input.expires_at) : null
  if (expiresAtMs !== null && expiresAtMs <= asOf.ms) {
    const msg = `Expected a time after ${formatInstant(asOf.ms)}`
    return Result.fail(
      new InvalidInput({ detail: [detailItem(["body", "expires_at"], "value_error", msg, input.expires_at)] })
    )
  }
  const key: IngestKeyDocument = {
    name: input.name,
    orgUnit: input.org_unit,
    digest: command.digest,
    maxAutonomyTier: input.max_autonomy_tier ?? "L1",
    createdBy: command.writer.id,
    expiresAtMs,
    ...(input.capture === "mediated" ? { capture: input.capture } : {}),
    revoked: false
  }
  return Result.succeed({
    key,
    change: {
      puts: [{ collection: INGEST_KEYS, id: keyId, expectedVersion: 0, body: key, unique: { digest: key.digest } }],
      records: [
        {
          kind: "ingest_key.minted",
          agentId: null,
          body: omitNullish({
            capture: key.capture,
            expires_at: expiresAtMs === null ? null : formatInstant(expiresAtMs),
            key_digest: key.digest,
            key_id: keyId,
            max_autonomy_tier: key.maxAutonomyTier,
            writer: command.writer.id
          }) as JsonObject,
          parts: [{ name: "profile", bytes: canonicalBytes({ name: key.name, org_unit: key.orgUnit }) }]
        }
      ],
      events: [
        event("key.minted", {
          key_id: keyId,
          kind: "ingest",
          max_autonomy_tier: key.maxAutonomyTier,
          expires_at: expiresAtMs === null ? null : formatInstant(expiresAtMs),
          writer: command.writer.id
        })
      ]
    }
  })
}
