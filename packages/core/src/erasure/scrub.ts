/** What erasing a part leaves of the document that was made of it. The replay rules say the same of an erased part: these share their shapes. */
import { AGENTS } from "../agents/document.ts"
import { erasedProfile, noOwner } from "../agents/rules/document.ts"
import { agentKeys, agentUnique } from "../agents/rules/look-up.ts"
import { INGEST_KEYS } from "../ingest-keys/document.ts"
import { erasedKeyProfile } from "../ingest-keys/rules/document.ts"
import { PRINCIPALS } from "../principals/plan-seen.ts"
import type { Document, DocumentPut, JsonObject } from "../storage/port.ts"

/** A document that holds what a part said, and how it looks without. */
export interface Scrub {
  readonly collection: string
  /** Member of the record's body that is the document's id. */
  readonly idMember: string
  readonly without: (document: Document) => DocumentPut
}

/** The document that holds the content of this part of this kind of record; null when no document does. */
export const scrubOf = (kind: string, part: string): Scrub | null => scrubs[`${kind}/${part}`] ?? null

const agent = (cleared: (id: string) => JsonObject): Scrub => ({
  collection: AGENTS,
  idMember: "agent_id",
  without: (document) => {
    const body = { ...document.body, ...cleared(document.id) }
    return { ...putOf(document, body), unique: agentUnique(body), keys: agentKeys(body) }
  }
})

const scrubs: { readonly [part: string]: Scrub } = {
  "agent.registered/profile": agent(erasedProfile),
  "agent.registered/owner": agent(() => noOwner),
  "ingest_key.minted/profile": {
    collection: INGEST_KEYS,
    idMember: "key_id",
    // The digest stays: the key is refused because it has no org unit, not because it is unknown.
    without: (document) => ({ ...putOf(document, { ...document.body, ...erasedKeyProfile(document.id) }), unique: { digest: String(document.body["digest"]) } })
  },
  "principal.seen/identity": {
    collection: PRINCIPALS,
    idMember: "principal_id",
    // Without the look-up key too: the person who comes again gets a new pseudonym.
    without: (document) => putOf(document, { ...document.body, issuer: null, subject: null })
  }
}

const putOf = (document: Document, body: JsonObject): DocumentPut => ({
  collection: document.collection,
  id: document.id,
  expectedVersion: document.version,
  body
})
