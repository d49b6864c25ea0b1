/** Reads ingest keys out of documents, and writes them for the wire. */
import type { IngestKeyOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { idAtMs } from "../../foundation/id-time.ts"
import type { Document } from "../../storage/port.ts"
import type { IngestKeyDocument } from "@flyball/rules"
import type { ReportedElsewhere } from "../keys/key-store.ts"
import { ingestFamily } from "../keys/plan-revoke.ts"

/** Collection of the ingest keys. */
export const INGEST_KEYS = ingestFamily.collection

/** The key in a document of the collection `ingest_keys`; only this folder writes there. */
export const storedKey = (document: Document): IngestKeyDocument => document.body as IngestKeyDocument

/** The key as the interface shows it: never the key itself. */
export const ingestKeyOut = (id: string, key: IngestKeyDocument, reported: ReportedElsewhere): IngestKeyOut => ({
  id,
  name: key.name,
  org_unit: key.orgUnit,
  hint: keyHint(key.digest),
  max_autonomy_tier: key.maxAutonomyTier,
  capture: key.capture ?? null,
  created_by: key.createdBy,
  created_at: formatInstant(idAtMs(id)),
  last_used_at: instant(reported.lastUsedAtMs),
  expires_at: instant(key.expiresAtMs),
  revoked_at: instant(reported.revokedAtMs)
})

/** Hex digits of a hint: 32 of the 256 bits of the digest. */
const HINT_DIGITS = 8

/** First digits of the key's digest, by which lists distinguish keys. No character of the key. Decision 0037. */
export const keyHint = (digest: string): string => digest.slice(0, HINT_DIGITS)

const instant = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))
