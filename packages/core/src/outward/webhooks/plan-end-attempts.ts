/** Plans the next state of deliveries whose attempts ended, and of their webhooks. Pure. */
import { formatInstant } from "@flyball/evidence"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import {
  type AttemptError,
  type Delivery,
  type DeliveryMove,
  type EventDraft,
  WEBHOOKS
} from "../../storage/outbox/outbox.ts"
import type { ChangeSet, DocumentPut, JsonObject, RecordDraft } from "../../storage/port.ts"
import type { EventType } from "@flyball/contract"
import { event } from "../../storage/event.ts"
import { newMail } from "./mails.ts"
import { changeStatus } from "./plan-disable.ts"
import type { StoredWebhook } from "./document.ts"
import {
  afterAttempt,
  type AfterAttempt,
  deliveryAfter,
  endpointAfter,
  endpointFails,
  type Sha256
} from "@flyball/rules"
import type { WebhookSettingsApi } from "./settings.ts"

/** An attempt that ended. */
export interface Ended {
  /** As it was claimed. */
  readonly delivery: Delivery
  readonly eventType: string
  readonly firstStartedAtMs: number
  readonly endedAtMs: number
  readonly statusCode: number | null
  /** Null when the receiver answered 2xx in time. */
  readonly errorCode: AttemptError | null
  readonly responseExcerpt: string
  readonly retryAfterMs: number | null
  /** Answered 2xx after its lease had run out, and waiting for the next attempt since. */
  readonly isLate?: boolean
}

/** Inputs for the end of a batch of attempts. */
export interface EndedAttemptsContext {
  /** The webhooks of all attempts that failed. */
  readonly webhooks: ReadonlyMap<string, StoredWebhook>
  /**
   * Deliveries beside which another to the same webhook succeeded since their first attempt. Read only where the
   * settings need it.
   */
  readonly besideSuccess: ReadonlySet<string>
  readonly settings: WebhookSettingsApi
  readonly sha256: Sha256
}

/** The rule that gives a webhook up. */
const SEVENTH_FAILURE = { id: "policy:seventh_failure" }

/**
 * Types whose deliveries have no record: it would make the next checkpoint due, repeat a record of the chain, or be
 * appended to a chain with an error.
 */
const unrecorded: ReadonlySet<string> = new Set<EventType>([
  "chain.checkpoint",
  "chain.verify_failed",
  "webhook.failed"
])

/**
 * Plans the change for a batch of ended attempts: one move for each, a record for each that finished. For a webhook
 * that this marks as failed: its new status, the cancellation of its pending deliveries, an event to the other
 * webhooks and a letter. All of it in one commit.
 *
 * - Fails: never. A delivery that somebody else moved is a conflict of the commit.
 * - Spec: document 2 sections 3 and 6; decision 0019.
 */
export const planEndAttempts = (ended: ReadonlyArray<Ended>, context: EndedAttemptsContext): ChangeSet => {
  const failing = failingWebhooks(ended, context)
  const moves: Array<DeliveryMove> = []
  const records: Array<RecordDraft> = []
  const expects = new Map<string, number>()
  for (const one of ended) {
    const webhook = context.webhooks.get(one.delivery.endpointId)
    const active = webhook?.body.status === "active" && !failing.has(one.delivery.endpointId)
    const after = afterAttempt(attemptOf(one), active, context.settings.schedule, context.sha256)
    moves.push(moveOf(one, after))
    // What waits for a webhook that is not active would wait for ever: that it is still active is part of the commit.
    if (after.act === "retry" && webhook !== undefined) expects.set(webhook.id, webhook.version)
    if (after.act !== "retry" && !unrecorded.has(one.eventType)) records.push(finished(one, after))
  }
  const givenUp = [...failing.values()].map(({ last, webhook }) => giveUp(webhook, last, context.settings))
  return {
    expects: [...expects].map(([id, version]) => ({ collection: WEBHOOKS, id, version })),
    puts: givenUp.flatMap(({ puts }) => puts),
    records: [...records, ...givenUp.flatMap((one) => one.records)],
    moves,
    cancel: [...failing.keys()].map((endpointId) => ({ endpointId })),
    events: givenUp.map((one) => one.event)
  }
}

