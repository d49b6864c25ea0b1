/**
 * Removes the values of an erased part from its document. The replay rules say the same of an erased part:
 * these share their shapes.
 */
import { formatInstant } from "@flyball/evidence"
import {
  ACCESS_MAPPING,
  type ActivationDocument,
  activationKeys,
  DRILLS,
  agentKeys,
  agentUnique,
  emptyMapping,
  emptyResponsePolicy,
  ENVELOPE_VERSIONS,
  type EnvelopeDocument,
  ENVELOPES,
  erasedEndpoint,
  erasedIdentity,
  erasedPlatformKeyProfile,
  erasedKeyProfile,
  erasedProfile,
  erasedProvenance,
  isCompleteOwner,
  KILL_ACTIVATIONS,
  MAPPING_ID,
  noOwner,
  PROVENANCE,
  RESPONSE_POLICY,
  RESPONSE_POLICY_ID,
  reviewIdOf,
  REVIEWS,
  versionId,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  standingKeys,
  WAIVERS
} from "@flyball/rules"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { agentOrphaned } from "../../registry/agents/plan-disown.ts"
import { withoutReason } from "../../verdicts/envelopes/plan-withdraw.ts"
import { putEnvelope, storedEnvelope } from "../../verdicts/envelopes/stored-envelope.ts"
import { putReview, storedReview } from "../../verdicts/reviews/stored-review.ts"
import { putDrill, storedDrill } from "../../verdicts/drills/document.ts"
import { INGEST_KEYS } from "../../registry/ingest-keys/document.ts"
import { PLATFORM_KEYS } from "../../registry/platform-keys/document.ts"
import { PRINCIPALS } from "../../registry/principals/plan-register.ts"
import { analysisScrubs } from "./scrub-analyses.ts"
import { routeScrubs } from "./scrub-routes.ts"
import { extractionScrubs } from "./scrub-extractions.ts"
import { executionScrubs } from "./scrub-executions.ts"
import { monitorScrubs } from "./scrub-monitors.ts"
import type { Cancellation, EventDraft } from "../../storage/outbox/outbox.ts"
import type { CountAdd, Document, DocumentPut, JsonObject, RecordDraft } from "../../storage/port.ts"
import { forgottenMail, MAILS, storedMail, WAITING } from "../webhooks/mails.ts"
import { putWebhook, storedWebhook } from "../webhooks/document.ts"
import { webhookRevoked } from "../webhooks/plan-revoke.ts"
import { forgottenSecret, storedSecret, WEBHOOK_SECRETS } from "../webhooks/secrets.ts"

/** A document that holds the value of a part, and its form without that value. */
export interface Scrub {
  readonly collection: string
  /** Member of the record's body that is the document's id; null for the one document that its collection has. */
  readonly idMember: string | null
  /** Kinds of records that state the same members again: no document has the values of an earlier one any more. */
  readonly restatedBy: ReadonlyArray<string>
  /** Where its id is not one member: what it is. */
  readonly documentId?: (body: { readonly [member: string]: unknown }) => string
  /** Where the document itself shows whether this record set its present value. */
  readonly isSetBy?: (document: Document, body: { readonly [member: string]: unknown }) => boolean
  /** `body`: of the record whose part is erased. Unit: `nowMs` in milliseconds since 1970 UTC. */
  readonly without: (document: Document, nowMs: number, body: { readonly [member: string]: unknown }) => Scrubbed
  /** Other documents that go with it. */
  readonly beside?: ReadonlyArray<Beside>
}

/** Documents of another collection that hold the same: the one under the same id, or those with a look-up key. */
export interface Beside {
  readonly collection: string
  readonly lookUp?: { readonly key: string; readonly value: string }
  /** The scrubbed document; null where it holds no value of the part. `of`: the document that it goes with. */
  readonly without: (document: Document, of: Document) => DocumentPut | null
}

/**
 * A document without what was erased, and the record and event of what follows from that; null and none where nothing
 * does.
 */
export interface Scrubbed {
  readonly put: DocumentPut
  readonly record: RecordDraft | null
  readonly events?: ReadonlyArray<EventDraft>
  /** The endpoint whose pending deliveries are cancelled. What its receiver answered may say the same. */
  readonly cancel?: ReadonlyArray<Cancellation>
  readonly counts?: ReadonlyArray<CountAdd>
}

