/**
 * The outbox: events that happened, and what is owed of them to whom.
 *
 * An event is written in the commit that caused it, with one delivery for every endpoint that subscribes to its type.
 * Spec: design section 3; document 1 section 6.
 */
import type { Effect } from "effect"
import type { JsonObject, ReadFault } from "../port.ts"

/**
 * The collection of webhook endpoints. Storage reads two look-up keys of its documents, with value `yes`: `on:<type>`
 * marks an active endpoint that wants events of this type without an owner, `on:<type>:<owner>` those of that owner.
 */
export const WEBHOOKS = "webhooks"

/**
 * Distance between the sequences of an endpoint in a chain and in the one that a recovery begins after it: the new one
 * continues after the next multiple.
 *
 * Nobody knows what was sent from the records that are lost, and a number must not come twice with two events. Far more
 * than one chain ever owes an endpoint, and room for 9,000 recoveries below what a number holds. Decision 0010. Spec:
 * decision 0010.
 */
export const SEQUENCES_OF_A_CHAIN = 1_000_000_000_000

/**
 * An event before it is stored. Storage gives it an id, its time and the head of its commit, and a delivery for every
 * endpoint that wants it: see {@link WEBHOOKS}. Spec: document 2 section 6; decision 0019.
 */
export interface EventDraft {
  readonly type: string
  /**
   * Whose it is: the digest of an org unit, 16 lower-case hex digits. It goes to endpoints of this owner alone; left
   * out, to those without an owner.
   */
  readonly owner?: string
  /**
   * The envelope's `data`: ids, enums, numbers, times and digests. Never a text that a person or a caller wrote: the
   * outbox cannot be erased from. Only an event with an owner has texts, those that document 2 shows; it goes when the
   * outbox is swept.
   */
  readonly data: JsonObject
}

/** A stored event. Spec: document 2 section 2, "Webhook event envelope". */
export interface StoredEvent extends EventDraft {
  readonly id: string
  readonly atMs: number
  /** Head of the chain after the commit that caused it. */
  readonly seq: number
  readonly hash: Uint8Array
}

/** State of a delivery. Spec: decision 0019. */
export type DeliveryState = "pending" | "in_flight" | "succeeded" | "failed" | "cancelled"

/** Error of a delivery attempt. Spec: document 2 section 6, rule 2; decision 0019. */
export type AttemptError =
  | "timeout"
  | "connect"
  | "dns"
  | "tls"
  | "ssrf_blocked"
  | "redirect"
  | "http_status"
  | "body_too_large"
  | "crashed"

/** An event owed to one endpoint. Spec: document 2 section 6, rules 3 and 4; decision 0019. */
export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly endpointId: string
  /**
   * 1, 2, 3 … for each endpoint without a gap, assigned in the commit: a receiver that misses one knows it. After a
   * recovery behind the next multiple of {@link SEQUENCES_OF_A_CHAIN}.
   */
  readonly sequence: number
  readonly state: DeliveryState
  /** Attempts begun, counted when they are claimed. */
  readonly attempts: number
  readonly createdAtMs: number
  /** When it is due; null unless `pending`. */
  readonly nextAttemptAtMs: number | null
  /** When its holder must be gone; null unless `in_flight`. */
  readonly leaseUntilMs: number | null
  /** Null while it is `pending` or `in_flight`. */
  readonly finishedAtMs: number | null
}

/** One attempt of a delivery. Open while `endedAtMs` is null. Spec: document 2 section 6, rule 4; decision 0019. */
export interface Attempt {
  readonly attempt: number
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  readonly statusCode: number | null
  readonly errorCode: AttemptError | null
  /** At most 4,096 bytes of the answer's body as text. */
  readonly responseExcerpt: string
}

/**
 * The next state of one delivery. Refused with a conflict unless it stands at `from`; so an outcome that comes late, or
 * twice, changes nothing. Spec: decision 0019.
 */
export interface DeliveryMove {
  readonly id: string
  readonly from: { readonly state: DeliveryState; readonly attempts: number }
  readonly to:
    | { readonly state: "pending"; readonly nextAttemptAtMs: number }
    | { readonly state: "succeeded" | "failed" | "cancelled" }
  /** How the open attempt ended: there exactly when `from` is `in_flight`. */
  readonly ended?: {
    readonly endedAtMs: number
    readonly statusCode: number | null
    readonly errorCode: AttemptError | null
    readonly responseExcerpt: string
  }
}

/** Cancels the pending deliveries of an endpoint. */
export interface Cancellation {
  readonly endpointId: string
  /**
   * Empties what its receiver answered too, in every attempt so far; the one that is under way keeps nothing either.
   */
  readonly forgetAnswers?: boolean
}

/** Changes that a commit may make in the outbox, besides its events. */
export interface OutboxChange {
  readonly events?: ReadonlyArray<EventDraft>
  readonly moves?: ReadonlyArray<DeliveryMove>
  /** Pending deliveries of these endpoints become `cancelled`. */
  readonly cancel?: ReadonlyArray<Cancellation>
  /** Owes a stored event once more, to one endpoint, as a new delivery that is due at once. */
  readonly again?: ReadonlyArray<{ readonly eventId: string; readonly endpointId: string }>
}

