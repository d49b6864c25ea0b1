/** Folds an ingest key's records into the document they say there is. */
import { parseInstant } from "@flyball/evidence"
import { partMembers } from "../records/part-json.ts"
import { readMembers } from "../records/part-members.ts"
import type { ExpectedDocument, Json, ReplayRecord } from "../records/record.ts"
import { type IngestKeyDocument, erasedKeyProfile, keyProfileMembers } from "./document.ts"

/** The document after `ingest_key.minted`. */
export const foldIngestKeyMinted = (record: ReplayRecord): ExpectedDocument => {
  const id = String(record.body["key_id"])
  const profile = partMembers(record.parts.get("profile"))
  const digest = String(record.body["key_digest"])
  const body: IngestKeyDocument = {
    ...(profile.state === "known" ? readMembers(profile.members, erasedKeyProfile(id)) : erasedKeyProfile(id)),
    digest,
    maxAutonomyTier: String(record.body["max_autonomy_tier"]) as IngestKeyDocument["maxAutonomyTier"],
    createdBy: String(record.body["writer"]),
    expiresAtMs: instant(record.body["expires_at"]),
    ...(record.body["capture"] === "mediated" ? { capture: "mediated" } : {}),
    revoked: false
  }
  return {
    collection: "ingest_keys",
    id,
    body,
    unique: { digest },
    unknown: profile.state === "known" || profile.state === "erased" ? [] : keyProfileMembers,
    erased: profile.state === "erased" ? keyProfileMembers : [],
    personal: keyProfileMembers
  }
}

/** The document after `ingest_key.revoked`. */
export const foldIngestKeyRevoked = (key: ExpectedDocument): ExpectedDocument => ({
  ...key,
  body: { ...key.body, revoked: true }
})

const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
