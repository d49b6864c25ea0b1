/**
 * A receiver that is away: when it is tried again, when that ends, who is notified, and how it is made good. Spec:
 * document 1 section 6.
 */
import { assert, describe, it } from "vitest"
import { arrivals, givenSending } from "./testing/given-sending.ts"
import { until } from "./testing/jumping-clock.ts"
import { startMailServer } from "./testing/mail-server.ts"
import { startReceiver } from "./testing/receiver.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** From the end of one attempt to the next: literal, from the specification. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS]

const { closing, sendingWorld } = givenSending()

describe("a receiver that is away", () => {
  it("is tried seven times on schedule; then the webhook fails, with a letter and an event", async () => {
    const mail = closing(await startMailServer())
    const { call, clock, done, settled, webhook, world } = await sendingWorld({ mail: mail.url })
    const [away, watching] = [closing(await startReceiver()), closing(await startReceiver())]
    away.answer = (_, response) => void response.writeHead(500).end("the queue is full")
    const { id } = await webhook(away, ["agent.registered"], { notify_email: "owner@example.org" })
    const watcher = await webhook(watching, ["webhook.failed"])

    await done("POST", "/agents", { name: "first", org_unit: "claims" })
    const bodies = new Set<string>()
    for (const [index, delayMs] of [...DELAYS_MS, null].entries()) {
      await arrivals(away, index + 1)
      const [delivery] = await settled(id)
      bodies.add(away.arrived[index]!.body)
      assert.strictEqual(away.arrived.length, index + 1)
      assert.deepInclude(away.arrived[index]!.headers, {
        "x-platform-attempt": String(index + 1),
        "webhook-id": delivery!.event_id,
        "webhook-sequence": "1"
      })
      const attempt = delivery!.attempts[index]!
      assert.deepInclude(attempt, {
        attempt: index + 1,
        status_code: 500,
        error: "http_status",
        response_excerpt: "the queue is full"
      })
      if (delayMs === null) break
      assert.strictEqual(Date.parse(delivery!.next_attempt_at!) - Date.parse(attempt.ended_at), delayMs)
      clock.jump(Date.parse(delivery!.next_attempt_at!) - 1)
      await settled(id)
      assert.strictEqual(away.arrived.length, index + 1, "not before it is due")
      clock.jump(clock.nowMs() + 1_000)
    }
    assert.strictEqual(bodies.size, 1, "the same bytes each time")

    const [failed] = await settled(id)
    assert.deepStrictEqual([failed!.state, failed!.attempts.length], ["failed", 7])
    assert.deepInclude(await done("GET", `/webhooks/${id}`), { status: "failed", cause: "seventh_failure" })
    const [reported] = await arrivals(watching, 1)
    assert.deepInclude(reported!.event, { type: "webhook.failed" })
    assert.deepInclude(reported!.event.data, {
      webhook_id: id,
      delivery_id: failed!.id,
      event_id: failed!.event_id,
      event_type: "agent.registered"
    })
    await settled(watcher.id)
    const [letter] = await until(
      () => mail.letters,
      ({ length }) => length > 0,
      "no letter came"
    )
    assert.deepStrictEqual(letter!.to, ["owner@example.org"])
    assert.include(letter!.head, id)
    for (const expected of [id, failed!.id, failed!.event_id, away.url, "the receiver answered 500"])
      assert.include(letter!.text, expected)
    const records = await done("GET", "/chain/records?kind=webhook.changed")
    assert.deepStrictEqual(
      records.map(({ body }: { body: { webhook_id: string; status: string; cause: string; writer: string } }) => [
        body.webhook_id,
        body.status,
        body.cause,
        body.writer
      ]),
      [[id, "failed", "seventh_failure", "policy:seventh_failure"]]
    )

    // Events of that time are not owed until recovery.
    await done("POST", "/agents", { name: "second", org_unit: "claims" })
    for (const path of [`deliveries/${failed!.id}/redeliver`, "recover"]) {
      const refused = await call(
        "POST",
        `/webhooks/${id}/${path}`,
        path === "recover" ? { since: new Date(clock.nowMs() - HOUR_MS).toISOString() } : undefined
      )
      assert.deepStrictEqual([refused.status, refused.json.code], [409, "webhook_not_active"])
    }
    away.answer = (_, response) => void response.writeHead(200).end("ok")
    assert.isTrue((await done("POST", `/webhooks/${id}/test`)).delivered)
    assert.deepInclude(await done("POST", `/webhooks/${id}/enable`), { status: "active", cause: "enabled" })
    away.arrived.length = 0
    const since = new Date(clock.nowMs() - 48 * HOUR_MS).toISOString()
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since, dry_run: true }), {
      count: 2,
      dry_run: true,
      has_more: false
    })
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), {
      count: 2,
      dry_run: false,
      has_more: false
    })
    await arrivals(away, 2)
    const after = await settled(id)
    assert.deepStrictEqual(
      after.map(({ sequence, state }) => [sequence, state]),
      [
        [3, "succeeded"],
        [2, "succeeded"],
        [1, "failed"]
      ]
    )
    assert.isTrue(
      away.arrived.some(({ event }) => event.id === failed!.event_id),
      "under the id it had"
    )
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), {
      count: 0,
      dry_run: false,
      has_more: false
    })

    const again = await done("POST", `/webhooks/${id}/deliveries/${after[0]!.id}/redeliver`)
    assert.deepInclude(again, { event_id: after[0]!.event_id, sequence: 4 })
    await arrivals(away, 3)
    assert.strictEqual((await settled(id))[0]!.state, "succeeded")
    assert.strictEqual(mail.letters.length, 1)
    assert.strictEqual((await world.send("GET", "/healthz")).status, 200)
  })

  it("for two attempts has the third, and a stranger's webhook is not held up by it", async () => {
    const { clock, done, settled, webhook } = await sendingWorld()
    const [away, well] = [closing(await startReceiver()), closing(await startReceiver())]
    away.answer = (_, response) => void response.writeHead(503).end()
    const { id } = await webhook(away, ["agent.registered"])
    await webhook(well, ["agent.registered"])
    await done("POST", "/agents", { name: "first", org_unit: "claims" })
    await Promise.all([arrivals(away, 1), arrivals(well, 1)])
    for (const delayMs of [MINUTE_MS, 5 * MINUTE_MS]) {
      const [delivery] = await settled(id)
      assert.strictEqual(delivery!.state, "pending")
      if (delayMs > MINUTE_MS) away.answer = (_, response) => void response.writeHead(200).end()
      const before = away.arrived.length
      clock.jump(clock.nowMs() + delayMs)
      await arrivals(away, before + 1)
    }
    assert.deepStrictEqual(
      (await settled(id)).map(({ attempts, state }) => [state, attempts.map(({ status_code }) => status_code)]),
      [["succeeded", [503, 503, 200]]]
    )
  })

  it("writes to the house where the webhook names nobody", async () => {
    const mail = closing(await startMailServer())
    const { clock, done, settled, webhook } = await sendingWorld({ mail: mail.url, alertEmail: "night@example.org" })
    const away = closing(await startReceiver())
    away.answer = (_, response) => void response.socket!.destroy()
    const { id } = await webhook(away, ["agent.registered"])
    await done("POST", "/agents", { name: "first", org_unit: "claims" })
    for (let attempt = 1; attempt <= 7; attempt++) {
      await arrivals(away, attempt)
      const [delivery] = await settled(id)
      assert.strictEqual(delivery!.attempts[attempt - 1]!.error, "connect")
      if (attempt < 7) clock.jump(Date.parse(delivery!.next_attempt_at!) + 1_000)
    }
    const [letter] = await until(
      () => mail.letters,
      ({ length }) => length > 0,
      "no letter came"
    )
    assert.deepStrictEqual(letter!.to, ["night@example.org"])
    assert.include(letter!.text, "connect")
  })
})
