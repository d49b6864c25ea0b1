/** Plans the minting of a platform key. */
import { detailItem, InvalidInput, type PlatformKeyCreate } from "@flyball/contract"
import { canonicalBytes, formatInstant, parseInstant } from "@flyball/evidence"
import type { PlatformKeyDocument } from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, JsonObject } from "../../storage/port.ts"
import { PLATFORM_KEYS } from "./document.ts"

/** Everything that minting needs to know. The key itself never comes here. */
export interface MintCommand {
  readonly keyId: string
  readonly input: PlatformKeyCreate
  readonly digest: string
  /** Org unit of the agent that the input names; null where it names none, or one that is not there. */
  readonly unitOfAgent: string | null
  readonly writer: Writer
}

/** The key there will be, and the change that makes it. */
export interface MintPlan {
  readonly key: PlatformKeyDocument
  readonly change: ChangeSet
}

/**
 * Decides what minting a platform key would change.
 *
 * - Fails: `InvalidInput` for a key that is expired already, for limits with another plan than `custom`, and for an
 *   agent that is not of the key's org unit.
 * - Spec: api.md "Document 2".
 */
export const planMint = (command: MintCommand, asOf: AsOf): Result.Result<MintPlan, InvalidInput> => {
  const { input, keyId, writer } = command
  const expiresAtMs = typeof input.expires_at === "string" ? parseInstant(input.expires_at) : null
  const limits = input.limits ?? null
  const agentId = input.agent_id ?? null
  const detail = [
    ...(expiresAtMs !== null && expiresAtMs <= asOf.ms
      ? [wrong("expires_at", `Expected a time after ${formatInstant(asOf.ms)}`, input.expires_at)]
      : []),
    ...(limits !== null && input.plan !== "custom"
      ? [wrong("limits", "Only the plan custom has limits of its own", null)]
      : []),
    ...(agentId !== null && command.unitOfAgent !== input.org_unit
      ? [wrong("agent_id", "Expected the id agt_… of an agent of the key's org unit", agentId)]
      : [])
  ]
  if (detail.length > 0) return Result.fail(new InvalidInput({ detail }))
  const key: PlatformKeyDocument = {
    name: input.name,
    orgUnit: input.org_unit,
    digest: command.digest,
    plan: input.plan,
    scopes: [...new Set(input.scopes)],
    agentId,
    limits:
      input.plan === "custom"
        ? {
            requestsPerMinute: limits?.requests_per_minute ?? null,
            requestsPerDay: limits?.requests_per_day ?? null,
            concurrent: limits?.concurrent ?? null,
            concurrentRuns: limits?.concurrent_runs ?? null
          }
        : null,
    createdBy: writer.id,
    expiresAtMs,
    revoked: false
  }
  const expires_at = expiresAtMs === null ? null : formatInstant(expiresAtMs)
  return Result.succeed({
    key,
    change: {
      puts: [{ collection: PLATFORM_KEYS, id: keyId, expectedVersion: 0, body: key, unique: { digest: key.digest } }],
      records: [
        {
          kind: "platform_key.minted",
          agentId,
          body: omitNullish({
            agent_id: agentId,
            expires_at,
            key_digest: key.digest,
            key_id: keyId,
            limits: key.limits === null ? null : limitsText(key.limits),
            plan: key.plan,
            scopes: key.scopes,
            writer: writer.id
          }) as JsonObject,
          parts: [{ name: "profile", bytes: canonicalBytes({ name: key.name, org_unit: key.orgUnit }) }]
        }
      ],
      events: [
        event("key.minted", {
          key_id: keyId,
          kind: "platform",
          max_autonomy_tier: null,
          expires_at,
          writer: writer.id
        })
      ]
    }
  })
}

const limitsText = (limits: NonNullable<PlatformKeyDocument["limits"]>): JsonObject =>
  omitNullish({
    concurrent: limits.concurrent,
    concurrent_runs: limits.concurrentRuns,
    requests_per_day: limits.requestsPerDay,
    requests_per_minute: limits.requestsPerMinute
  }) as JsonObject

const wrong = (member: string, msg: string, input: unknown) => detailItem(["body", member], "value_error", msg, input)
