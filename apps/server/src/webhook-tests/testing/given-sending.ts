/** A server that sends webhooks, on a clock that jumps, and what a test of it opens and waits for. */
import { deliveryEngine, literalWebhookSettings, mailJob, WebhookSettings } from "@flyball/core"
import { logMailer, memorySecretBox, smtpMailer, webhookSender } from "@flyball/node"
import { Layer } from "effect"
import { afterEach, assert } from "vitest"
import { openWorld } from "../../http/http-world.ts"
import { jumpingClock, until } from "./jumping-clock.ts"
import type { Arrived, Receiver } from "./receiver.ts"

/** A delivery as the interface shows it. */
export interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly sequence: number
  readonly state: string
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<{
    readonly attempt: number
    readonly started_at: string
    readonly ended_at: string
    readonly status_code: number | null
    readonly error: string | null
    readonly response_excerpt: string
  }>
}

/** Waits until so many requests came in, and answers all of them. */
export const arrivals = (receiver: Receiver, count: number): Promise<ReadonlyArray<Arrived>> =>
  until(
    () => receiver.arrived,
    ({ length }) => length >= count,
    `not ${count} deliveries arrived`
  )

/**
 * Servers that send, for the tests of one file; they and what `closing` was given are closed after each test, the last
 * first.
 */
export const givenSending = () => {
  const opened: Array<() => Promise<unknown>> = []
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close()
  })
  /** Answers what it is given, and closes it after the test. */
  const closing = <A extends { readonly close: () => Promise<unknown> }>(one: A): A => {
    opened.push(one.close)
    return one
  }

  /** A server that sends, its receivers, and its time. */
  const sendingWorld = async (options: { readonly mail?: string; readonly alertEmail?: string } = {}) => {
    const clock = jumpingClock(Date.now())
    const world = closing(
      await openWorld({
        under: clock.layer,
        jobs: Layer.mergeAll(deliveryEngine(), mailJob),
        webhooks: Layer.mergeAll(
          webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true }),
          memorySecretBox,
          options.mail === undefined ? logMailer : smtpMailer({ url: options.mail, from: "flyball@example.com" }),
          Layer.succeed(WebhookSettings, { ...literalWebhookSettings, alertEmail: options.alertEmail ?? null })
        )
      })
    )
    /** A call of an administrator, whose token is of now. */
    const call = async (method: string, path: string, json?: unknown) => {
      const token = await world.issuer.sign({ role: "admin", orgUnit: "*", subject: "ann" }, clock.nowMs())
      return world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
    }
    const done = async (method: string, path: string, json?: unknown) => {
      const got = await call(method, path, json)
      assert.isBelow(got.status, 300, `${method} ${path}: ${got.text}`)
      return got.json
    }
    const webhook = async (
      receiver: Receiver,
      events: ReadonlyArray<string>,
      more: object = {}
    ): Promise<{ readonly id: string; readonly secret: string }> =>
      await done("POST", "/webhooks", { url: receiver.url, events, ...more })
    const deliveries = (id: string): Promise<ReadonlyArray<Delivery>> =>
      done("GET", `/webhooks/${id}/deliveries?limit=1000`)
    /** Waits until nothing is under way to a webhook and nothing is due. */
    const settled = (id: string) =>
      until(
        () => deliveries(id),
        (all) =>
          all.every(
            ({ next_attempt_at: next, state }) =>
              state !== "in_flight" && (state !== "pending" || Date.parse(next!) > clock.nowMs())
          ),
        "something is under way still"
      )
    return { world, clock, call, done, webhook, deliveries, settled }
  }

  return { closing, sendingWorld }
}