/** The webhooks that this batch takes with it, each with the delivery that did it. */
const failingWebhooks = (
  ended: ReadonlyArray<Ended>,
  { besideSuccess, settings, sha256, webhooks }: EndedAttemptsContext
) => {
  const failing = new Map<string, { readonly webhook: StoredWebhook; readonly last: Ended }>()
  for (const one of ended) {
    const webhook = webhooks.get(one.delivery.endpointId)
    if (webhook === undefined || failing.has(webhook.id) || endpointAfter("fail", webhook.body.status) === null)
      continue
    if (afterAttempt(attemptOf(one), true, settings.schedule, sha256).act !== "fail") continue
    if (endpointFails(settings.endpointFailure, besideSuccess.has(one.delivery.id)))
      failing.set(webhook.id, { webhook, last: one })
  }
  return failing
}

const attemptOf = ({ delivery, endedAtMs, errorCode, firstStartedAtMs, retryAfterMs, statusCode }: Ended) => ({
  deliveryId: delivery.id,
  attempt: delivery.attempts,
  firstStartedAtMs,
  endedAtMs,
  statusCode,
  retryAfterMs,
  errorCode
})

const moveOf = (
  { delivery, endedAtMs, errorCode, isLate, responseExcerpt, statusCode }: Ended,
  after: AfterAttempt
): DeliveryMove => {
  // Its attempt ended when the lease did, and stays as it was recorded then.
  if (isLate === true)
    return { id: delivery.id, from: { state: "pending", attempts: delivery.attempts }, to: { state: "succeeded" } }
  const state = deliveryAfter(after.act, "in_flight")
  return {
    id: delivery.id,
    from: { state: "in_flight", attempts: delivery.attempts },
    to:
      after.act === "retry"
        ? { state: "pending", nextAttemptAtMs: after.nextAttemptAtMs }
        : { state: state as "succeeded" | "failed" | "cancelled" },
    ended: { endedAtMs, statusCode, errorCode, responseExcerpt }
  }
}

const outcomes = { succeed: "succeeded", fail: "failed", cancel: "cancelled" } as const

const finished = ({ delivery, errorCode, eventType, statusCode }: Ended, { act }: AfterAttempt): RecordDraft => ({
  kind: "delivery.finished",
  agentId: null,
  body: omitNullish({
    attempts: delivery.attempts,
    delivery_id: delivery.id,
    error_code: errorCode,
    event_id: delivery.eventId,
    event_type: eventType,
    outcome: act === "retry" ? null : outcomes[act],
    status_code: statusCode,
    webhook_id: delivery.endpointId
  }) as JsonObject,
  parts: []
})

interface GivenUp {
  readonly puts: ReadonlyArray<DocumentPut>
  readonly records: ReadonlyArray<RecordDraft>
  readonly event: EventDraft
}

const giveUp = (webhook: StoredWebhook, last: Ended, { alertEmail }: WebhookSettingsApi): GivenUp => {
  const { puts, records } = changeStatus(webhook, "failed", "seventh_failure", SEVENTH_FAILURE)
  const to = webhook.body.notifyEmail ?? alertEmail
  return {
    puts:
      to === null
        ? puts
        : [
            ...puts,
            newMail(`mail_${last.delivery.id}`, webhook.id, { to, ...letterOf(webhook, last) }, last.endedAtMs)
          ],
    records,
    event: {
      ...event("webhook.failed", {
        webhook_id: webhook.id,
        delivery_id: last.delivery.id,
        event_id: last.delivery.eventId,
        event_type: last.eventType,
        failed_at: formatInstant(last.endedAtMs)
      }),
      ...(webhook.body.owner === null ? {} : { owner: webhook.body.owner })
    }
  }
}

/** The letter to the owner of a webhook that failed. */
const letterOf = (
  { body, id }: StoredWebhook,
  { delivery, endedAtMs, errorCode, eventType, statusCode }: Ended
): { readonly subject: string; readonly text: string } => ({
  subject: `Webhook ${id} has failed`,
  text: [
    `The webhook ${id} to ${body.url ?? "an address that was erased"} has failed: ${delivery.attempts} ` +
      `attempts at one delivery failed, the last one at ${formatInstant(endedAtMs)}`,
    `(${statusCode === null ? (errorCode ?? "no answer") : `the receiver answered ${statusCode}`}).`,
    "",
    `Delivery: ${delivery.id}`,
    `Event: ${delivery.eventId} (${eventType})`,
    "",
    "Nothing is sent to it any more, and its pending deliveries are cancelled. Events are still recorded.",
    body.owner === null
      ? "When the receiver works again: POST /api/v1/webhooks/{id}/test sends a test event, /enable resumes new " +
        "events, and /recover sends missed events, up to 14 days back."
      : "When the receiver works again: POST /v1/webhooks/{id}/test sends a test event, PATCH /v1/webhooks/{id} with " +
        'the status "active" resumes new events, and /recover sends missed events, up to 14 days back.',
    ""
  ].join("\n")
})
