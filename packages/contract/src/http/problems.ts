/**
 * The HTTP status of every refusal and fault, and their bodies. The one such table. Spec: api.md, Conventions; style
 * section 5.
 */
import { Schema } from "effect"
import { EnvelopeFinding } from "../envelopes.ts"
import { instant } from "../fields.ts"
import { codeOf, type Refusal, type RefusalTag } from "../refusals.ts"
import { reportedTag } from "../reported-tag.ts"

/** A member beside `detail` and `code`. */
interface Member<R extends Refusal> {
  readonly schema: Schema.Top
  readonly of: (refusal: R) => unknown
}

/** How a refusal goes out. */
interface ProblemRow<R extends Refusal> {
  readonly status: number
  readonly members?: { readonly [name: string]: Member<R> }
  readonly headers?: (refusal: R) => { readonly [name: string]: string }
}

const text = Schema.NullOr(Schema.String)
const count = Schema.NullOr(Schema.Int)

/** Status, and what goes along, of every refusal. */
export const problems: { readonly [T in RefusalTag]: ProblemRow<Extract<Refusal, { readonly _tag: T }>> } = {
  Unauthorized: { status: 401, headers: () => ({ "www-authenticate": "Bearer" }) },
  Forbidden: { status: 403 },
  KeyNotAllowed: { status: 403 },
  OrgUnitNotAllowed: { status: 403 },
  TierOverCap: { status: 403 },
  AgentNotFound: { status: 404 },
  DecisionNotFound: { status: 404 },
  RecordNotFound: { status: 404 },
  PartNotFound: { status: 404 },
  PackNotFound: { status: 404 },
  IngestKeyNotFound: { status: 404 },
  WebhookNotFound: { status: 404 },
  DeliveryNotFound: { status: 404 },
  WebhookRevoked: { status: 409 },
  WebhookNotActive: { status: 409, members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  RotationUnderWay: {
    status: 409,
    members: { overlap_until: { schema: Schema.NullOr(instant), of: ({ overlapUntil }) => overlapUntil ?? null } }
  },
  DeliveryUnfinished: { status: 409, members: { state: { schema: text, of: ({ state }) => state ?? null } } },
  WebhooksUnavailable: { status: 503 },
  EnvelopeNotFound: { status: 404 },
  EnvelopeVersionNotFound: { status: 404 },
  EvaluationNotFound: { status: 404 },
  NothingToVoid: { status: 409 },
  EvaluationEnded: { status: 409, members: { how: { schema: text, of: ({ how }) => how ?? null } } },
  WaiverNotFound: { status: 404 },
  EnvelopeExists: {
    status: 409,
    members: { envelope_id: { schema: text, of: ({ envelopeId }) => envelopeId ?? null } }
  },
  EnvelopeRevisionConflict: {
    status: 409,
    members: { revision: { schema: count, of: ({ revision }) => revision ?? null } }
  },
  NothingToPublish: { status: 409 },
  EnvelopeNotPublishable: {
    status: 409,
    members: { findings: { schema: Schema.Array(EnvelopeFinding), of: ({ findings }) => findings ?? [] } }
  },
  SecondApproverRequired: {
    status: 409,
    members: {
      change: { schema: text, of: ({ change }) => change ?? null },
      sentence: { schema: text, of: ({ sentence }) => sentence ?? null }
    }
  },
  // A lint takes milliseconds to seconds; the worst takes about 15 s.
  ExaminationQueueFull: {
    status: 429,
    members: { limit: { schema: count, of: ({ limit }) => limit ?? null } },
    headers: () => ({ "retry-after": "5" })
  },
  EnvelopeNotInForce: { status: 409 },
  WaiverNotOpen: { status: 409, members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  NotFound: { status: 404 },
  MethodNotAllowed: { status: 405, headers: ({ allow }) => ({ allow: allow.join(", ") }) },
  AgentNameTaken: { status: 409, members: { agent_id: { schema: text, of: ({ agentId }) => agentId ?? null } } },
  InvalidTransition: { status: 409, members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  IdentityAlreadyVerified: { status: 409 },
  TierGateUnmet: {
    status: 409,
    members: { missing: { schema: Schema.Array(Schema.String), of: ({ missing }) => missing ?? [] } }
  },
  AgentVersionConflict: { status: 409, members: { version: { schema: count, of: ({ version }) => version ?? null } } },
  MappingVersionConflict: {
    status: 409,
    members: { version: { schema: count, of: ({ version }) => version ?? null } }
  },
  ModelNotFound: { status: 404 },
  ModelTaken: { status: 409, members: { model_id: { schema: text, of: ({ modelId }) => modelId ?? null } } },
  ClientRefReused: {
    status: 409,
    members: { indexes: { schema: Schema.Array(Schema.Int), of: ({ indexes }) => indexes ?? [] } }
  },
  DecisionAlreadySettled: { status: 409 },
  SettleBelowReserved: {
    status: 403,
    members: {
      meter: { schema: text, of: ({ meter }) => meter ?? null },
      reserved: { schema: count, of: ({ reserved }) => reserved ?? null }
    }
  },
  PartErased: { status: 409, members: { erased_by: { schema: count, of: ({ erasedBy }) => erasedBy ?? null } } },
  BodyTooLarge: { status: 413 },
  DecisionTooLarge: {
    status: 413,
    members: { indexes: { schema: Schema.Array(Schema.Int), of: ({ indexes }) => indexes ?? [] } }
  },
  UnsupportedMediaType: { status: 415 },
  InvalidInput: { status: 422 },
  Draining: { status: 503, headers: () => ({ "retry-after": "1" }) },
  NotWriting: { status: 503, headers: () => ({ "retry-after": "5" }) }
}

/** What a caller is told of a failing world: never the reason, which may name hosts and files. */
const faults: { readonly [tag: string]: string } = {
  StorageUnavailable:
    "The store cannot be reached or cannot write now. Send the request again later; captures with a client_ref " +
    "are idempotent.",
  IssuerUnavailable:
    "The identity provider cannot be asked for its keys now, so nobody's token can be checked. Send the " +
    "request again later; ingest keys work.",
  TrustStoreUnavailable:
    "The trust store cannot be read now, so no card can be verified and nothing was recorded. Send the request " +
    "again later; declared identities are taken.",
  StorageConflict: "Others kept changing what this request changes. Send it again.",
  StorageCorrupt:
    "The store holds something that cannot be true, and this request stops before it. The operator must look."
}

/** Tags of the world's faults, which any endpoint can answer with. */
export const faultTags: ReadonlyArray<string> = Object.keys(faults)

/** An answer that is not a success. */
export interface Problem {
  readonly status: number
  readonly body: { readonly [name: string]: unknown }
  readonly headers: { readonly [name: string]: string }
}

/** The answer for a refusal or a storage fault; null for anything else, which is a defect. */
export const problemOf = (error: unknown): Problem | null => {
  if (typeof error !== "object" || error === null || !("_tag" in error) || typeof error._tag !== "string") return null
  const tag = reportedTag(error._tag, error)
  const fault = Object.hasOwn(faults, tag) ? faults[tag]! : null
  // What is corrupt is so a second later too: nobody is asked to come back before a person has looked.
  if (fault !== null)
    return {
      status: 503,
      body: { detail: fault, code: codeOf(tag) },
      headers: tag === "StorageCorrupt" ? {} : { "retry-after": "1" }
    }
  if (!Object.hasOwn(problems, tag)) return null
  const refusal = error as Refusal
  const row = problems[tag as RefusalTag] as ProblemRow<Refusal>
  const body =
    refusal._tag === "InvalidInput"
      ? { detail: refusal.detail }
      : { detail: refusal.message, code: codeOf(tag), ...membersOf(row, refusal) }
  return { status: row.status, body, headers: row.headers?.(refusal) ?? {} }
}

const membersOf = ({ members = {} }: ProblemRow<Refusal>, refusal: Refusal): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(members).map(([name, { of }]) => [name, of(refusal)]))

/** The answer to a defect: it names the request, so that an operator finds it in the log, and nothing else. */
export const internalError = (requestId: string): Problem => ({
  status: 500,
  body: {
    detail: `Something went wrong inside the server. The log names this request: ${requestId}.`,
    code: "internal_error"
  },
  headers: {}
})