/** The document that holds the content of this part of this kind of record; null when no document does. */
export const scrubOf = (kind: string, part: string): Scrub | null => scrubs[`${kind}/${part}`] ?? null

const putAgent = (document: Document, body: JsonObject): DocumentPut => ({
  ...putOf(document, body),
  unique: agentUnique(body),
  keys: agentKeys(body)
})

/** The kinds with an agent's profile. An update that does not change it has no such part. */
const profileKinds = ["agent.registered", "agent.updated"]
/** The kinds with an agent's owner. */
const ownerKinds = ["agent.registered", "agent.owner_transferred", "agent.orphaned"]

/** The id of the document that a record's part went into. */
export const documentIdOf = ({ documentId, idMember }: Scrub, body: { readonly [member: string]: unknown }): string =>
  documentId !== undefined ? documentId(body) : idMember === null ? MAPPING_ID : String(body[idMember])

const agentProfile: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  restatedBy: profileKinds,
  without: (document) => ({
    put: putAgent(document, { ...document.body, ...erasedProfile(document.id) }),
    record: null
  })
}

/** The rule that takes an erased owner away. */
const ERASED_OWNER = { id: "policy:erased_owner" }

/** An agent whose owner nobody can name any more is an orphan, and its week begins. */
const agentOwner: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  restatedBy: ownerKinds,
  without: (document, nowMs) => {
    const body = { ...document.body, ...noOwner }
    if (document.body["status"] === "decommissioned" || !isCompleteOwner(storedAgent(document).body))
      return { put: putAgent(document, body), record: null }
    return {
      put: putAgent(document, { ...body, orphanedAtMs: nowMs }),
      record: {
        kind: "agent.orphaned",
        agentId: document.id,
        body: { agent_id: document.id, since: formatInstant(nowMs), writer: ERASED_OWNER.id },
        parts: []
      },
      events: [agentOrphaned(document.id, nowMs, ERASED_OWNER)]
    }
  }
}

/**
 * The verdict that a key vouched for the agent stays, and so does the kind of a declaration: both are in the records'
 * bodies.
 */
const agentIdentity: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  // A rejected verdict has no such part.
  restatedBy: ["agent.identity_attested"],
  without: (document) => ({
    put: putAgent(document, { ...document.body, ...erasedIdentity(String(document.body["identitySource"])) }),
    record: null
  })
}

/**
 * The rule that ends a webhook whose address is erased, with the effects of a revocation: what is owed is cancelled,
 * the secret deleted.
 */
const ERASED_ENDPOINT = { id: "policy:erased_endpoint" }

const webhookEndpoint: Scrub = {
  collection: "webhooks",
  idMember: "webhook_id",
  restatedBy: ["webhook.created", "webhook.changed"],
  without: (document) => {
    const { body, id, version } = storedWebhook(document)
    const revoked = { ...body, ...erasedEndpoint, status: "revoked", cause: "owner" } as const
    return {
      put: putWebhook(id, version, revoked),
      record: body.status === "revoked" ? null : webhookRevoked(id, ERASED_ENDPOINT),
      cancel: [{ endpointId: id, forgetAnswers: true }]
    }
  },
  beside: [
    {
      collection: WEBHOOK_SECRETS,
      without: (document) => (storedSecret(document).sealed === undefined ? null : forgottenSecret(document))
    },
    // A letter about it that waits says where it leads, and to whom the letter goes.
    {
      collection: MAILS,
      lookUp: WAITING,
      without: (document, { id }) => (storedMail(document).webhookId === id ? forgottenMail(document) : null)
    }
  ]
}

/** An envelope whose draft or name was erased stays where it is in force. */
const envelopeOf = (
  isSetBy: NonNullable<Scrub["isSetBy"]>,
  without: (body: EnvelopeDocument, id: string) => EnvelopeDocument
): Scrub => ({
  collection: ENVELOPES,
  idMember: "envelope_id",
  restatedBy: ["envelope.drafted"],
  isSetBy,
  without: (document) => ({
    put: putEnvelope(document.id, document.version, without(storedEnvelope(document).body, document.id)),
    record: null
  })
})

