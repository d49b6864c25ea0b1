/**
 * Resends the events that a webhook missed. Spec: api "agents and registry", `/webhooks/{id}/recover`; decisions 0019
 * and 0030.
 */
import { Effect } from "effect"
import { beside } from "../../storage/commit-claim.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { idAtMs } from "../../foundation/id-time.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import type { Document, DocumentPut, ReadFault, StorageApi } from "../../storage/port.ts"
import type { StoredWebhook } from "./document.ts"

/**
 * How far back events are delivered again.
 *
 * - Unit: milliseconds. 14 days.
 */
export const RESEND_MS = 14 * 24 * 3_600_000

/** Events that one call takes; more are reported, and taken by the next call. */
export const MAX_RESENT = 10_000

/**
 * Events read, and at most redelivered, in one commit: others commit between two of them, and no more than these are
 * held at a time.
 */
const PACE = 500

/** Collection of the marker that serialises resends: two at once would deliver the same event twice. */
export const RESENDS = "webhook_recoveries"

/**
 * The put of each commit that redelivers an event of a webhook. `marker` is the document as it was before the
 * deliveries were read.
 */
export const markResend = (webhookId: string, marker: Document | null, sinceMs: number): DocumentPut => ({
  collection: RESENDS,
  id: webhookId,
  expectedVersion: marker?.version ?? 0,
  body: { since_ms: sinceMs }
})

/** A request for missed events. */
export interface Resend<E> {
  readonly webhookId: string
  /** Read before each commit, which then expects it unchanged. Fails where the webhook may get no deliveries. */
  readonly webhook: Effect.Effect<StoredWebhook, E | ReadFault>
  readonly sinceMs: number
  /** End of the range: a later event has a delivery of its own. */
  readonly untilMs: number
  /** Only counts. */
  readonly dryRun: boolean
}

/** Result of resending. */
export interface Resent {
  readonly count: number
  readonly hasMore: boolean
}

/**
 * Adds deliveries of the events since then that the webhook subscribes to, and of which no delivery to it succeeded,
 * waits or is under way. None from before it was created, and none about its own failure.
 *
 * It works page by page. Where it stops in the middle, the deliveries so far stay, and the next call continues after
 * them.
 */
export const resendMissed = Effect.fnUntraced(function* <E>(
  storage: StorageApi,
  resend: Resend<E>
): Effect.fn.Return<Resent, E | ReadFault> {
  const { untilMs } = resend
  let count = 0
  for (let after: string | undefined; ;) {
    const page = yield* beside(commitWithRetry(storage, resendPage(storage, resend, after, MAX_RESENT - count)))
    count += page.count
    if (page.isFull) return { count, hasMore: true }
    if (page.next === null || idAtMs(page.next) > untilMs) return { count, hasMore: false }
    after = page.next
  }
})

/**
 * Missed events are read after the marker: a process that adds deliveries of some of them meanwhile moves the marker,
 * and then they are read again.
 */
const resendPage = Effect.fnUntraced(function* <E>(
  storage: StorageApi,
  { dryRun, sinceMs, webhook: reading, webhookId }: Resend<E>,
  after: string | undefined,
  room: number
) {
  const webhook = yield* reading
  const marker = yield* storage.get(RESENDS, webhookId)
  const query = {
    endpointId: webhookId,
    types: webhook.body.events,
    owner: webhook.body.owner,
    sinceMs: Math.max(sinceMs, idAtMs(webhookId)),
    limit: PACE
  }
  const { events, next } = yield* storage.outbox.missed(after === undefined ? query : { ...query, after })
  const missed = events.filter(({ data, type }) => type !== "webhook.failed" || data["webhook_id"] !== webhookId)
  const owed = missed.slice(0, room)
  if (owed.length > 0 && !dryRun) {
    yield* storage.commit({
      expects: [{ collection: WEBHOOKS, id: webhookId, version: webhook.version }],
      puts: [markResend(webhookId, marker, sinceMs)],
      again: owed.map(({ id }) => ({ eventId: id, endpointId: webhookId }))
    })
  }
  return { count: owed.length, isFull: missed.length > room, next }
})
