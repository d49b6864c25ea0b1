/** Owes a webhook once more what it missed. Spec: api "agents and registry", `/webhooks/{id}/recover`; decision 0019. */
import { Effect } from "effect"
import { idAtMs } from "../id-time.ts"
import type { StorageConflict } from "../storage/faults.ts"
import { WEBHOOKS } from "../storage/outbox.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import type { StoredWebhook } from "./plan-webhook.ts"

/**
 * How far back events are owed again.
 *
 * - Unit: milliseconds. 14 days.
 */
export const RECOVER_MS = 14 * 24 * 3_600_000

/** Events that one call takes; more are told of, and taken by the next call. */
export const MAX_RECOVERED = 10_000

/** Events owed in one commit: others commit between two of them, and the cap for each receiver paces the sending. */
const PACE = 500
const PAGE = 1_000

/** Collection of what serialises recoveries: two at once would owe the same event twice. */
const RECOVERIES = "webhook_recoveries"

/** What a recovery came to. */
export interface Recovery {
  readonly count: number
  readonly hasMore: boolean
}

/**
 * Events since then that the webhook wants, and of which no delivery to it succeeded, waits or is under way. None from before it was made, and none that tells of its own failure.
 *
 * With `dryRun` they are only counted.
 */
export const recoverMissed = Effect.fnUntraced(function*(
  storage: StorageApi,
  webhook: StoredWebhook,
  sinceMs: number,
  dryRun: boolean
): Effect.fn.Return<Recovery, ReadFault | StorageConflict> {
  const marker = yield* storage.get(RECOVERIES, webhook.id)
  const { hasMore, ids: found, newest } = yield* missed(storage, webhook, Math.max(sinceMs, idAtMs(webhook.id)))
  // What happened while it was read has a delivery of its own already.
  const since = yield* owedSince(storage, webhook.id, 0, newest)
  const ids = found.filter((eventId) => !since.has(eventId))
  if (dryRun) return { count: ids.length, hasMore }
  for (let from = 0, version = marker?.version ?? 0; from < ids.length; from += PACE, version += 1) {
    yield* storage.commit({
      expects: [{ collection: WEBHOOKS, id: webhook.id, version: webhook.version }],
      puts: [{ collection: RECOVERIES, id: webhook.id, expectedVersion: version, body: { since_ms: sinceMs } }],
      again: ids.slice(from, from + PACE).map((eventId) => ({ eventId, endpointId: webhook.id }))
    })
  }
  return { count: ids.length, hasMore }
})

const missed = Effect.fnUntraced(function*(storage: StorageApi, { body, id }: StoredWebhook, sinceMs: number) {
  const newest = (yield* storage.outbox.deliveriesOf(id, { limit: 1 }))[0]?.sequence ?? 0
  const owed = yield* owedSince(storage, id, sinceMs)
  const ids: Array<string> = []
  for (let after: string | undefined; ;) {
    const page = yield* storage.outbox.events({ sinceMs, types: body.events, limit: PAGE, ...(after === undefined ? {} : { after }) })
    for (const event of page) {
      if (owed.has(event.id) || (event.type === "webhook.failed" && event.data["webhook_id"] === id)) continue
      if (ids.length === MAX_RECOVERED) return { ids, newest, hasMore: true }
      ids.push(event.id)
    }
    if (page.length < PAGE) return { ids, newest, hasMore: false }
    after = page.at(-1)!.id
  }
})

/** Events since then, and of deliveries behind the sequence `after`, that were delivered to a webhook, or still will be by themselves. */
const owedSince = Effect.fnUntraced(function*(storage: StorageApi, webhookId: string, sinceMs: number, after = 0) {
  const owed = new Set<string>()
  for (let before: number | undefined; ;) {
    const page = yield* storage.outbox.deliveriesOf(webhookId, before === undefined ? { limit: PAGE } : { before, limit: PAGE })
    for (const { createdAtMs, eventId, sequence, state } of page) {
      if (createdAtMs < sinceMs || sequence <= after) return owed
      if (state === "succeeded" || state === "pending" || state === "in_flight") owed.add(eventId)
    }
    if (page.length < PAGE) return owed
    before = page.at(-1)!.sequence
  }
})
