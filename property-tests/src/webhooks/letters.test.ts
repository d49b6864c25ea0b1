/**
 * Letters about a failed webhook, handed to a real mail server that is away at first. Days pass on a test's clock.
 * Spec: document 1 section 6; decision 0019.
 */
import { type Mailer, sendDueMails } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { smtpMailer } from "@flyball/node"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { startMailServer } from "../../../apps/server/src/webhook-tests/testing/mail-server.ts"
import { newMail } from "../../../packages/core/src/outward/webhooks/mails.ts"
import { outside, webhookWorld } from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"

let mail: Awaited<ReturnType<typeof startMailServer>>
beforeEach(async () => {
  mail = await startMailServer()
})
afterEach(() => mail.close())

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Between two tries: those of a delivery, literal from the specification. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS]

/** Runs with one letter waiting, which is tried once. */
const withLetter = (then: Effect.Effect<void, unknown, Storage | Mailer>) =>
  Effect.runPromise(
    Effect.gen(function* () {
      yield* Storage.use((storage) =>
        storage.commit({
          puts: [
            newMail(
              "mail_1",
              "whk_00000000000000000000000000",
              { to: "owner@example.org", subject: "Webhook has failed", text: "It has." },
              0
            )
          ]
        })
      )
      yield* sendDueMails
      yield* then
    }).pipe(
      Effect.provide(smtpMailer({ url: mail.url, from: "flyball@example.com" })),
      Effect.provide(webhookWorld(outside(), { alertEmail: "night@example.org" })),
      Effect.provide(TestClock.layer())
    )
  )

describe("a mail server that is unreachable", () => {
  it("for ten hours receives the letter once", async () => {
    mail.isAway = true
    await withLetter(
      Effect.gen(function* () {
        for (const delayMs of DELAYS_MS.slice(0, 4)) {
          // The job polls more often than that.
          for (const halfMs of [delayMs / 2, delayMs / 2]) {
            yield* TestClock.adjust(halfMs)
            yield* sendDueMails
          }
        }
        assert.deepStrictEqual([mail.refused, mail.letters.length], [5, 0])
        mail.isAway = false
        yield* TestClock.adjust(8 * HOUR_MS)
        yield* sendDueMails
        yield* TestClock.adjust(100 * HOUR_MS)
        yield* sendDueMails
      })
    )
    assert.deepStrictEqual([mail.refused, mail.letters.map(({ to }) => to)], [5, [["owner@example.org"]]])
  })

  it("for longer receives a letter to the alert address", async () => {
    mail.isAway = true
    await withLetter(
      Effect.gen(function* () {
        for (const delayMs of DELAYS_MS) {
          yield* TestClock.adjust(delayMs)
          yield* sendDueMails
        }
        mail.isAway = false
        yield* sendDueMails
      })
    )
    assert.deepStrictEqual([mail.refused, mail.letters.map(({ to }) => to)], [7, [["night@example.org"]]])
  })
})
