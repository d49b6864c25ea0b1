import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Storage } from "../../storage/port.ts"
import { MAIL_POLL_MS, mailJob, sendDueMails } from "./mail-job.ts"
import { newMail } from "./mails.ts"
import { Mailer } from "./ports.ts"
import { outside, untilIdle, webhookWorld } from "./testing/webhook-world.ts"

const letter = { to: "ada@example.org", subject: "Webhook has failed", text: "Dear Ada" }
const put = (id: string) =>
  Storage.use((storage) => storage.commit({ puts: [newMail(id, "whk_00000000000000000000000000", letter, 0)] }))
const stored = (id: string) =>
  Storage.use((storage) => Effect.map(storage.get("mails", id), (document) => document?.body))
const forgotten = { to: null, subject: null, text: null }

describe("waiting e-mails", () => {
  it.effect("are sent once, and then deleted except for their id", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* put("mail_1")
      assert.strictEqual(yield* sendDueMails, 1)
      assert.strictEqual(yield* sendDueMails, 0)
      assert.deepStrictEqual(there.mails, [{ ...letter, messageId: "mail_1" }])
      assert.deepInclude(yield* stored("mail_1"), { state: "sent", tries: 1, ...forgotten })
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("are not held up by one that breaks the mailer", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* put("mail_1")
      yield* put("mail_2")
      const mailer = yield* Mailer
      const breaking: typeof mailer.send = (mail) =>
        mail.messageId === "mail_1" ? Effect.die(new Error("broken")) : mailer.send(mail)
      assert.strictEqual(yield* Effect.provideService(sendDueMails, Mailer, { send: breaking }), 1)
      assert.deepInclude(yield* stored("mail_1"), { state: "pending", tries: 1 })
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("are started for a minute at most, so that the lease outlasts the last one", () => {
    const there = outside()
    return Effect.gen(function* () {
      for (const n of [1, 2, 3, 4]) yield* put(`mail_${n}`)
      const mailer = yield* Mailer
      const slow: typeof mailer.send = (mail) => Effect.andThen(TestClock.adjust(30_000), mailer.send(mail))
      assert.strictEqual(yield* Effect.provideService(sendDueMails, Mailer, { send: slow }), 2)
      assert.strictEqual(yield* sendDueMails, 2)
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("go at once when they are written here, and by one process of two", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* Layer.build(Layer.fresh(mailJob))
      yield* Layer.build(Layer.fresh(mailJob))
      yield* untilIdle
      yield* put("mail_1")
      yield* untilIdle
      assert.lengthOf(there.mails, 1)
      there.takesMail = false
      yield* put("mail_2")
      yield* untilIdle
      there.takesMail = true
      yield* TestClock.adjust(2 * MAIL_POLL_MS)
      yield* untilIdle
      assert.deepStrictEqual(
        there.mails.map(({ messageId }) => messageId),
        ["mail_1", "mail_2"]
      )
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
  })
})
