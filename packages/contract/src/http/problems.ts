/**
 * The bodies and headers of refusals and faults. The status of a refusal is a static of its class, unless
 * an endpoint has another; the status of a fault is 503. Spec: api.md, Conventions; style section 5.
 */
import { Schema } from "effect"
import { EnvelopeFinding } from "../envelopes.ts"
import { instant } from "../foundation/fields.ts"
import { codeOf, type Refusal, refusals, type RefusalTag } from "../refusals.ts"
import { reportedTag } from "../foundation/reported-tag.ts"
import type { AnyEndpoint } from "./endpoint.ts"

/** A member beside `detail` and `code`. */
interface Member<R extends Refusal> {
  readonly schema: Schema.Top
  readonly of: (refusal: R) => unknown
}

/** Members and headers of a refusal. */
interface Extras<R extends Refusal> {
  readonly members?: { readonly [name: string]: Member<R> }
  readonly headers?: (refusal: R) => { readonly [name: string]: string }
}

/** A refusal as the HTTP API sends it. */
interface ProblemRow<R extends Refusal> extends Extras<R> {
  readonly status: number
}

/** Clients make a timer of it: more milliseconds than 31 bits hold fire at once. Spec: platform section 2. */
const MAX_RETRY_AFTER_S = 2_147_483
const retryAfter = (seconds = 1) => ({ "retry-after": String(Math.min(MAX_RETRY_AFTER_S, Math.max(1, seconds))) })

const text = Schema.NullOr(Schema.String)
const count = Schema.NullOr(Schema.Int)

