import { assert, describe, it } from "@effect/vitest"
import { formatInstant, fromUtf8, portableCrypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Erasure } from "../erasure/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { systemHost } from "../../foundation/writer.ts"
import { newMail } from "./mails.ts"
import { verifyDelivery } from "@flyball/rules"
import { bodiesOf, created, DAY_MS, engine, hooks, replays, tagOf } from "./testing/webhook-acts.ts"
import {
  answered,
  governorWithWebhooks,
  happened,
  outside,
  untilIdle,
  wait,
  webhookWorld
} from "./testing/webhook-world.ts"

const { sha256 } = portableCrypto
const NOBODY = `whk_${"0".repeat(26)}`

describe("webhooks", () => {
  it.effect("show their secret once, and are recorded without address and secret", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { secret, ...shown } = yield* created({
        description: "Ada's receiver",
        notify_email: "ada@example.org",
        events: ["agent.registered", "key.minted", "agent.registered"]
      })
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepStrictEqual(shown, {
        id: shown.id,
        url: "https://hooks.example/in",
        events: ["agent.registered", "key.minted"],
        description: "Ada's receiver",
        notify_email: "ada@example.org",
        status: "active",
        cause: null,
        created_by: "system:host",
        created_at: formatInstant(0),
        revoked_at: null,
        secret_overlap_until: null
      })
      assert.deepStrictEqual(
        [yield* hooks(({ list }) => list), yield* hooks(({ get }) => get(shown.id))],
        [[shown], shown]
      )
      assert.deepStrictEqual(yield* bodiesOf("webhook.created"), [
        { events: ["agent.registered", "key.minted"], webhook_id: shown.id, writer: "system:host" }
      ])
      const storage = yield* Storage
      const records = yield* storage.records({ limit: 100 })
      const parts = yield* storage.parts(records.map(({ seq }) => seq))
      const kept = [...records.map(({ bytes }) => bytes), ...parts.flatMap(({ bytes }) => bytes ?? [])].map((bytes) =>
        fromUtf8(bytes)
      )
      const documents = [yield* storage.get("webhooks", shown.id), yield* storage.get("webhook_secrets", shown.id)]
      assert.notInclude(JSON.stringify([kept, documents]), secret.slice(8, 40))
      assert.isFalse(records.some(({ bytes }) => fromUtf8(bytes)!.includes("hooks.example")))
      yield* replays
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("write to whom the input names, else the creator, else the host's address", () => {
    const there = outside()
    return Effect.gen(function* () {
      const input = { url: "https://hooks.example/in", events: ["agent.registered"] } as const
      const emails = yield* hooks((webhooks) =>
        Effect.all([
          webhooks.create({ ...input, notify_email: "a@example.org" }, systemHost, "b@example.org"),
          webhooks.create(input, systemHost, "b@example.org"),
          webhooks.create(input, systemHost)
        ])
      )
      assert.deepStrictEqual(
        emails.map(({ notify_email }) => notify_email),
        ["a@example.org", "b@example.org", "alerts@example.org"]
      )
    }).pipe(Effect.provide(webhookWorld(there, { alertEmail: "alerts@example.org" })))
  })

  it.effect("refuse a URL that may not be sent to, and keep nothing of it", () =>
    Effect.gen(function* () {
      for (const url of ["ftp://a.example/", "https://ada@a.example/", "https://a.example/#x", "https://10.0.0.1/"]) {
        const refusal = yield* Effect.flip(created({ url }))
        assert.strictEqual(refusal._tag, "InvalidInput")
        assert.deepInclude((refusal as { readonly detail: ReadonlyArray<object> }).detail[0]!, {
          loc: ["body", "url"],
          type: "value_error",
          input: url
        })
      }
      assert.deepStrictEqual(yield* hooks(({ list }) => list), [])
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("can be ended but not made where nothing can be sent", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(created()))._tag, "WebhooksUnavailable")
      assert.deepStrictEqual(yield* hooks(({ list }) => list), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are not found by another id", () =>
    Effect.gen(function* () {
      for (const id of [NOBODY, "nonsense"]) {
        assert.strictEqual(yield* tagOf(({ get }) => get(id)), "WebhookNotFound")
        assert.strictEqual(yield* tagOf(({ revoke }) => revoke(id, systemHost)), "WebhookNotFound")
        assert.strictEqual(yield* tagOf(({ test }) => test(id)), "WebhookNotFound")
        assert.strictEqual(yield* tagOf(({ deliveries }) => deliveries(id)), "WebhookNotFound")
      }
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("are revoked once: what is owed is cancelled, the secret deleted, nothing sent", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* happened()
      yield* TestClock.setTime(5_000)
      const revoked = yield* hooks(({ revoke }) => revoke(id, systemHost))
      assert.deepInclude(revoked, { status: "revoked", revoked_at: formatInstant(5_000) })
      yield* TestClock.setTime(9_000)
      assert.deepStrictEqual(yield* hooks(({ revoke }) => revoke(id, systemHost)), revoked)
      assert.lengthOf(yield* bodiesOf("webhook.revoked"), 1)
      assert.deepStrictEqual((yield* Storage.use((storage) => storage.get("webhook_secrets", id)))?.body, {
        key_id: "test"
      })
      yield* happened()
      yield* Effect.scoped(Effect.andThen(Layer.build(engine), untilIdle))
      assert.deepStrictEqual(
        [there.arrived, (yield* hooks(({ deliveries }) => deliveries(id))).map(({ state }) => state)],
        [[], ["cancelled"]]
      )
      for (const tag of yield* Effect.all([
        tagOf(({ enable }) => enable(id, systemHost)),
        tagOf(({ disable }) => disable(id, systemHost)),
        tagOf(({ rotateSecret }) => rotateSecret(id, {}, systemHost)),
        tagOf(({ completeRotation }) => completeRotation(id, systemHost)),
        tagOf(({ test }) => test(id))
      ]))
        assert.strictEqual(tag, "WebhookRevoked")
      yield* replays
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("that were revoked in a chain before this one were so at the latest when this one began", () =>
    Effect.gen(function* () {
      yield* wait(DAY_MS)
      const { id } = yield* created()
      const storage = yield* Storage
      const { body, version } = (yield* storage.get("webhooks", id))!
      yield* storage.commit({
        puts: [{ collection: "webhooks", id, expectedVersion: version, body: { ...body, status: "revoked" } }]
      })
      assert.strictEqual(
        (yield* hooks(({ get }) => get(id))).revoked_at,
        formatInstant((yield* storage.record(0))!.atMs)
      )
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("are disabled and enabled, each time with a record that says who did it", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created()
      const ada = { id: `usr_${"1".repeat(26)}` }
      assert.deepInclude(yield* hooks(({ disable }) => disable(id, ada)), { status: "disabled", cause: "owner" })
      yield* hooks(({ disable }) => disable(id, ada))
      yield* happened()
      assert.deepStrictEqual(yield* hooks(({ deliveries }) => deliveries(id)), [])
      assert.deepInclude(yield* hooks(({ enable }) => enable(id, ada)), { status: "active", cause: "enabled" })
      yield* hooks(({ enable }) => enable(id, ada))
      assert.deepStrictEqual(yield* bodiesOf("webhook.changed"), [
        { cause: "owner", status: "disabled", webhook_id: id, writer: ada.id },
        { cause: "enabled", status: "active", webhook_id: id, writer: ada.id }
      ])
      yield* happened()
      assert.lengthOf(yield* hooks(({ deliveries }) => deliveries(id)), 1)
      yield* replays
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("send a test at once, to a webhook that is not active too, and keep nothing of it", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id, secret } = yield* created()
      yield* hooks(({ disable }) => disable(id, systemHost))
      const out = yield* hooks(({ test }) => test(id))
      const [sent] = there.arrived
      const envelope = JSON.parse(fromUtf8(sent!.body)!)
      assert.deepStrictEqual(out, {
        delivered: true,
        status_code: 204,
        duration_ms: 0,
        error: null,
        event_id: envelope.id
      })
      assert.deepInclude(envelope, { type: "webhook.test", created_at: formatInstant(0) })
      assert.strictEqual(envelope.chain.seq, (yield* Storage.use(({ head }) => head))!.seq)
      assert.isNull(verifyDelivery(secret, sent!, 0, sha256))
      there.answer = () => Effect.succeed(answered(500))
      assert.deepInclude(yield* hooks(({ test }) => test(id)), {
        delivered: false,
        status_code: 500,
        error: "http_status"
      })
      assert.deepStrictEqual(
        [yield* hooks(({ deliveries }) => deliveries(id)), (yield* hooks(({ get }) => get(id))).status],
        [[], "disabled"]
      )
    }).pipe(Effect.provide(webhookWorld(there)))
  })

  it.effect("end when their address is erased", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* created({ notify_email: "ada@example.org" })
      yield* happened()
      const letter = {
        to: "ada@example.org",
        subject: "Webhook has failed",
        text: "It leads to https://hooks.example/in."
      }
      yield* Storage.use((storage) =>
        storage.commit({ puts: [newMail("mail_of_it", id, letter, 0), newMail("mail_of_another", NOBODY, letter, 0)] })
      )
      const [record] = yield* Storage.use((storage) => storage.records({ kinds: ["webhook.created"], limit: 1 }))
      yield* Erasure.use(({ erase }) =>
        erase({ seq: record!.seq, name: "endpoint", reason: "subject_request" }, systemHost)
      )
      assert.deepInclude(yield* hooks(({ get }) => get(id)), {
        url: null,
        description: null,
        notify_email: null,
        status: "revoked"
      })
      assert.deepStrictEqual(yield* bodiesOf("webhook.revoked"), [{ webhook_id: id, writer: "policy:erased_endpoint" }])
      assert.deepStrictEqual((yield* Storage.use((storage) => storage.get("webhook_secrets", id)))?.body, {
        key_id: "test"
      })
      assert.deepStrictEqual(
        (yield* hooks(({ deliveries }) => deliveries(id))).map(({ state }) => state),
        ["cancelled"]
      )
      // In the same commit, whether or not a mail job runs here.
      const letterOf = (mail: string) =>
        Storage.use((storage) => Effect.map(storage.get("mails", mail), (document) => document?.body))
      assert.deepInclude(yield* letterOf("mail_of_it"), { state: "failed", to: null, subject: null, text: null })
      assert.deepInclude(yield* letterOf("mail_of_another"), { state: "pending", ...letter })
      yield* replays
    }).pipe(Effect.provide(governorWithWebhooks(there)))
  })
})