/** Scrubs what was said with a withdrawal. The envelope stays withdrawn. */
const withdrawalReason: Scrub = {
  collection: ENVELOPES,
  idMember: "envelope_id",
  restatedBy: ["envelope.withdrawn"],
  without: (document) => ({
    put: putEnvelope(document.id, document.version, withoutReason(storedEnvelope(document).body)),
    record: null
  })
}

const waiver: Scrub = {
  collection: WAIVERS,
  idMember: "waiver_id",
  restatedBy: ["waiver.requested", "waiver.granted"],
  isSetBy: (document, body) => (document.body["status"] === "granted") === "requested_by" in body,
  // Without what it excepts it excepts nothing.
  without: (document) => ({
    put: {
      ...putOf(document, { ...document.body, unless: null, reason: null }),
      keys: { envelope_id: String(document.body["envelopeId"]) }
    },
    record: null
  })
}

/** Scrubs the parts of a standing approval that a person wrote. Without its box it approves nothing. */
const standing = (kind: string, erased: Partial<StandingApprovalDocument>): Scrub => ({
  collection: STANDING_APPROVALS,
  idMember: "standing_approval_id",
  restatedBy: [kind],
  isSetBy: () => true,
  without: (document) => ({
    put: {
      ...putOf(document, { ...document.body, ...(erased as JsonObject) }),
      keys: standingKeys(document.body as unknown as StandingApprovalDocument)
    },
    record: null
  })
})

/** Scrubs the reason of an activation or of its release. The activation stays in effect. */
const killReason = (kind: string, member: "reason" | "releaseReason"): Scrub => ({
  collection: KILL_ACTIVATIONS,
  idMember: "activation_id",
  restatedBy: [kind],
  isSetBy: () => true,
  without: (document) => ({
    put: {
      ...putOf(document, { ...document.body, [member]: null }),
      keys: activationKeys(document.body as unknown as ActivationDocument)
    },
    record: null
  })
})

/** Nobody knows any more what people approved: the approval counts for nothing. */
const reviewedAction: Scrub = {
  collection: REVIEWS,
  idMember: null,
  restatedBy: ["evaluation.made"],
  documentId: (body) => reviewIdOf(String(body["evaluation_id"])),
  isSetBy: () => true,
  without: (document) => {
    const { body, id, version } = storedReview(document)
    return { put: putReview(id, version, { ...body, question: null }), record: null }
  }
}

/** Scrubs what was said with the last answer, or with the withdrawal. */
const reviewReason = (kind: string): Scrub => ({
  collection: REVIEWS,
  idMember: "review_id",
  restatedBy: [kind],
  isSetBy: (document, { writer }) => {
    const { ended, resolvedBy } = storedReview(document).body
    return (
      (ended === "cancelled") === (kind === "review.cancelled") &&
      (ended === "cancelled" || resolvedBy.at(-1) === writer)
    )
  },
  without: (document) => {
    const { body, id, version } = storedReview(document)
    return { put: putReview(id, version, { ...body, reason: null }), record: null }
  }
})

/** Scrubs what was said with a suspension. The agent stays suspended. */
const suspensionReason: Scrub = {
  collection: AGENTS,
  idMember: "agent_id",
  restatedBy: ["agent.suspended"],
  without: (document) => {
    const { suspensionReason: _, ...body } = document.body
    return { put: putAgent(document, body), record: null }
  }
}

const ingestKeyProfile: Scrub = {
  collection: INGEST_KEYS,
  idMember: "key_id",
  restatedBy: ["ingest_key.minted"],
  without: (document) => {
    const { body } = document
    // The digest stays: the key is refused because it has no org unit, not because it is unknown.
    const put = putOf(document, { ...body, ...erasedKeyProfile(document.id) })
    return { put: { ...put, unique: { digest: String(body["digest"]) } }, record: null }
  }
}

const platformKeyProfile: Scrub = {
  collection: PLATFORM_KEYS,
  idMember: "key_id",
  restatedBy: ["platform_key.minted"],
  without: (document) => {
    const put = putOf(document, { ...document.body, ...erasedPlatformKeyProfile(document.id) })
    return { put: { ...put, unique: { digest: String(document.body["digest"]) } }, record: null }
  }
}

