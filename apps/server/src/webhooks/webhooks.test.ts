/** Webhooks through the real server: HTTP in, POSTs out to receivers on the loopback address. Time is a clock that jumps. Spec: document 1 sections 4 and 6. */
import { deliveryEngine, literalWebhookSettings, mailJob, WebhookSettings } from "@flyball/core"
import { logMailer, memorySecretBox, smtpMailer, webhookSender } from "@flyball/node"
import { Layer } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { openWorld, type World } from "../http/http-world.ts"
import { problemsOfValue } from "../interface/testing/check-schema.ts"
import { jumpingClock, until } from "./testing/jumping-clock.ts"
import { startMailServer } from "./testing/mail-server.ts"
import { type Arrived, believedBy, type Receiver, startReceiver } from "./testing/receiver.ts"

const LIBRARIES = ["standardwebhooks", "svix", "octokit"]
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** From the end of one attempt to the next: literal, from the specification. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS]

const opened: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
const closing = <A extends { readonly close: () => Promise<unknown> }>(one: A): A => {
  opened.push(one.close)
  return one
}

/** A server that sends, its receivers, and its time. */
const sendingWorld = async (options: { readonly mail?: string; readonly alertEmail?: string } = {}) => {
  const clock = jumpingClock(Date.now())
  const world = closing(await openWorld({
    under: clock.layer,
    jobs: Layer.mergeAll(deliveryEngine(), mailJob),
    webhooks: Layer.mergeAll(
      webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true }),
      memorySecretBox,
      options.mail === undefined ? logMailer : smtpMailer({ url: options.mail, from: "flyball@example.com" }),
      Layer.succeed(WebhookSettings, { ...literalWebhookSettings, alertEmail: options.alertEmail ?? null })
    )
  }))
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
  const webhook = async (receiver: Receiver, events: ReadonlyArray<string>, more: object = {}): Promise<{ readonly id: string; readonly secret: string }> =>
    await done("POST", "/webhooks", { url: receiver.url, events, ...more })
  const deliveries = (id: string): Promise<ReadonlyArray<Delivery>> => done("GET", `/webhooks/${id}/deliveries?limit=1000`)
  /** Waits until nothing is under way to a webhook and nothing is due. */
  const settled = (id: string) =>
    until(() => deliveries(id), (all) => all.every(({ next_attempt_at: next, state }) => state !== "in_flight" && (state !== "pending" || Date.parse(next!) > clock.nowMs())), "something is under way still")
  return { world, clock, call, done, webhook, deliveries, settled }
}

interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly sequence: number
  readonly state: string
  readonly next_attempt_at: string | null
  readonly attempts: ReadonlyArray<{ readonly attempt: number; readonly started_at: string; readonly ended_at: string; readonly status_code: number | null; readonly error: string | null; readonly response_excerpt: string }>
}

const arrivals = (receiver: Receiver, count: number): Promise<ReadonlyArray<Arrived>> => until(() => receiver.arrived, ({ length }) => length >= count, `not ${count} deliveries arrived`)
const bySequence = (arrived: ReadonlyArray<Arrived>): ReadonlyArray<Arrived> => arrived.toSorted((a, b) => Number(a.headers["webhook-sequence"]) - Number(b.headers["webhook-sequence"]))

