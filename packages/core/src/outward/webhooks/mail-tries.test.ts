import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Storage } from "../../storage/port.ts"
import { sendDueMails } from "./mail-job.ts"
import { newMail } from "./mails.ts"
import { outside, webhookWorld } from "./testing/webhook-world.ts"

const WEBHOOK = "whk_00000000000000000000000000"
const letter = { to: "ada@example.org", subject: "Webhook has failed", text: "Dear Ada" }
const put = (id: string, to = letter.to) =>
  Storage.use((storage) => storage.commit({ puts: [newMail(id, WEBHOOK, { ...letter, to }, 0)] }))
const stored = (id: string) =>
  Storage.use((storage) => Effect.map(storage.get("mails", id), (document) => document?.body))
const forgotten = { to: null, subject: null, text: null }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Between two tries: those of a delivery, literal from the specification. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS]

/** Lets all delays pass, with one try at each instant and none before it. */
const triedAll = Effect.gen(function* () {
  yield* sendDueMails
  for (const delayMs of DELAYS_MS) {
    yield* TestClock.adjust(delayMs - 1)
    yield* sendDueMails
    yield* TestClock.adjust(1)
    yield* sendDueMails
  }
})

/** Collects the messages that `effect` logs as errors. */
const errorsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const errors: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Error") errors.push(String(message))
    })
    return Effect.as(Effect.provide(effect, Logger.layer([logger])), errors)
  })

describe("a letter while the mail server is away", () => {
  it.effect("is tried on the delays of a delivery, 34 hours and 36 minutes in all", () => {
    const there = outside()
    there.takesMail = false
    return Effect.gen(function* () {
      yield* put("mail_1")
      yield* sendDueMails
      for (const [index, delayMs] of DELAYS_MS.entries()) {
        yield* TestClock.adjust(delayMs - 1)
        yield* sendDueMails
        assert.deepInclude(
          yield* stored("mail_1"),
          { state: "pending", tries: index + 1, to: letter.to },
          "not before it is due"
        )
        yield* TestClock.adjust(1)
        if (index === DELAYS_MS.length - 1) there.takesMail = true
        yield* sendDueMails
      }
      assert.deepInclude(yield* stored("mail_1"), { state: "sent", tries: 7, ...forgotten })
      assert.deepStrictEqual(there.mails, [{ ...letter, messageId: "mail_1" }])
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("is given up with an error that names the webhook and no address, and said to the alert address", () => {
    const there = outside()
    there.takesMail = false
    return Effect.gen(function* () {
      yield* put("mail_1")
      const errors = yield* errorsOf(triedAll)
      assert.lengthOf(errors, 1)
      assert.include(errors[0], WEBHOOK)
      assert.include(errors[0], "mail_1")
      assert.notMatch(errors[0]!, /@|ada|night/)
      assert.deepInclude(yield* stored("mail_1"), { state: "failed", tries: 7, ...forgotten })
      there.takesMail = true
      yield* sendDueMails
      assert.deepStrictEqual(there.mails, [{ ...letter, to: "night@example.org", messageId: "mail_1_alert" }])
    }).pipe(Effect.provide(webhookWorld(there, { alertEmail: "night@example.org" })))
  })

  it.effect("that is for the alert address is given up once", () => {
    const there = outside()
    there.takesMail = false
    return Effect.gen(function* () {
      yield* put("mail_1", "night@example.org")
      assert.lengthOf(yield* errorsOf(triedAll), 1)
      yield* TestClock.adjust(100 * HOUR_MS)
      there.takesMail = true
      yield* sendDueMails
      assert.deepStrictEqual([there.mails, yield* stored("mail_1_alert")], [[], undefined])
    }).pipe(Effect.provide(webhookWorld(there, { alertEmail: "night@example.org" })))
  })

  it.effect("whose address no mailer takes is said to the alert address at once", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* put("mail_1", "ops@münchen.de")
      assert.lengthOf(yield* errorsOf(sendDueMails), 1)
      assert.strictEqual(yield* sendDueMails, 1)
      assert.deepStrictEqual(there.mails, [{ ...letter, to: "night@example.org", messageId: "mail_1_alert" }])
    }).pipe(Effect.provide(webhookWorld(there, { alertEmail: "night@example.org" })))
  })
})
