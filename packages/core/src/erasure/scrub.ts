/** What erasing a part leaves of the document that was made of it. The replay rules say the same of an erased part: these share their shapes. */
import { formatInstant } from "@flyball/evidence"
import { AGENTS, storedAgent } from "../agents/document.ts"
import { erasedProfile, noOwner } from "../agents/rules/document.ts"
import { hasOwner } from "../agents/rules/owner.ts"
import { agentKeys, agentUnique } from "../agents/rules/look-up.ts"
import { INGEST_KEYS } from "../ingest-keys/document.ts"
import { erasedKeyProfile } from "../ingest-keys/rules/document.ts"
import { PRINCIPALS } from "../principals/plan-seen.ts"
import type { Document, DocumentPut, JsonObject, RecordDraft } from "../storage/port.ts"

/** A document that holds what a part said, and how it looks without. */
export interface Scrub {
  readonly collection: string
  /** Member of the record's body that is the document's id. */
  readonly idMember: string
  /** Kinds of records that tell the same members anew: what an earlier one of them said is in no document any more. */
  readonly toldBy: ReadonlyArray<string>
  /** Unit: `nowMs` in milliseconds since 1970 UTC. */
  readonly without: (document: Document, nowMs: number) => Scrubbed
}

/** A document without what was erased, and the record of what follows from that; null where nothing does. */
export interface Scrubbed {
  readonly put: DocumentPut
  readonly record: RecordDraft | null
}

/** The document that holds the content of this part of this kind of record; null when no document does. */
export const scrubOf = (kind: string, part: string): Scrub | null => scrubs[`${kind}/${part}`] ?? null

const putAgent = (document: Document, body: JsonObject): DocumentPut => ({ ...putOf(document, body), unique: agentUnique(body), keys: agentKeys(body) })

/** The kinds that tell an agent's profile. An update that leaves it as it was has no such part. */
const profileKinds = ["agent.registered", "agent.updated"]
/** The kinds that tell an agent's owner. */
const ownerKinds = ["agent.registered", "agent.owner_transferred", "agent.orphaned"]

const agentProfile: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  toldBy: profileKinds,
  without: (document) => ({ put: putAgent(document, { ...document.body, ...erasedProfile(document.id) }), record: null })
}

/** An agent whose owner nobody can name any more is an orphan, and its week begins. */
const agentOwner: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  toldBy: ownerKinds,
  without: (document, nowMs) => {
    const body = { ...document.body, ...noOwner }
    if (document.body["status"] === "decommissioned" || !hasOwner(storedAgent(document).body)) return { put: putAgent(document, body), record: null }
    return {
      put: putAgent(document, { ...body, orphanedAtMs: nowMs }),
      record: { kind: "agent.orphaned", agentId: document.id, body: { agent_id: document.id, since: formatInstant(nowMs), writer: "policy:erased_owner" }, parts: [] }
    }
  }
}

const scrubs: { readonly [part: string]: Scrub } = {
  "agent.registered/profile": agentProfile,
  "agent.updated/profile": agentProfile,
  "agent.registered/owner": agentOwner,
  "agent.owner_transferred/owner": agentOwner,
  "ingest_key.minted/profile": {
    collection: INGEST_KEYS,
    idMember: "key_id",
    toldBy: ["ingest_key.minted"],
    // The digest stays: the key is refused because it has no org unit, not because it is unknown.
    without: (document) => ({ put: { ...putOf(document, { ...document.body, ...erasedKeyProfile(document.id) }), unique: { digest: String(document.body["digest"]) } }, record: null })
  },
  "principal.seen/identity": {
    collection: PRINCIPALS,
    idMember: "principal_id",
    toldBy: ["principal.seen"],
    // Without the look-up key too: the person who comes again gets a new pseudonym.
    without: (document) => ({ put: putOf(document, { ...document.body, issuer: null, subject: null }), record: null })
  }
}

const putOf = (document: Document, body: JsonObject): DocumentPut => ({
  collection: document.collection,
  id: document.id,
  expectedVersion: document.version,
  body
})
