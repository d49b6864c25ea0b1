/**
 * Webhooks through the real server: HTTP in, POSTs out to receivers on the loopback address. Time is a clock that
 * jumps. Spec: document 1 sections 4 and 6.
 */
import { deliveryEngine } from "@flyball/core"
import { problemsOfValue } from "@flyball/http/testing"
import { logMailer, memorySecretBox, webhookSender } from "@flyball/node"
import { Layer } from "effect"
import { assert, describe, it } from "vitest"
import { openWorld, type World } from "../http/http-world.ts"
import { arrivals, givenSending } from "./testing/given-sending.ts"
import { until } from "./testing/jumping-clock.ts"
import { type Arrived, believedBy, startReceiver } from "./testing/receiver.ts"

const LIBRARIES = ["standardwebhooks", "svix", "octokit"]
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { closing, sendingWorld } = givenSending()

const bySequence = (arrived: ReadonlyArray<Arrived>): ReadonlyArray<Arrived> =>
  arrived.toSorted((a, b) => Number(a.headers["webhook-sequence"]) - Number(b.headers["webhook-sequence"]))

describe("events are delivered", () => {
  it("once each, in one sequence, as the interface description says, and three libraries believe it", async () => {
    const { done, settled, webhook, world } = await sendingWorld()
    const receiver = closing(await startReceiver())
    const wanted = [
      "agent.registered",
      "agent.activated",
      "agent.suspended",
      "agent.decommissioned",
      "agent.owner_transferred",
      "agent.orphaned",
      "key.minted",
      "key.revoked",
      "capture.gap",
      "evidence.exported"
    ]
    const { id, secret } = await webhook(receiver, wanted, { description: "to the pager" })

    const agent = (await done("POST", "/agents", { name: "courier", org_unit: "claims" })).id
    await done("POST", `/agents/${agent}/transfer-ownership`, { owner_name: "Ada", owner_email: "ada@example.org" })
    await done("POST", `/agents/${agent}/activate`)
    await done("POST", `/agents/${agent}/suspend`, { reason: "unusual refunds" })
    await done("POST", `/agents/${agent}/disown`, { reason: "left the house" })
    const key = (await done("POST", "/admin/ingest-keys", { name: "k", org_unit: "claims" })).id
    await done("POST", `/admin/ingest-keys/${key}/revoke`)
    await done("POST", `/agents/${agent}/capture-gaps`, {
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-01T00:01:00Z",
      count: 3,
      reason: "crash"
    })
    const pack = (await done("POST", "/evidence/packs", { kind: "full" })).id
    await world.send("GET", `/api/v1/evidence/packs/${pack}`, { token: world.admin })
    await done("POST", `/agents/${agent}/decommission`)

    await until(
      () => new Set(receiver.arrived.map(({ event }) => event.type)),
      (types) => wanted.every((type) => types.has(type)),
      "not every type arrived"
    )
    const deliveries = await settled(id)
    const arrived = bySequence(receiver.arrived)
    assert.deepStrictEqual(
      arrived.map(({ headers }) => Number(headers["webhook-sequence"])),
      arrived.map((_, index) => index + 1)
    )
    assert.strictEqual(new Set(arrived.map(({ headers }) => headers["webhook-id"])).size, arrived.length)
    assert.deepStrictEqual(
      deliveries.toReversed().map((one) => [one.event_id, one.event_type, one.state, one.attempts.length]),
      arrived.map(({ event }) => [event.id, event.type, "succeeded", 1])
    )

    const description = (await world.send("GET", "/openapi.json")).json
    for (const one of arrived) {
      assert.deepStrictEqual(await believedBy(one, secret), LIBRARIES, one.event.type)
      assert.deepStrictEqual(await believedBy({ ...one, body: one.body.replace('"id"', '"ID"') }, secret), [])
      const { schema } = description.webhooks[one.event.type].post.requestBody.content["application/json"]
      assert.deepStrictEqual(
        problemsOfValue(schema, one.event, "event", { schemas: description.components.schemas, closed: true }),
        []
      )
      assert.deepInclude(one.headers, {
        "content-type": "application/json",
        "webhook-id": one.event.id,
        "x-platform-event": one.event.type,
        "x-platform-attempt": "1"
      })
      // A checkpoint's signature spells "Ada" once in some two thousand.
      assert.notMatch(
        one.body.replace(/"note":"[^"]*"/, ""),
        /courier|Ada|ada@|unusual refunds|left the house|pager/,
        "what a person wrote is not sent"
      )
      const proof = await done("GET", `/chain/records/${one.event.chain.seq}/proof`)
      assert.strictEqual(proof.record_hash, one.event.chain.record_hash)
    }
  })

  it("to each webhook only its subscribed types, and to a revoked one nothing more", async () => {
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
    for (const [act, code] of [
      ["test", "webhook_revoked"],
      ["rotate-secret", "webhook_revoked"],
      ["enable", "webhook_revoked"]
    ] as const) {
      const refused = await call("POST", `/webhooks/${one.id}/${act}`)
      assert.deepStrictEqual([refused.status, refused.json.code], [409, code], act)
    }
    const listed = await done("GET", "/webhooks")
    assert.deepStrictEqual(
      listed.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [
        [one.id, "revoked"],
        [two.id, "active"]
      ]
    )
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
    assert.deepStrictEqual(
      (await deliveries(id)).map(({ attempts, state }) => [state, attempts.length]),
      [["succeeded", 2]]
    )
    assert.deepStrictEqual(
      receiver.arrived.map(({ headers }) => headers["x-platform-attempt"]),
      ["1", "2"]
    )

    const disabled = await done("POST", `/webhooks/${id}/disable`)
    assert.deepStrictEqual([disabled.status, disabled.cause], ["disabled", "owner"])
    const since = new Date(clock.nowMs()).toISOString()
    await done("POST", "/agents", { name: "b", org_unit: "claims" })
    const refused = await call("POST", `/webhooks/${id}/deliveries/${waiting!.id}/redeliver`)
    assert.deepStrictEqual([refused.status, refused.json.code], [409, "webhook_not_active"])
    await done("POST", `/webhooks/${id}/enable`)
    assert.deepStrictEqual(await done("POST", `/webhooks/${id}/recover`, { since }), {
      count: 1,
      dry_run: false,
      has_more: false
    })
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
    assert.deepStrictEqual(
      [
        receiver.arrived[0]!.event.type,
        receiver.arrived[0]!.event.id,
        receiver.arrived[0]!.headers["webhook-sequence"]
      ],
      ["webhook.test", good.event_id, "0"]
    )
    receiver.answer = (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()
    assert.deepInclude(await done("POST", `/webhooks/${id}/test`), {
      delivered: false,
      status_code: 302,
      error: "redirect"
    })
    await receiver.close()
    assert.deepInclude(await done("POST", `/webhooks/${id}/test`), {
      delivered: false,
      status_code: null,
      error: "connect"
    })
    assert.deepStrictEqual(
      [await deliveries(id), await world.size(), (await done("GET", `/webhooks/${id}`)).status],
      [[], size, "active"]
    )
  })
})

describe("an address that must not be reached", () => {
  const bad = async (world: World, url: string) =>
    await world.send("POST", "/api/v1/webhooks", { token: world.admin, json: { url, events: ["agent.registered"] } })

  it("is refused when a webhook is made, and a name that leads there at each attempt", async () => {
    const world = closing(
      await openWorld({
        jobs: deliveryEngine(),
        webhooks: Layer.mergeAll(
          webhookSender({ resolve: () => Promise.resolve(["10.0.0.7"]) }),
          memorySecretBox,
          logMailer
        )
      })
    )
    for (const url of [
      "https://127.0.0.1/",
      "https://10.0.0.7/",
      "https://[::ffff:10.0.0.7]/",
      "https://169.254.169.254/",
      "https://2130706433/"
    ]) {
      const got = await bad(world, url)
      assert.deepStrictEqual([got.status, got.json.detail[0].loc], [422, ["body", "url"]], url)
    }
    const made = await bad(world, "https://intranet.example.org/hook")
    assert.strictEqual(made.status, 201)
    const tried = await world.send("POST", `/api/v1/webhooks/${made.json.id}/test`, { token: world.admin })
    assert.deepInclude(tried.json, { delivered: false, status_code: null, error: "ssrf_blocked" })
  })
})