/** Headers and members of refusals that have more than a sentence and a code. */
const extras: { readonly [T in RefusalTag]?: Extras<Extract<Refusal, { readonly _tag: T }>> } = {
  Unauthorized: { headers: () => ({ "www-authenticate": "Bearer" }) },
  WebhookNotActive: { members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  RotationUnderWay: {
    members: { overlap_until: { schema: Schema.NullOr(instant), of: ({ overlapUntil }) => overlapUntil ?? null } }
  },
  DeliveryUnfinished: { members: { state: { schema: text, of: ({ state }) => state ?? null } } },
  EvaluationEnded: { members: { how: { schema: text, of: ({ how }) => how ?? null } } },
  EnvelopeExists: {
    members: { envelope_id: { schema: text, of: ({ envelopeId }) => envelopeId ?? null } }
  },
  EnvelopeRevisionConflict: {
    members: { revision: { schema: count, of: ({ revision }) => revision ?? null } }
  },
  EnvelopeNotPublishable: {
    members: { findings: { schema: Schema.Array(EnvelopeFinding), of: ({ findings }) => findings ?? [] } }
  },
  SecondApproverRequired: {
    members: {
      change: { schema: text, of: ({ change }) => change ?? null },
      sentence: { schema: text, of: ({ sentence }) => sentence ?? null }
    }
  },
  // A lint takes milliseconds to seconds; the worst takes about 15 s.
  ExaminationQueueFull: {
    members: { limit: { schema: count, of: ({ limit }) => limit ?? null } },
    headers: () => ({ "retry-after": "5" })
  },
  CaptureQueueFull: { headers: ({ retryAfterS }) => ({ "retry-after": String(retryAfterS) }) },
  // Most costly reads take less than a second; a chain's verification may take longer.
  ReadQueueFull: {
    members: { limit: { schema: count, of: ({ limit }) => limit ?? null } },
    headers: () => ({ "retry-after": "1" })
  },
  ReviewClosed: { members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  ReviewClaimed: {
    members: {
      claimed_by: { schema: text, of: ({ claimedBy }) => claimedBy ?? null },
      lease_until: { schema: Schema.NullOr(instant), of: ({ leaseUntil }) => leaseUntil ?? null }
    }
  },
  ReviewerNotEligible: { members: { why: { schema: text, of: ({ why }) => why ?? null } } },
  StandingApprovalNotOpen: { members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  StandingApprovalTooWide: {
    members: {
      rule: { schema: text, of: ({ rule }) => rule ?? null },
      example: {
        schema: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
        of: ({ example }) => example ?? null
      }
    }
  },
  WaiverNotOpen: { members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  MethodNotAllowed: { headers: ({ allow }) => ({ allow: allow.join(", ") }) },
  AgentNameTaken: { members: { agent_id: { schema: text, of: ({ agentId }) => agentId ?? null } } },
  InvalidTransition: { members: { status: { schema: text, of: ({ status }) => status ?? null } } },
  TierGateUnmet: {
    members: { missing: { schema: Schema.Array(Schema.String), of: ({ missing }) => missing ?? [] } }
  },
  AgentVersionConflict: { members: { version: { schema: count, of: ({ version }) => version ?? null } } },
  MappingVersionConflict: {
    members: { version: { schema: count, of: ({ version }) => version ?? null } }
  },
  PolicyVersionConflict: {
    members: { version: { schema: count, of: ({ version }) => version ?? null } }
  },
  ModelTaken: { members: { model_id: { schema: text, of: ({ modelId }) => modelId ?? null } } },
  ClientRefReused: {
    members: { indexes: { schema: Schema.Array(Schema.Int), of: ({ indexes }) => indexes ?? [] } }
  },
  CaptureNotMediated: {
    members: { indexes: { schema: Schema.Array(Schema.Int), of: ({ indexes }) => indexes ?? [] } }
  },
  SettleBelowReserved: {
    members: {
      meter: { schema: text, of: ({ meter }) => meter ?? null },
      reserved: { schema: count, of: ({ reserved }) => reserved ?? null }
    }
  },
  PartErased: { members: { erased_by: { schema: count, of: ({ erasedBy }) => erasedBy ?? null } } },
  DecisionTooLarge: {
    members: { indexes: { schema: Schema.Array(Schema.Int), of: ({ indexes }) => indexes ?? [] } }
  },
  RoutePlanState: { members: { status: { schema: text, of: ({ currentStatus }) => currentStatus ?? null } } },
  DispatchDenied: { members: { rule: { schema: text, of: ({ rule }) => rule ?? null } } },
  DispatchInReview: { members: { review_id: { schema: text, of: ({ reviewId }) => reviewId ?? null } } },
  Draining: { headers: () => ({ "retry-after": "1" }) },
  TelemetryBehind: {
    members: { segments: { schema: count, of: ({ segments }) => segments ?? null } },
    headers: () => ({ "retry-after": "5" })
  },
  RateLimitExceeded: {
    members: { reason: { schema: text, of: ({ reason }) => reason ?? null } },
    headers: ({ reason, retryAfterS }) => ({
      ...retryAfter(retryAfterS),
      ...(reason === undefined ? {} : { "x-ratelimit-reason": reason })
    })
  },
  // A client that retries every 429 would wait for a month, or hammer.
  QuotaExceeded: {
    members: { resource: { schema: text, of: ({ resource }) => resource ?? null } },
    headers: ({ retryAfterS }) => ({ ...retryAfter(retryAfterS), "x-should-retry": "false" })
  },
  PlanLimitReached: { members: { limit: { schema: Schema.NullOr(Schema.Number), of: ({ limit }) => limit ?? null } } },
  IdempotencyKeyInUse: { headers: () => ({ "retry-after": "1" }) },
  ModuleNotInstalled: { members: { module: { schema: text, of: ({ module }) => module ?? null } } },
  NotWriting: { headers: () => ({ "retry-after": "5" }) }
}

/**
 * Status, body members and headers of every refusal. The status is that of its class. Spec: document 1 section 7;
 * api.md, Conventions.
 */
export const problems = Object.fromEntries(
  Object.entries(refusals).map(([tag, { status }]) => [tag, { status, ...extras[tag as RefusalTag] }])
) as unknown as { readonly [T in RefusalTag]: ProblemRow<Extract<Refusal, { readonly _tag: T }>> }

/** The sentence for the caller about a fault outside the request: never the reason, which may name hosts and files. */
const faults: { readonly [tag: string]: string } = {
  StorageUnavailable:
    "The store cannot be reached, or cannot write now. Send the request again later; captures with a client_ref " +
    "are idempotent.",
  IssuerUnavailable:
    "The identity provider's keys cannot be fetched now, so no token can be checked. Send the request again later; " +
    "ingest keys work.",
  TrustStoreUnavailable:
    "The trust store cannot be read now, so no card can be verified and nothing was recorded. Send the request again " +
    "later; declared identities are accepted.",
  StorageConflict: "Other requests kept changing the same documents. Send it again.",
  StorageCorrupt: "The store holds inconsistent data, so this request was stopped. The operator must intervene."
}

/** Tags of storage and provider faults, which any endpoint can answer. */
export const faultTags: ReadonlyArray<string> = Object.keys(faults)

/** An answer that is not a success. */
export interface Problem {
  readonly status: number
  readonly body: { readonly [name: string]: unknown }
  readonly headers: { readonly [name: string]: string }
}

/**
 * The answer of an endpoint to a refusal or a storage fault; null for anything else, which is a defect. Spec: document
 * 1 section 7; api.md, Conventions.
 */
export const problemOf = (error: unknown, endpoint: Pick<AnyEndpoint, "statuses"> | null = null): Problem | null => {
  if (typeof error !== "object" || error === null || !("_tag" in error) || typeof error._tag !== "string") return null
  const tag = reportedTag(error._tag, error)
  const fault = Object.hasOwn(faults, tag) ? faults[tag]! : null
  // Corruption does not pass by itself: without `Retry-After`, because an operator must intervene first.
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
  return { status: endpoint?.statuses?.[refusal._tag] ?? row.status, body, headers: row.headers?.(refusal) ?? {} }
}

const membersOf = ({ members = {} }: ProblemRow<Refusal>, refusal: Refusal): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(members).map(([name, { of }]) => [name, of(refusal)]))

/** The answer to a defect: it contains only the request id, under which the log has the cause. */
export const internalError = (requestId: string): Problem => ({
  status: 500,
  body: {
    detail: `The server failed to answer this request. Its log has the cause under this request id: ${requestId}.`,
    code: "internal_error"
  },
  headers: {}
})
