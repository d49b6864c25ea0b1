/** Commits ended attempts: reads what the plan needs, commits, and leaves out what somebody else moved meanwhile. */
import { Effect } from "effect"
import { counterBy } from "../../foundation/metrics.ts"
import type { Conflict, StorageConflict } from "../../storage/faults.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import type { ChangeSet, CommitReceipt, ReadFault, StorageApi } from "../../storage/port.ts"
import { type Ended, planEndAttempts } from "./plan-end-attempts.ts"
import { storedWebhook, type StoredWebhook } from "./document.ts"
import { type Sha256, MAX_ATTEMPTS } from "@flyball/rules"
import type { WebhookSettingsApi } from "./settings.ts"

const deliveries = counterBy(
  "flyball_deliveries_total",
  "Webhook deliveries by outcome; retry: an attempt failed and another follows. Cancelled ones belong to failed " +
    "webhooks, or were in flight when a webhook ended.",
  "outcome",
  ["succeeded", "failed", "cancelled", "retry"]
)

/** Deliveries read at a time. */
const PAGE = 1_000

/** The services that commit ended attempts. */
export interface EndedAttemptsServices {
  readonly storage: StorageApi
  readonly settings: WebhookSettingsApi
  readonly sha256: Sha256
}

/**
 * Commits a batch. A delivery that somebody else moved (its lease had run out, its webhook was revoked) is left out
 * quietly: what the store says holds.
 * But one that waits for its next attempt since its lease ran out, and was taken by its receiver all the same, has
 * succeeded: it is not sent again.
 *
 * - Fails: as the store does; nothing of the batch is committed then, and it may be tried again.
 */
export const commitEndedAttempts = (
  { settings, sha256, storage }: EndedAttemptsServices,
  batch: ReadonlyArray<Ended>
): Effect.Effect<void, ReadFault> => {
  const attempt = (ended: ReadonlyArray<Ended>): Effect.Effect<void, ReadFault> =>
    ended.length === 0
      ? Effect.void
      : (Effect.gen(function* () {
          const failed = ended.filter(({ errorCode }) => errorCode !== null)
          const webhooks = failed.length === 0 ? new Map<string, StoredWebhook>() : yield* webhooksOf(storage, failed)
          const besideSuccess =
            settings.endpointFailure === "no_success_since" ? yield* besideSuccessOf(storage, ended) : new Set<string>()
          const change = planEndAttempts(ended, { webhooks, besideSuccess, settings, sha256 })
          const receipt = yield* storage.commit(change)
          for (const { to } of change.moves ?? []) yield* deliveries[to.state === "pending" ? "retry" : to.state].one
          // What is committed is committed: a read that fails here only leaves the count too low.
          yield* Effect.ignore(countCancelled(storage, change, receipt))
          for (const { data } of change.events ?? []) {
            yield* Effect.logWarning(
              `Webhook ${String(data["webhook_id"])} has failed: delivery ${String(data["delivery_id"])} failed ` +
                `seven times. Nothing is sent to it until it is enabled.`
            )
          }
        }).pipe(
          Effect.catchIf(isConflict, (conflict) => {
            const moved = new Map(
              conflict.conflicts.flatMap((one) => (one._tag === "Delivery" ? [[one.id, one.found] as const] : []))
            )
            // Without one of those a webhook was changed meanwhile, and is read again.
            return attempt(
              ended.flatMap((one) =>
                !moved.has(one.delivery.id)
                  ? [one]
                  : isLateSuccess(one, moved.get(one.delivery.id)!)
                    ? [{ ...one, isLate: true }]
                    : []
              )
            )
          })
        ) as Effect.Effect<void, ReadFault>)
  return attempt(batch)
}

/**
 * Counts the deliveries that were cancelled with the webhooks that this commit failed. They are the deliveries that
 * finished at the time of the commit: no other commit cancels deliveries of such a webhook.
 */
const countCancelled = Effect.fnUntraced(function* (
  storage: StorageApi,
  { cancel = [], moves = [] }: ChangeSet,
  { records }: CommitReceipt
) {
  const atMs = records.at(-1)?.atMs
  const moved = new Set(moves.map(({ id }) => id))
  const context = yield* Effect.context<never>()
  for (const { endpointId } of cancel) {
    for (let before: number | undefined; ;) {
      const page = yield* storage.outbox.deliveriesOf(
        endpointId,
        before === undefined ? { limit: PAGE } : { before, limit: PAGE }
      )
      const cancelled = page.filter(
        ({ finishedAtMs, id, state }) => state === "cancelled" && finishedAtMs === atMs && !moved.has(id)
      )
      deliveries.cancelled.add(cancelled.length, context)
      if (page.length < PAGE) break
      before = page.at(-1)!.sequence
    }
  }
})

const isLateSuccess = (
  { delivery, errorCode, isLate }: Ended,
  found: Extract<Conflict, { readonly _tag: "Delivery" }>["found"]
): boolean =>
  isLate !== true && errorCode === null && found?.state === "pending" && found.attempts === delivery.attempts

const isConflict = (error: unknown): error is StorageConflict =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "StorageConflict"

const webhooksOf = (
  storage: StorageApi,
  ended: ReadonlyArray<Ended>
): Effect.Effect<ReadonlyMap<string, StoredWebhook>, ReadFault> =>
  Effect.map(
    Effect.forEach(new Set(ended.map(({ delivery }) => delivery.endpointId)), (id) => storage.get(WEBHOOKS, id), {
      concurrency: 16
    }),
    (documents) =>
      new Map(
        documents.flatMap((document) => (document === null ? [] : [[document.id, storedWebhook(document)] as const]))
      )
  )

/**
 * The deliveries of a batch that are at their end, beside which another to the same webhook succeeded since their first
 * attempt.
 */
const besideSuccessOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  ended: ReadonlyArray<Ended>
): Effect.fn.Return<ReadonlySet<string>, ReadFault> {
  const found = new Set<string>()
  for (const { delivery, errorCode, firstStartedAtMs } of ended) {
    if (errorCode === null || delivery.attempts < MAX_ATTEMPTS) continue
    const inBatch = ended.some((other) => other.errorCode === null && other.delivery.endpointId === delivery.endpointId)
    if (inBatch || (yield* succeededSince(storage, delivery.endpointId, firstStartedAtMs))) found.add(delivery.id)
  }
  return found
})

/**
 * Reports whether a delivery to this webhook succeeded since then. Reads all of them at worst, once in the life of a
 * delivery that fails.
 */
const succeededSince = Effect.fnUntraced(function* (
  storage: StorageApi,
  endpointId: string,
  sinceMs: number
): Effect.fn.Return<boolean, ReadFault> {
  for (let before: number | undefined; ;) {
    const page = yield* storage.outbox.deliveriesOf(
      endpointId,
      before === undefined ? { limit: PAGE } : { before, limit: PAGE }
    )
    if (
      page.some(({ finishedAtMs, state }) => state === "succeeded" && finishedAtMs !== null && finishedAtMs >= sinceMs)
    )
      return true
    if (page.length < PAGE) return false
    before = page.at(-1)!.sequence
  }
})
