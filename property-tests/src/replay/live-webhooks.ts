/**
 * Acts on webhooks in a random life, and the course of their deliveries. Nothing is sent: the history itself claims
 * deliveries and reports how each went.
 */
import { Agents, literalWebhookSettings, platformEvent, systemHost, Webhooks } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { portableCrypto } from "@flyball/evidence"
import { Effect } from "effect"
import { commitEndedAttempts } from "../../../packages/core/src/outward/webhooks/commit-ended-attempts.ts"
import type { Act } from "../evaluations/governed-history.ts"
import { chosen, type Doing, type Lived } from "./lived.ts"

const LEASE_MS = 30_000
const eventSets = [
  ["agent.registered"],
  ["agent.registered", "evaluation.denied", "key.minted"],
  ["agent.registered", "agent.suspended", "webhook.failed"]
] as const

/** Claims what is due and settles it: taken, or answered 500. */
const deliver = (isTaken: boolean) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const { claimed } = yield* storage.outbox.claim({ leaseMs: LEASE_MS, limit: 100, perEndpoint: 100 })
    const ended = claimed.map(({ delivery, event }) => {
      const atMs = delivery.leaseUntilMs! - LEASE_MS
      return {
        delivery,
        eventType: event.type,
        firstStartedAtMs: atMs,
        endedAtMs: atMs,
        statusCode: isTaken ? 204 : 500,
        errorCode: isTaken ? null : ("http_status" as const),
        responseExcerpt: "",
        retryAfterMs: null
      }
    })
    yield* commitEndedAttempts({ storage, settings: literalWebhookSettings, sha256: portableCrypto.sha256 }, ended)
  })

/** The webhooks among which this one is: those of the org unit ops, or of the governance. */
const amongOf = (id: string, lived: Lived) =>
  Webhooks.use((webhooks) => Effect.succeed(lived.unitWebhookIds.has(id) ? webhooks.ofOrgUnit("ops") : webhooks))

/**
 * Something happens that a webhook wants, and its receiver takes nothing any more: a delivery is tried until the
 * webhook is given up.
 */
const failSevenTimes = (id: string, choice: number, lived: Lived) =>
  Effect.gen(function* () {
    const webhooks = yield* amongOf(id, lived)
    const error = { code: "failed", message: "" }
    const failed = platformEvent("analysis.failed", "ops", { id: `ana_${choice}`, model_id: "m", error })
    yield* Storage.use((storage) => storage.commit({ events: [failed] }))
    yield* Agents.use((agents) => agents.register({ name: `sent ${id} ${choice}`, org_unit: "ops" }, systemHost))
    for (let attempt = 0; attempt < 7; attempt++) {
      const waiting = (yield* webhooks.deliveries(id)).find(({ state }) => state === "pending")
      if (waiting === undefined) return
      yield* webhooks.redeliver(id, waiting.id)
      yield* deliver(false)
    }
    if ((yield* webhooks.get(id)).status === "failed") lived.givenUp.add(id)
  })

/** Makes a webhook. */
export const hook = ({ a, b, c }: Act, lived: Lived): Doing =>
  Webhooks.use((webhooks) =>
    (a % 3 === 2 ? webhooks.ofOrgUnit("ops") : webhooks).create(
      {
        url: `https://hooks.example.org/${a}`,
        events: a % 3 === 2 ? ["analysis.failed"] : eventSets[b % 3]!,
        ...(c % 2 === 0 ? { description: `of ${b}`, notify_email: `x${c}@example.org` } : {})
      },
      systemHost
    )
  ).pipe(
    Effect.tap(({ id }) =>
      Effect.sync(() => {
        lived.webhookIds.push(id)
        if (a % 3 === 2) lived.unitWebhookIds.add(id)
      })
    )
  )

/** Does something with a webhook, in turn or out of turn. */
export const minded = ({ a, b, c }: Act, lived: Lived): Doing => {
  const id = chosen(lived.webhookIds, a)
  if (id === undefined) return Effect.void
  return Effect.flatMap(amongOf(id, lived), (webhooks): Doing => {
    switch (b % 12) {
      case 10:
        return webhooks.change(
          id,
          {
            url: `https://hooks.example.org/${c}`,
            ...(c % 3 === 0 ? { description: null } : {}),
            ...(c % 4 === 0 ? { status: c % 8 === 0 ? "active" : "disabled" } : {})
          },
          systemHost
        )
      case 11:
        return webhooks.change(
          id,
          lived.unitWebhookIds.has(id)
            ? { events: ["analysis.failed", "alert.triggered"] }
            : { events: eventSets[c % 3]! },
          systemHost
        )
      case 0:
        return webhooks.disable(id, systemHost)
      case 1:
      case 2:
        return webhooks.enable(id, systemHost)
      case 3:
        return webhooks.rotateSecret(id, c % 2 === 0 ? {} : { overlap_hours: 0 }, systemHost)
      case 4:
        return webhooks.completeRotation(id, systemHost)
      case 5:
        return c % 3 === 0 ? webhooks.revoke(id, systemHost) : webhooks.recover(id, { since: "2020-01-01T00:00:00Z" })
      case 6:
      case 7:
        return deliver(c % 2 === 0)
      default:
        return failSevenTimes(id, c, lived)
    }
  })
}