const scrubs: { readonly [part: string]: Scrub } = {
  ...analysisScrubs,
  ...routeScrubs,
  ...extractionScrubs,
  ...executionScrubs,
  ...monitorScrubs,
  "envelope.drafted/envelope": envelopeOf(
    (document, body) => storedEnvelope(document).body.draft?.revision === body["revision"],
    (envelope) => ({ ...envelope, draft: envelope.draft === null ? null : { ...envelope.draft, envelope: null } })
  ),
  "envelope.withdrawn/reason": withdrawalReason,
  "evaluation.made/action": reviewedAction,
  // Others are known by their digest.
  "evaluation.made/args": { ...reviewedAction, isSetBy: (_, body) => body["args_redacted"] === true },
  "evaluation.made/signals": reviewedAction,
  "kill.activated/reason": killReason("kill.activated", "reason"),
  "kill.released/reason": killReason("kill.released", "releaseReason"),
  "envelope.drafted/profile": envelopeOf(
    () => true,
    (envelope, id) => ({ ...envelope, name: id, orgUnit: null })
  ),
  "envelope.published/envelope": {
    collection: ENVELOPE_VERSIONS,
    idMember: "envelope_id",
    restatedBy: ["envelope.published"],
    documentId: (body) => versionId(String(body["envelope_id"]), Number(body["version"])),
    isSetBy: () => true,
    // Nothing can be decided under it any more, so everything is denied.
    without: (document) => ({
      put: {
        ...putOf(document, { ...document.body, envelope: null }),
        keys: { envelope_id: String(document.body["envelopeId"]) }
      },
      record: null
    })
  },
  "standing_approval.proposed/box": standing("standing_approval.proposed", { action: null, args: null, pins: null }),
  "standing_approval.proposed/reason": standing("standing_approval.proposed", { reason: null }),
  "standing_approval.revoked/reason": standing("standing_approval.revoked", { revokeReason: null }),
  "waiver.requested/waiver": waiver,
  "waiver.granted/waiver": waiver,
  "webhook.created/endpoint": webhookEndpoint,
  "webhook.changed/endpoint": webhookEndpoint,
  "agent.registered/profile": agentProfile,
  "agent.updated/profile": agentProfile,
  "agent.registered/owner": agentOwner,
  "agent.owner_transferred/owner": agentOwner,
  "agent.identity_attested/identity": agentIdentity,
  "agent.suspended/reason": suspensionReason,
  "review.resolved/reason": reviewReason("review.resolved"),
  "review.cancelled/reason": reviewReason("review.cancelled"),
  "ingest_key.minted/profile": ingestKeyProfile,
  "platform_key.minted/profile": platformKeyProfile,
  "agent.provenance_added/profile": {
    collection: PROVENANCE,
    idMember: "provenance_id",
    restatedBy: ["agent.provenance_added"],
    without: (document) => ({
      put: {
        ...putOf(document, { ...document.body, ...erasedProvenance(document.id) }),
        keys: { agent_id: String(document.body["agentId"]) }
      },
      record: null
    })
  },
  "mapping.changed/mapping": {
    collection: ACCESS_MAPPING,
    idMember: null,
    restatedBy: ["mapping.changed"],
    // No caller has a role then, and anyone who may set the first mapping sets it again.
    without: (document) => ({ put: putOf(document, emptyMapping), record: null })
  },
  "drill.started/scenario": {
    collection: DRILLS,
    idMember: "drill_id",
    restatedBy: ["drill.started"],
    without: (document) => ({
      put: putDrill(document.id, document.version, { ...storedDrill(document).body, scenario: null }),
      record: null
    })
  },
  "response_policy.changed/policy": {
    collection: RESPONSE_POLICY,
    idMember: null,
    restatedBy: ["response_policy.changed"],
    documentId: () => RESPONSE_POLICY_ID,
    // No row is in force then: each trigger has its default, as before the first policy.
    without: (document) => ({ put: putOf(document, emptyResponsePolicy), record: null })
  },
  "principal.seen/identity": {
    collection: PRINCIPALS,
    idMember: "principal_id",
    restatedBy: ["principal.seen"],
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
