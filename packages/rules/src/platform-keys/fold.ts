/** Folds a platform key's records into the document they say there is. */
import { parseInstant } from "@flyball/evidence"
import { partMembers } from "../records/part-json.ts"
import { readMembers } from "../records/part-members.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { erasedPlatformKeyProfile, type PlatformKeyDocument, platformKeyProfileMembers } from "./document.ts"

/** The document after `platform_key.minted`. */
export const foldPlatformKeyMinted = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const id = String(body["key_id"])
  const profile = partMembers(parts.get("profile"))
  const digest = String(body["key_digest"])
  const own = (body["limits"] ?? {}) as JsonMap
  const document: PlatformKeyDocument = {
    ...(profile.state === "known"
      ? readMembers(profile.members, erasedPlatformKeyProfile(id))
      : erasedPlatformKeyProfile(id)),
    digest,
    plan: String(body["plan"]),
    scopes: (body["scopes"] ?? []) as ReadonlyArray<string>,
    agentId: typeof body["agent_id"] === "string" ? body["agent_id"] : null,
    limits:
      body["plan"] === "custom"
        ? {
            requestsPerMinute: count(own["requests_per_minute"]),
            requestsPerDay: count(own["requests_per_day"]),
            concurrent: count(own["concurrent"]),
            concurrentRuns: count(own["concurrent_runs"])
          }
        : null,
    createdBy: String(body["writer"]),
    expiresAtMs: typeof body["expires_at"] === "string" ? parseInstant(body["expires_at"]) : null,
    revoked: false
  }
  return {
    collection: "platform_keys",
    id,
    body: document,
    unique: { digest },
    unknown: profile.state === "known" || profile.state === "erased" ? [] : platformKeyProfileMembers,
    erased: profile.state === "erased" ? platformKeyProfileMembers : [],
    personal: platformKeyProfileMembers
  }
}

/** The document after `platform_key.revoked`. */
export const foldPlatformKeyRevoked = (key: ExpectedDocument): ExpectedDocument => ({
  ...key,
  body: { ...key.body, revoked: true }
})

const count = (value: Json | undefined): number | null => (typeof value === "number" ? value : null)
