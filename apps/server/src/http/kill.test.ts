/** The kill switch over HTTP: polling, events, quarantine, and each wrong input. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, type World } from "./http-world.ts"

const AT = "/api/v1/bound/kill"
let world: World
let count = 0
const fresh = (): string => `killed-${count++}`

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const admin = (method: string, path: string, json?: unknown, headers: { readonly [name: string]: string } = {}) =>
  world.send(method, path, { token: world.admin, headers, ...(json === undefined ? {} : { json }) })
const activate = async (target_id: string, more: object = {}): Promise<string> => {
  const got = await admin("POST", `${AT}/activate`, { target_type: "agent", target_id, reason: "Pays twice.", ...more })
  assert.strictEqual(got.status, 201, got.text)
  return got.json.activation_event
}
const release = (activation_event: string) => admin("POST", `${AT}/release`, { activation_event, reason: "Repaired." })
const statusOf = (agent: string, more = ""): string => `${AT}/status?target_type=agent&target_id=${agent}${more}`

describe("kill status", () => {
  it("is answered 304 to who knows it, until it changes", async () => {
    const agent = await world.register(fresh())
    const first = await admin("GET", statusOf(agent))
    const etag = first.headers.get("etag")!
    assert.match(etag, /^"k-[0-9a-f]{32}"$/)
    assert.strictEqual(first.headers.get("cache-control"), "private, max-age=5, must-revalidate")
    const again = () => admin("GET", statusOf(agent), undefined, { "if-none-match": etag })
    assert.deepStrictEqual([(await again()).status, (await again()).text], [304, ""])
    const activation = await activate(agent)
    const changed = await again()
    assert.deepStrictEqual(
      [changed.status, changed.json.halted, changed.json.activation_event],
      [200, true, activation]
    )
    assert.isAbove(changed.json.epoch, first.json.epoch)
  })

  it("with wait_ms is answered when it changes, and not before", async () => {
    const agent = await world.register(fresh())
    const etag = (await admin("GET", statusOf(agent))).headers.get("etag")!
    assert.strictEqual(
      (await admin("GET", statusOf(agent, "&wait_ms=50"), undefined, { "if-none-match": etag })).status,
      304
    )
    const waiting = admin("GET", statusOf(agent, "&wait_ms=25000"), undefined, { "if-none-match": etag })
    await activate(agent)
    const answered = await waiting
    assert.deepStrictEqual([answered.status, answered.json.halted], [200, true])
    // Who knows no state waits for none.
    assert.strictEqual((await admin("GET", statusOf(agent, "&wait_ms=25000"))).status, 200)
  })

  it("with a nonce is signed, and kept by nobody", async () => {
    const agent = await world.register(fresh())
    const { headers, json } = await admin("GET", statusOf(agent, "&nonce=n-1"))
    assert.deepStrictEqual([json.nonce, headers.get("etag"), headers.get("cache-control")], ["n-1", null, "no-store"])
    const { json: keys } = await admin("GET", "/api/v1/chain/keys")
    assert.strictEqual(json.key_id, keys.keys.at(-1).key_id)
    assert.match(json.signature, /^[A-Za-z0-9+/]{86}==$/)
  })

  it("is read by the keys of the agent's org unit, and by no others", async () => {
    const agent = await world.register(fresh())
    assert.strictEqual((await world.send("GET", statusOf(agent), { token: world.key })).status, 200)
    assert.strictEqual((await world.send("GET", statusOf(agent), { token: world.otherKey })).status, 404)
  })
})

describe("kill events", () => {
  it("come now and with each change of its target, and end when the server drains", async () => {
    const own = await openWorld()
    const agent = await own.register(fresh())
    const other = await own.register(fresh())
    const response = await fetch(`${own.url}${AT}/stream?target_type=agent&target_id=${agent}`, {
      headers: { authorization: `Bearer ${own.key}`, "last-event-id": "0" }
    })
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await reader.read()).value!
    assert.match(first, /^id: 0\nevent: kill\ndata: \{.*"halted":false.*\}\n\n$/)
    for (const target_id of [other, agent])
      await own.send("POST", `${AT}/activate`, {
        token: own.admin,
        json: { target_type: "agent", target_id, reason: "Pays twice." }
      })
    const second = (await reader.read()).value!
    assert.match(second, /^id: 2\nevent: kill\ndata: \{.*"halted":true.*\}\n\n$/)
    const closed = own.close()
    const last = await reader.read()
    assert.isTrue(last.done)
    await closed
  })
})

describe("a quarantined agent", () => {
  it("is closed to ingest keys in its reviews too", async () => {
    const post = async (path: string, json: unknown, token = world.admin) => {
      const got = await world.send("POST", `/api/v1${path}`, { token, json })
      assert.isBelow(got.status, 300, got.text)
      return got.json
    }
    const envelope = {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
      effects: { pay: "read" },
      rules: [{ id: "all", outcome: "require_review", when: [] }],
      default: { outcome: "deny" }
    }
    const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
    const { id: agent } = await post("/agents", { name: fresh(), ...owner }, world.key)
    const { id } = await post("/bound/envelopes", { name: fresh(), agent_id: agent, envelope })
    await post(`/bound/envelopes/${id}/publish`, {}, await world.token("governor", "*"))
    await post(`/agents/${agent}/activate`, {})
    const request = { agent_id: agent, client_ref: fresh(), signals: { tool: "pay" }, args: {} }
    const { review_id: review } = await post("/bound/evaluations", request, world.key)
    const key = (method: string, path: string) =>
      world.send(method, `/api/v1/bound/reviews/${review}${path}`, {
        token: world.key,
        ...(method === "POST" ? { json: {} } : {})
      })
    assert.strictEqual((await key("GET", "")).status, 200)
    await activate(agent, { response: "quarantine" })
    for (const { json, status, text } of [await key("GET", ""), await key("POST", "/withdraw")])
      assert.deepStrictEqual([status, json?.code], [403, "agent_quarantined"], text)
    assert.strictEqual((await admin("GET", `/api/v1/bound/reviews/${review}`)).status, 200)
  })

  it("is closed to ingest keys but for kill status, stream and acknowledgement; keys stay", async () => {
    const agent = await world.register(fresh())
    const other = await world.register(fresh())
    const key = (method: string, path: string, json?: unknown) =>
      world.send(method, path, { token: world.key, ...(json === undefined ? {} : { json }) })
    const witness = (of: string) =>
      key("POST", `/api/v1/agents/${of}/decisions`, { client_ref: fresh(), action: "pay" })
    const decision = (await witness(agent)).json.receipts[0].decision_id
    const evaluate = () =>
      key("POST", "/api/v1/bound/evaluations", { agent_id: agent, client_ref: fresh(), signals: {} })
    const evaluation = (await evaluate()).json.id
    const activation = await activate(agent, { response: "quarantine" })
    const size = await world.size()
    const refused = [
      await witness(agent),
      await evaluate(),
      await key("POST", `/api/v1/decisions/${decision}/settle`, { status: "ok" }),
      await key("GET", `/api/v1/bound/evaluations/${evaluation}`),
      await key("GET", `/api/v1/bound/evaluations?agent_id=${agent}`),
      await key("GET", `/api/v1/agents/${agent}`),
      await key("GET", `/api/v1/agents/${agent}/decisions`),
      await key("POST", `${AT}/request`, { agent_id: agent, reason: "Let me go." })
    ]
    for (const { json, status, text } of refused)
      assert.deepStrictEqual([status, json?.code], [403, "agent_quarantined"], text)
    assert.strictEqual(await world.size(), size, "nothing is recorded")
    assert.deepInclude((await key("GET", statusOf(agent))).json, { halted: true, response: "quarantine" })
    assert.strictEqual((await key("GET", `${AT}/stream?target_type=agent&target_id=${agent}`)).status, 200)
    assert.strictEqual(
      (await key("POST", `${AT}/ack`, { activation_event: activation, instance_id: "pod-1", stopped: true })).status,
      201
    )
    assert.strictEqual((await witness(other)).status, 201)
    assert.strictEqual((await key("GET", "/api/v1/me")).status, 200)
    assert.strictEqual((await world.send("GET", `/api/v1/agents/${agent}`, { token: world.otherKey })).status, 404)
    assert.strictEqual((await admin("GET", `/api/v1/agents/${agent}`)).status, 200)
    assert.strictEqual((await release(activation)).status, 200)
    assert.strictEqual((await witness(agent)).status, 201)
  })
})

describe("wrong input", () => {
  it("gets the documented answer, and nothing is recorded", async () => {
    const agent = await world.register(fresh())
    const elsewhere = await world.register(fresh(), OTHER_UNIT)
    const none = `agt_${"0".repeat(26)}`
    const active = await activate(agent)
    const over = await activate(agent)
    await release(over)
    const operator = await world.token("operator", "claims")
    await world.send("GET", `${AT}/events`, { token: operator })
    await world.send("POST", `${AT}/activate`, {
      token: operator,
      json: { target_type: "agent", target_id: none, reason: "x" }
    })
    const size = await world.size()
    const body = { target_type: "agent", target_id: agent, reason: "Pays twice." }
    const as = (token: string) => (method: string, path: string, json?: unknown) =>
      world.send(method, path, { token, ...(json === undefined ? {} : { json }) })
    const [key, foreign, unit] = [as(world.key), as(world.otherKey), as(operator)]
    const cases: ReadonlyArray<readonly [expected: number, got: Awaited<ReturnType<typeof admin>>]> = [
      [422, await admin("POST", `${AT}/activate`, { ...body, target_type: "org_unit" })],
      [422, await admin("POST", `${AT}/activate`, { ...body, target_id: "" })],
      [422, await admin("POST", `${AT}/activate`, { ...body, response: "stop" })],
      [422, await admin("POST", `${AT}/activate`, { ...body, reason: " " })],
      [404, await admin("POST", `${AT}/activate`, { ...body, target_id: none })],
      [404, await admin("POST", `${AT}/activate`, { ...body, target_id: "flyball:channel" })],
      [
        404,
        await admin("POST", `${AT}/activate`, { ...body, target_type: "model", target_id: `mdl_${"0".repeat(26)}` })
      ],
      [404, await unit("POST", `${AT}/activate`, { ...body, target_id: elsewhere })],
      [403, await unit("POST", `${AT}/activate`, { ...body, target_type: "model", target_id: "gpt-9" })],
      [403, await key("POST", `${AT}/activate`, body)],
      [403, await key("POST", `${AT}/release`, { activation_event: active, reason: "x" })],
      [409, await release(over)],
      [404, await release(`kil_${"0".repeat(26)}`)],
      [404, await foreign("POST", `${AT}/ack`, { activation_event: active, instance_id: "pod" })],
      [422, await key("POST", `${AT}/ack`, { activation_event: active, instance_id: "a pod" })],
      [409, await key("POST", `${AT}/ack`, { activation_event: over, instance_id: "pod" })],
      [404, await foreign("POST", `${AT}/request`, { agent_id: agent, reason: "x" })],
      [422, await key("POST", `${AT}/request`, { agent_id: agent })],
      [422, await key("GET", `${AT}/status`)],
      [422, await key("GET", `${AT}/status?target_type=unit&target_id=x`)],
      [422, await key("GET", `${AT}/status?target_type=agent&target_id=`)],
      [422, await key("GET", statusOf(agent, "&wait_ms=25001"))],
      [422, await key("GET", statusOf(agent, `&nonce=${"n".repeat(10_240)}`))],
      [404, await key("GET", statusOf(none))],
      [404, await foreign("GET", statusOf(agent))],
      [404, await foreign("GET", `${AT}/stream?target_type=agent&target_id=${agent}`)]
    ]
    cases.forEach(([expected, { status, text }], place) => assert.strictEqual(status, expected, `${place}: ${text}`))
    assert.strictEqual(await world.size(), size, "nothing is recorded")
  })
})