/** Which deliveries a process takes. */
export interface ClaimRequest {
  /** 1 millisecond to an hour. */
  readonly leaseMs: number
  /** At most this many in all. 1 to 1,000. */
  readonly limit: number
  /** At most this many of one endpoint in flight at once, those of other processes included. 1 to 1,000. */
  readonly perEndpoint: number
}

/**
 * A claimed delivery with the content to send. Its open attempt is durable before this is returned. Spec: decision
 * 0019.
 */
export interface Claimed {
  readonly delivery: Delivery
  readonly event: StoredEvent
  /**
   * Version of the endpoint's document when the claim is durable: a caller that has that version need not read it. 0
   * when there is none.
   */
  readonly version: number
}

/** Result of a claim. */
export interface ClaimAnswer {
  /**
   * Due, now `in_flight` with one attempt more; endpoints take turns, and of each the one that is due longest comes
   * first, be it a first attempt or a retry.
   */
  readonly claimed: ReadonlyArray<Claimed>
  /**
   * `in_flight` beyond their lease, at most `limit`, oldest first: their holders are gone. Left as they are; the caller
   * moves them.
   */
  readonly lapsed: ReadonlyArray<Delivery>
  /**
   * When to ask again at the latest: now, where `limit` held something back; else when the next `pending` one becomes
   * due or the next lease ends, and no later than
   * `leaseMs` from now while something due is held back by `perEndpoint` or by another process that claims (ask again
   * after an outcome). Null when nothing is owed.
   */
  readonly nextAtMs: number | null
}

/** The search for events that one endpoint missed. Spec: decisions 0019 and 0030. */
export interface MissedQuery {
  readonly endpointId: string
  readonly types: ReadonlyArray<string>
  /** Whose events; null: those without an owner. */
  readonly owner: string | null
  readonly sinceMs: number
  /** An event's id, exclusive. */
  readonly after?: string
  /** Number of events read, matching or not; a store may count those of other types. 1 to 1,000. */
  readonly limit: number
}

/** The search for the events of one owner, newest first. Both bounds are ids of events, and exclusive. */
export interface OwnedQuery {
  readonly owner: string
  readonly types: ReadonlyArray<string>
  readonly after?: string
  readonly before?: string
  /** 1 to 1,000. */
  readonly limit: number
}

/** One page of missed events. `next` is the position of the next page; null at the end. */
export interface MissedPage {
  readonly events: ReadonlyArray<StoredEvent>
  readonly next: string | null
}

/** Request to delete rows for good. Spec: decision 0030. */
export interface ForgetRequest {
  /**
   * Deliveries that finished before `beforeMs`, with their attempts; or events from before then of which no delivery is
   * left.
   */
  readonly what: "deliveries" | "events"
  readonly beforeMs: number
  /** The id of the last row read, exclusive. */
  readonly after?: string
  /** Number of rows read, deleted or not. 1 to 1,000. */
  readonly limit: number
}

/** Number of deleted rows, and the position of the next step; null at the end. */
export interface ForgetAnswer {
  readonly count: number
  readonly next: string | null
}

/** The outbox of a store. Spec: decision 0019. */
export interface OutboxApi {
  /**
   * Durable before it answers. One whose answer is lost has claimed all the same, until its lease ends. Time is
   * storage's, as in `asOf`.
   */
  readonly claim: (request: ClaimRequest) => Effect.Effect<ClaimAnswer, ReadFault>
  /**
   * Reports whether every delivery is certainly finished, without a request. A store that cannot know leaves it out.
   * After a commit it includes the deliveries of that commit.
   */
  readonly isEmpty?: () => boolean
  readonly delivery: (
    id: string
  ) => Effect.Effect<{ readonly delivery: Delivery; readonly attempts: ReadonlyArray<Attempt> } | null, ReadFault>
  /** Newest first, `before` a sequence, exclusive. `limit` 1 to 1,000. */
  readonly deliveriesOf: (
    endpointId: string,
    page: { readonly before?: number; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<Delivery>, ReadFault>
  readonly event: (id: string) => Effect.Effect<StoredEvent | null, ReadFault>
  /**
   * Events since then of these types, oldest first, `after` an event's id, exclusive. Ids are in the order of commits.
   * `limit` 1 to 1,000.
   */
  readonly events: (query: {
    readonly sinceMs?: number
    readonly types?: ReadonlyArray<string>
    readonly after?: string
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<StoredEvent>, ReadFault>
  /** Events of one owner and of these types, newest first. It reads those of the owner alone. */
  readonly owned: (query: OwnedQuery) => Effect.Effect<ReadonlyArray<StoredEvent>, ReadFault>
  /**
   * Events since then of these types and this owner, oldest first, of which no delivery to this endpoint succeeded,
   * waits or is under way.
   */
  readonly missed: (query: MissedQuery) => Effect.Effect<MissedPage, ReadFault>
  /**
   * Deletes what is over, oldest first, for good and durably. Nothing that waits or is under way is touched, nor an
   * event that something left refers to; the newest event
   * stays, since the id of the next follows it, and so do the endpoints' sequences. Sending it twice does no harm.
   */
  readonly forget: (request: ForgetRequest) => Effect.Effect<ForgetAnswer, ReadFault>
}
