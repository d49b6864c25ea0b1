import { assert, describe, it } from "@effect/vitest"
import { portableCrypto } from "@flyball/evidence"
import { Effect } from "effect"
import { outgoingRequest } from "./outgoing.ts"
import { connectionHeaders, secretKeys, secretText, signatureHeaderProblem } from "@flyball/rules"
import { Webhooks } from "./service.ts"
import { literalWebhookSettings, type WebhookSettingsApi } from "./settings.ts"
import { outside, webhookWorld } from "./testing/webhook-world.ts"

/** Opens webhooks with settings of any type, as a host without types can pass them. */
const opened = (settings: object) =>
  Effect.exit(Effect.provide(Effect.asVoid(Webhooks), webhookWorld(outside(), settings as Partial<WebhookSettingsApi>)))
const keys = { current: secretKeys(secretText(new Uint8Array(32)), portableCrypto.sha256)!, old: null }

describe("the name of the signature's header", () => {
  it("cannot be one that a delivery already has, in any case", () => {
    const sent = outgoingRequest(
      {
        url: "https://a.example/",
        keys,
        eventId: "evt_1",
        eventType: "key.minted",
        deliveryId: "dlv_1",
        sequence: 1,
        attempt: 1,
        atMs: 0,
        body: new Uint8Array()
      },
      literalWebhookSettings,
      portableCrypto
    )
    const taken = [
      ...Object.keys(sent.headers).filter((name) => name !== literalWebhookSettings.signatureHeader),
      ...connectionHeaders,
      "Content-Encoding"
    ]
    assert.isAbove(taken.length, 15)
    for (const name of taken)
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()])
        assert.isString(signatureHeaderProblem(spelling), spelling)
  })

  it("can be any other valid name", () => {
    for (const name of ["X-Platform-Signature", "X-Hub-Signature-256", "x-acme"])
      assert.isNull(signatureHeaderProblem(name))
    for (const name of ["", "X Y", "X:", "1x", "ü", `X${"y".repeat(64)}`, "X-\r\nY"])
      assert.isString(signatureHeaderProblem(name))
  })
})

describe("a host that brings settings", () => {
  it.effect.each([
    { signatureHeader: "Host" },
    { signatureHeader: "WEBHOOK-ID" },
    { signatureHeader: 7 },
    { userAgent: "" },
    { userAgent: "a\r\nb" },
    { alertEmail: "ops@münchen.de" },
    { alertEmail: undefined },
    { keepMs: Number.NaN },
    { keepMs: Infinity },
    { keepMs: "30" },
    { keepMs: -1 },
    { keepMs: undefined },
    { schedule: { base: "previous_attempt", jitter: Number.NaN } },
    { schedule: { base: "later", jitter: 0 } },
    { schedule: null },
    { schedule: { base: "previous_attempt", jitter: 0, followRetryAfter: "1" } },
    { endpointFailure: "never" }
  ])("is refused at its start with %j", (settings) =>
    Effect.gen(function* () {
      const exit = yield* opened(settings)
      assert.isTrue(
        exit._tag === "Failure" &&
          exit.toString().includes(`WebhookSettingsInvalid`) &&
          exit.toString().includes(Object.keys(settings)[0]!),
        exit.toString()
      )
    })
  )

  it.effect("opens with those that can be used", () =>
    Effect.gen(function* () {
      const exit = yield* opened({
        signatureHeader: "X-Acme",
        userAgent: "acme/1 (a b)",
        alertEmail: "a@b",
        keepMs: 1,
        schedule: { base: "first_attempt", jitter: 5 },
        endpointFailure: "no_success_since"
      })
      assert.strictEqual(exit._tag, "Success")
    })
  )
})
