import { afterEach, assert, describe, it } from "vitest"
import { verifyDelivery } from "@flyball/rules"
import { portableCrypto } from "@flyball/evidence"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { accepted, answered, outside, outsideLayer } from "../../outward/webhooks/testing/webhook-world.ts"
import { webhooksChoice } from "../../outward/webhooks/webhooks-choice.ts"
import { type Governor, openGovernor } from "../governor.ts"
import { Effect } from "effect"
import { GovernorError } from "../../foundation/governor-error.ts"

let governor: Governor
afterEach(() => governor.close())
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: unknown) => (error instanceof GovernorError ? error.code : String(error))
  )

describe("webhooks through the plain client", () => {
  it("are created, sent to by the governor itself, read and ended", async () => {
    const there = outside()
    let arrived = (): void => undefined
    const first = new Promise<void>((resolve) => (arrived = resolve))
    there.answer = ({ headers }) =>
      Effect.sync(() => {
        if (headers["X-Platform-Event"] === "agent.registered") arrived()
        return accepted
      })
    governor = await openGovernor({ storage: memoryStorage(), webhooks: webhooksChoice("test", outsideLayer(there)) })
    const { secret, ...webhook } = await governor.webhooks.create({
      url: "https://hooks.example/in",
      events: ["agent.registered"]
    })
    await governor.agents.register({ name: "courier", org_unit: "ops" })
    await first
    assert.isNull(verifyDelivery(secret, there.arrived[0]!, Date.now(), portableCrypto.sha256))
    assert.deepStrictEqual(
      [await governor.webhooks.list(), await governor.webhooks.get(webhook.id)],
      [[webhook], webhook]
    )
    const [delivery] = await governor.webhooks.deliveries(webhook.id, { limit: 10 })
    assert.deepInclude(delivery, { event_type: "agent.registered", sequence: 1, webhook_id: webhook.id })
    assert.isTrue((await governor.webhooks.test(webhook.id)).delivered)
    there.answer = () => Effect.succeed(answered(500))
    assert.deepInclude(await governor.webhooks.test(webhook.id), { delivered: false, error: "http_status" })
    assert.notStrictEqual((await governor.webhooks.rotateSecret(webhook.id)).secret, secret)
    assert.isNull((await governor.webhooks.completeRotation(webhook.id)).secret_overlap_until)
    assert.strictEqual((await governor.webhooks.disable(webhook.id)).status, "disabled")
    assert.strictEqual((await governor.webhooks.enable(webhook.id)).status, "active")
    assert.strictEqual(
      (await governor.webhooks.recover(webhook.id, { since: new Date().toISOString(), dry_run: true })).count,
      0
    )
    assert.strictEqual((await governor.webhooks.revoke(webhook.id)).status, "revoked")
    assert.isTrue((await governor.check()).ok)
  })

  it("are refused with codes: unknown types each by its place, and everything where there is no sender", async () => {
    governor = await openGovernor({ storage: memoryStorage() })
    const wrong = await governor.webhooks
      .create({ url: "https://hooks.example/in", events: ["agent.registered", "agent.danced", "x"] })
      .catch((error: unknown) => error)
    assert.deepStrictEqual(
      (wrong as { readonly detail: ReadonlyArray<{ readonly loc: unknown; readonly input: unknown }> }).detail.map(
        ({ input, loc }) => [loc, input]
      ),
      [
        [["body", "events", "1"], "agent.danced"],
        [["body", "events", "2"], "x"]
      ]
    )
    assert.strictEqual(
      await codeOf(governor.webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"] })),
      "webhooks_unavailable"
    )
    assert.strictEqual(await codeOf(governor.webhooks.get("whk_x")), "webhook_not_found")
    assert.strictEqual(await codeOf(governor.webhooks.deliveries("whk_x", { limit: 0 })), "invalid_input")
  })
})