describe("what happens here is told", () => {
  it("once each, in one sequence, as the interface description says, and three libraries believe it", async () => {
    const { done, settled, webhook, world } = await sendingWorld()
    const receiver = closing(await startReceiver())
    const wanted = ["agent.registered", "agent.activated", "agent.suspended", "agent.decommissioned", "agent.owner_transferred", "agent.orphaned", "key.minted", "key.revoked", "capture.gap", "evidence.exported"]
    const { id, secret } = await webhook(receiver, wanted, { description: "to the pager" })

    const agent = (await done("POST", "/agents", { name: "courier", org_unit: "claims" })).id
    await done("POST", `/agents/${agent}/transfer-ownership`, { owner_name: "Ada", owner_email: "ada@example.org" })
    await done("POST", `/agents/${agent}/activate`)
    await done("POST", `/agents/${agent}/suspend`, { reason: "looked odd" })
    await done("POST", `/agents/${agent}/disown`, { reason: "left the house" })
    const key = (await done("POST", "/admin/ingest-keys", { name: "k", org_unit: "claims" })).id
    await done("POST", `/admin/ingest-keys/${key}/revoke`)
    await done("POST", `/agents/${agent}/capture-gaps`, { from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:01:00Z", count: 3, reason: "crash" })
    const pack = (await done("POST", "/evidence/packs", { kind: "full" })).id
    await world.send("GET", `/api/v1/evidence/packs/${pack}`, { token: world.admin })
    await done("POST", `/agents/${agent}/decommission`)

    await until(() => new Set(receiver.arrived.map(({ event }) => event.type)), (types) => wanted.every((type) => types.has(type)), "not every type arrived")
    const deliveries = await settled(id)
    const arrived = bySequence(receiver.arrived)
    assert.deepStrictEqual(arrived.map(({ headers }) => Number(headers["webhook-sequence"])), arrived.map((_, index) => index + 1))
    assert.strictEqual(new Set(arrived.map(({ headers }) => headers["webhook-id"])).size, arrived.length)
    assert.deepStrictEqual(deliveries.toReversed().map((one) => [one.event_id, one.event_type, one.state, one.attempts.length]), arrived.map(({ event }) => [event.id, event.type, "succeeded", 1]))

    const description = (await world.send("GET", "/openapi.json")).json
    for (const one of arrived) {
      assert.deepStrictEqual(await believedBy(one, secret), LIBRARIES, one.event.type)
      assert.deepStrictEqual(await believedBy({ ...one, body: one.body.replace("\"id\"", "\"ID\"") }, secret), [])
      const { schema } = description.webhooks[one.event.type].post.requestBody.content["application/json"]
      assert.deepStrictEqual(problemsOfValue(schema, one.event, "event", { schemas: description.components.schemas, closed: true }), [])
      assert.deepInclude(one.headers, { "content-type": "application/json", "webhook-id": one.event.id, "x-platform-event": one.event.type, "x-platform-attempt": "1" })
      assert.notMatch(one.body, /courier|Ada|ada@|looked odd|left the house|pager/, "what a person wrote is not sent")
      const proof = await done("GET", `/chain/records/${one.event.chain.seq}/proof`)
      assert.strictEqual(proof.record_hash, one.event.chain.record_hash)
    }
  })

  it("to each webhook only what it asked for, and to one that was revoked nothing more", async () => {
    const { call, clock, done, settled, webhook } = await sendingWorld()
    const [first, second] = [closing(await startReceiver()), closing(await startReceiver())]
    const one = await webhook(first, ["agent.registered"])
    // Ids of one millisecond are in no order.
    clock.jump(clock.nowMs() + 1)
    const two = await webhook(second, ["agent.registered", "webhook.failed"])
    await done("POST", "/agents", { name: "a", org_unit: "claims" })
    await Promise.all([arrivals(first, 1), arrivals(second, 1)])
    assert.deepStrictEqual(await believedBy(first.arrived[0]!, two.secret), [], "a secret of its own each")
    assert.strictEqual(first.arrived[0]!.headers["webhook-id"], second.arrived[0]!.headers["webhook-id"])

    const revoked = await done("POST", `/webhooks/${one.id}/revoke`)
    assert.deepStrictEqual([revoked.status, revoked.cause, typeof revoked.revoked_at], ["revoked", "owner", "string"])
    await done("POST", "/agents", { name: "b", org_unit: "claims" })
    await arrivals(second, 2)
    await settled(two.id)
    assert.strictEqual(first.arrived.length, 1)
    for (const [act, code] of [["test", "webhook_revoked"], ["rotate-secret", "webhook_revoked"], ["enable", "webhook_revoked"]] as const) {
      const refused = await call("POST", `/webhooks/${one.id}/${act}`)
      assert.deepStrictEqual([refused.status, refused.json.code], [409, code], act)
    }
    const listed = await done("GET", "/webhooks")
    assert.deepStrictEqual(listed.map(({ id, status }: { id: string; status: string }) => [id, status]), [[one.id, "revoked"], [two.id, "active"]])
    assert.notInclude(JSON.stringify(listed), "whsec_")
  })

  it("at once when an operator asks, and not at all while the webhook is disabled", async () => {
    const { call, clock, done, deliveries, settled, webhook } = await sendingWorld()
    const receiver = closing(await startReceiver())
    receiver.answer = (_, response) => void response.writeHead(503).end()
    const { id } = await webhook(receiver, ["agent.registered"])
    await done("POST", "/agents", { name: "a", org_unit: "claims" })
    await arrivals(receiver, 1)
    await settled(id)
    const [waiting] = await deliveries(id)
    assert.strictEqual(Date.parse(waiting!.next_attempt_at!) - Date.parse(waiting!.attempts[0]!.ended_at), MINUTE_MS)
    receiver.answer = (_, response) => void response.writeHead(200).end()
    const again = await done("POST", `/webhooks/${id}/deliveries/${waiting!.id}/redeliver`)
    assert.deepStrictEqual([again.id, again.sequence], [waiting!.id, 1])
    await arrivals(receiver, 2)
    await settled(id)
    assert.deepStrictEqual((await deliveries(id)).map(({ attempts, state }) => [state, attempts.length]), [["succeeded", 2]])
    assert.deepStrictEqual(receiver.arrived.map(({ headers }) => headers["x-platform-attempt"]), ["1", "2"])

    const disabled = await done("POST", `/webhooks/${id}/disable`)
    assert.deepStrictEqual([disabled.status, disabled.cause], ["disabled", "owner"])
    const since = new Date(clock.nowMs()).toISOString()
    await done("POST", "/agents", { name: "b", org_unit: "claims" })
    const refused = await call("POST", `/webhooks/${id}/deliveries/${waiting!.id}/redeliver`)
    assert.deepStrictEqual([refused.status, refused.json.code], [409, "webhook_not_active"])
    await done("POST", `/webhooks/${id}/enable`)
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), { count: 1, dry_run: false, has_more: false })
    await arrivals(receiver, 3)
  })

  it("under both secrets while one is being replaced", async () => {
    const { call, clock, done, webhook } = await sendingWorld()
    const receiver = closing(await startReceiver())
    const { id, secret: old } = await webhook(receiver, ["agent.registered"])
    const next = async (name: string): Promise<Arrived> => {
      const before = receiver.arrived.length
      await done("POST", "/agents", { name, org_unit: "claims" })
      return (await arrivals(receiver, before + 1)).at(-1)!
    }
    assert.deepStrictEqual(await believedBy(await next("before"), old), LIBRARIES)
    const rotated = await done("POST", `/webhooks/${id}/rotate-secret`, { overlap_hours: 1 })
    assert.strictEqual(Date.parse(rotated.secret_overlap_until), clock.nowMs() + HOUR_MS)
    const during = await next("during")
    assert.deepStrictEqual(await believedBy(during, old), LIBRARIES)
    assert.deepStrictEqual(await believedBy(during, rotated.secret), ["standardwebhooks", "svix"])
    assert.strictEqual((await call("POST", `/webhooks/${id}/rotate-secret`)).json.code, "rotation_under_way")
    const completed = await done("POST", `/webhooks/${id}/rotate-secret/complete`)
    assert.isNull(completed.secret_overlap_until)
    const after = await next("after")
    assert.deepStrictEqual([await believedBy(after, old), await believedBy(after, rotated.secret)], [[], LIBRARIES])
  })

  it("by a test event at once, which is in no sequence and changes nothing", async () => {
    const { deliveries, done, webhook, world } = await sendingWorld()
    const receiver = closing(await startReceiver())
    const { id, secret } = await webhook(receiver, ["agent.registered"])
    const size = await world.size()
    const good = await done("POST", `/webhooks/${id}/test`)
    assert.deepInclude(good, { delivered: true, status_code: 204, error: null })
    assert.deepStrictEqual(await believedBy(receiver.arrived[0]!, secret), LIBRARIES)
    assert.deepStrictEqual([receiver.arrived[0]!.event.type, receiver.arrived[0]!.event.id, receiver.arrived[0]!.headers["webhook-sequence"]], ["webhook.test", good.event_id, "0"])
    receiver.answer = (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()
    assert.deepInclude(await done("POST", `/webhooks/${id}/test`), { delivered: false, status_code: 302, error: "redirect" })
    await receiver.close()
    assert.deepInclude(await done("POST", `/webhooks/${id}/test`), { delivered: false, status_code: null, error: "connect" })
    assert.deepStrictEqual([await deliveries(id), await world.size(), (await done("GET", `/webhooks/${id}`)).status], [[], size, "active"])
  })
})

describe("a receiver that is away", () => {
  it("is tried seven times on the specification's schedule; then the webhook failed, its owner has a letter, and the others are told", async () => {
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
      assert.deepInclude(away.arrived[index]!.headers, { "x-platform-attempt": String(index + 1), "webhook-id": delivery!.event_id, "webhook-sequence": "1" })
      const attempt = delivery!.attempts[index]!
      assert.deepInclude(attempt, { attempt: index + 1, status_code: 500, error: "http_status", response_excerpt: "the queue is full" })
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
    const [told] = await arrivals(watching, 1)
    assert.deepInclude(told!.event, { type: "webhook.failed" })
    assert.deepInclude(told!.event.data, { webhook_id: id, delivery_id: failed!.id, event_id: failed!.event_id, event_type: "agent.registered" })
    await settled(watcher.id)
    const [letter] = await until(() => mail.letters, ({ length }) => length > 0, "no letter came")
    assert.deepStrictEqual(letter!.to, ["owner@example.org"])
    assert.include(letter!.head, id)
    for (const expected of [id, failed!.id, failed!.event_id, away.url, "the receiver answered 500"]) assert.include(letter!.text, expected)
    const records = await done("GET", "/chain/records?kind=webhook.changed")
    assert.deepStrictEqual(records.map(({ body }: { body: { webhook_id: string; status: string; cause: string; writer: string } }) => [body.webhook_id, body.status, body.cause, body.writer]),
      [[id, "failed", "seventh_failure", "policy:seventh_failure"]])

    // What happens meanwhile is not owed, until it is asked for.
    await done("POST", "/agents", { name: "second", org_unit: "claims" })
    for (const path of [`deliveries/${failed!.id}/redeliver`, "recover"]) {
      const refused = await call("POST", `/webhooks/${id}/${path}`, path === "recover" ? { since: new Date(clock.nowMs() - HOUR_MS).toISOString() } : undefined)
      assert.deepStrictEqual([refused.status, refused.json.code], [409, "webhook_not_active"])
    }
    away.answer = (_, response) => void response.writeHead(200).end("ok")
    assert.isTrue((await done("POST", `/webhooks/${id}/test`)).delivered)
    assert.deepInclude(await done("POST", `/webhooks/${id}/enable`), { status: "active", cause: "enabled" })
    away.arrived.length = 0
    const since = new Date(clock.nowMs() - 48 * HOUR_MS).toISOString()
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since, dry_run: true }), { count: 2, dry_run: true, has_more: false })
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), { count: 2, dry_run: false, has_more: false })
    await arrivals(away, 2)
    const after = await settled(id)
    assert.deepStrictEqual(after.map(({ sequence, state }) => [sequence, state]), [[3, "succeeded"], [2, "succeeded"], [1, "failed"]])
    assert.isTrue(away.arrived.some(({ event }) => event.id === failed!.event_id), "under the id it had")
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), { count: 0, dry_run: false, has_more: false })

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
    assert.deepStrictEqual((await settled(id)).map(({ attempts, state }) => [state, attempts.map(({ status_code }) => status_code)]), [["succeeded", [503, 503, 200]]])
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
    const [letter] = await until(() => mail.letters, ({ length }) => length > 0, "no letter came")
    assert.deepStrictEqual(letter!.to, ["night@example.org"])
    assert.include(letter!.text, "connect")
  })
})

describe("an address that must not be reached", () => {
  const bad = async (world: World, url: string) => await world.send("POST", "/api/v1/webhooks", { token: world.admin, json: { url, events: ["agent.registered"] } })

  it("is refused when a webhook is made, and a name that leads there at each attempt", async () => {
    const world = closing(await openWorld({
      jobs: deliveryEngine(),
      webhooks: Layer.mergeAll(webhookSender({ resolve: () => Promise.resolve(["10.0.0.7"]) }), memorySecretBox, logMailer)
    }))
    for (const url of ["https://127.0.0.1/", "https://10.0.0.7/", "https://[::ffff:10.0.0.7]/", "https://169.254.169.254/", "https://2130706433/"]) {
      const got = await bad(world, url)
      assert.deepStrictEqual([got.status, got.json.detail[0].loc], [422, ["body", "url"]], url)
    }
    const made = await bad(world, "https://intranet.example.org/hook")
    assert.strictEqual(made.status, 201)
    const tried = await world.send("POST", `/api/v1/webhooks/${made.json.id}/test`, { token: world.admin })
    assert.deepInclude(tried.json, { delivered: false, status_code: null, error: "ssrf_blocked" })
  })
})
