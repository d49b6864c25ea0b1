import { checkBody, formatInstant, portableCrypto } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import type { Delivery } from "../../storage/outbox/outbox.ts"
import { type Ended, planEndAttempts, type EndedAttemptsContext } from "./plan-end-attempts.ts"
import type { StoredWebhook } from "./document.ts"
import type { WebhookDocument } from "@flyball/rules"
import { literalWebhookSettings } from "./settings.ts"

const [A, B] = [`whk_0${"a".repeat(25)}`, `whk_0${"b".repeat(25)}`] as const
const EVENT = `evt_${"0".repeat(26)}`
const dlv = (n: number) => `dlv_${String(n).padStart(26, "0")}`
const ended = (n: number, attempts: number, more: Partial<Ended> & { readonly to?: string } = {}): Ended => {
  const { to = A, ...rest } = more
  const delivery: Delivery = {
    id: dlv(n),
    eventId: EVENT,
    endpointId: to,
    sequence: n,
    state: "in_flight",
    attempts,
    createdAtMs: 0,
    nextAttemptAtMs: null,
    leaseUntilMs: 30_000,
    finishedAtMs: null
  }
  return {
    delivery,
    eventType: "agent.registered",
    firstStartedAtMs: 0,
    endedAtMs: 1_000,
    statusCode: 500,
    errorCode: "http_status",
    responseExcerpt: "",
    retryAfterMs: null,
    ...rest
  }
}
const well = { statusCode: 204, errorCode: null } as const
const webhook = (id: string, more: Partial<WebhookDocument> = {}): StoredWebhook => ({
  id,
  version: 3,
  body: {
    url: "https://hooks.example/in",
    description: null,
    notifyEmail: "ada@example.org",
    events: ["agent.registered"],
    status: "active",
    cause: null,
    owner: null,
    createdBy: "system:host",
    ...more
  }
})
const plan = (
  batch: ReadonlyArray<Ended>,
  more: Partial<EndedAttemptsContext> = {},
  webhooks: ReadonlyArray<StoredWebhook> = [webhook(A), webhook(B)]
) =>
  planEndAttempts(batch, {
    webhooks: new Map(webhooks.map((one) => [one.id, one])),
    besideSuccess: new Set(),
    settings: literalWebhookSettings,
    sha256: portableCrypto.sha256,
    ...more
  })
const movesOf = (change: ReturnType<typeof plan>) => change.moves!.map(({ id, to }) => [id, to.state])

describe("attempts that ended", () => {
  it("moves each on, and records those that finished as the catalogue describes", () => {
    const change = plan([ended(1, 1, well), ended(2, 2), ended(3, 7, { to: B })])
    assert.deepStrictEqual(movesOf(change), [
      [dlv(1), "succeeded"],
      [dlv(2), "pending"],
      [dlv(3), "failed"]
    ])
    assert.deepStrictEqual(change.moves![1], {
      id: dlv(2),
      from: { state: "in_flight", attempts: 2 },
      to: { state: "pending", nextAttemptAtMs: 301_000 },
      ended: { endedAtMs: 1_000, statusCode: 500, errorCode: "http_status", responseExcerpt: "" }
    })
    assert.deepStrictEqual(
      change.records!.map(({ body, kind }) => [kind, body["outcome"] ?? body["status"]]),
      [
        ["delivery.finished", "succeeded"],
        ["delivery.finished", "failed"],
        ["webhook.changed", "failed"]
      ]
    )
    for (const { body, kind } of change.records!) assert.isNull(checkBody(kind, body))
    assert.deepStrictEqual(change.expects, [{ collection: "webhooks", id: A, version: 3 }])
  })

  it("records whatever number a receiver answers in the place of a status", () => {
    for (const statusCode of [0, 42, 99, 999]) {
      const [record] = plan([ended(1, 7, { statusCode })]).records!
      assert.strictEqual(record!.body["status_code"], statusCode)
      assert.isNull(checkBody(record!.kind, record!.body))
    }
  })

  it("gives a webhook up with the seventh failure, in the same change: status, cancellation, event, letter", () => {
    const change = plan([ended(9, 7)])
    assert.deepStrictEqual(change.cancel, [{ endpointId: A }])
    assert.deepStrictEqual(
      change.events!.map(({ data, type }) => [type, data]),
      [
        [
          "webhook.failed",
          {
            webhook_id: A,
            delivery_id: dlv(9),
            event_id: EVENT,
            event_type: "agent.registered",
            failed_at: formatInstant(1_000),
            resource: `/api/v1/webhooks/${A}/deliveries`
          }
        ]
      ]
    )
    const [put, mail] = change.puts!
    assert.deepInclude(put, { collection: "webhooks", id: A, expectedVersion: 3, keys: {} })
    assert.deepInclude(put!.body, { status: "failed", cause: "seventh_failure" })
    assert.deepInclude(mail!.body, { to: "ada@example.org", subject: `Webhook ${A} has failed` })
    assert.include(String(mail!.body["text"]), "the receiver answered 500")
  })

  it("writes to the host's address where the webhook names none, and to nobody where there is none either", () => {
    const nobody = [webhook(A, { notifyEmail: null })]
    assert.deepInclude(
      plan([ended(1, 7)], { settings: { ...literalWebhookSettings, alertEmail: "alerts@example.org" } }, nobody)
        .puts![1]!.body,
      { to: "alerts@example.org" }
    )
    assert.lengthOf(plan([ended(1, 7)], {}, nobody).puts!, 1)
  })

  it("gives a webhook up once, whatever else of it ended with it", () => {
    const change = plan([ended(1, 2), ended(2, 7), ended(3, 7), ended(4, 1, well), ended(5, 1, { to: B })])
    assert.deepStrictEqual(movesOf(change), [
      [dlv(1), "cancelled"],
      [dlv(2), "failed"],
      [dlv(3), "failed"],
      [dlv(4), "succeeded"],
      [dlv(5), "pending"]
    ])
    assert.deepStrictEqual([change.cancel!.length, change.events!.length, change.puts!.length], [1, 1, 2])
    assert.deepStrictEqual(change.expects, [{ collection: "webhooks", id: B, version: 3 }])
  })

  it.each(["failed", "disabled", "revoked"] as const)(
    "retries nothing for a webhook that is %s, and does not fail it again",
    (status) => {
      const change = plan([ended(1, 2), ended(2, 7)], {}, [webhook(A, { status })])
      assert.deepStrictEqual(movesOf(change), [
        [dlv(1), "cancelled"],
        [dlv(2), "failed"]
      ])
      assert.deepStrictEqual([change.puts, change.cancel, change.events], [[], [], []])
    }
  )

  it("spares a webhook beside whose delivery others succeed, where the settings say so", () => {
    const settings = { ...literalWebhookSettings, endpointFailure: "no_success_since" } as const
    assert.deepStrictEqual(plan([ended(1, 7)], { settings, besideSuccess: new Set([dlv(1)]) }).puts, [])
    assert.lengthOf(plan([ended(1, 7)], { settings }).puts!, 2)
    assert.lengthOf(plan([ended(1, 7)], { besideSuccess: new Set([dlv(1)]) }).puts!, 2)
  })

  it.each(["chain.checkpoint", "webhook.failed"])("records nothing of deliveries of %s", (eventType) => {
    assert.deepStrictEqual(plan([ended(1, 1, { ...well, eventType }), ended(2, 1, { eventType })]).records, [])
    assert.deepStrictEqual(
      plan([ended(1, 7, { eventType })]).records!.map(({ kind }) => kind),
      ["webhook.changed"]
    )
  })
})
