import { afterEach, assert, describe, it } from "vitest"
import { type Client, type ClientOptions, openClient } from "./client.ts"
import { memorySpool } from "./capture/spool.ts"
import { ServerRefused } from "./http/server-refused.ts"
import type { Problem } from "./problem.ts"
import { manualClock, settled } from "./testing/manual-clock.ts"
import { type Scripted, scriptedFetch } from "./testing/scripted-server.ts"
import { verdictAnswer } from "./testing/verdict-answer.ts"

const status = {
  halted: false,
  drill: false,
  activation_event: null,
  effective_response: null,
  epoch: 1,
  origin: "a/b"
}

let client: Client | null = null
afterEach(() => client?.close())

/** A client whose server answers a look-up so. */
const world = (
  lookUp: Scripted = { status: 200, json: [{ id: "agt_1", name: "bot" }] },
  more: Partial<ClientOptions> = {},
  isDead = () => false
) => {
  const clock = manualClock()
  const problems: Array<Problem> = []
  const { fetch, seen } = scriptedFetch(({ json, path }): Scripted => {
    if (path.startsWith("/api/v1/agents?")) return lookUp
    if (path === "/api/v1/agents") return { status: 201, json: { id: "agt_new", name: json.name } }
    if (path.includes("/kill/status")) return { status: 200, json: status }
    if (path.endsWith("/evaluations")) return { status: 201, json: verdictAnswer() }
    if (path.endsWith("/instances/end")) return isDead() ? "hang" : { status: 201, json: {} }
    if (path.includes("/decisions"))
      return {
        status: 201,
        json: {
          receipts: json.decisions.map(({ client_ref }: { client_ref: string }) => ({ client_ref, duplicate: false }))
        }
      }
    return "hang"
  })
  client = openClient({
    url: "http://flyball.test",
    key: "k",
    fetch,
    clock,
    onProblem: (problem) => void problems.push(problem),
    ...more
  })
  return { client, clock, problems, seen }
}

describe("the options of a client", () => {
  it("name what is wrong with an address or a key, and never show the key", () => {
    for (const [options, message] of [
      [{ url: undefined }, /^url must be the address of a Flyball server, as https:.*; it is undefined\.$/],
      [{ url: "" }, /it is ""/],
      [{ url: "localhost:8787" }, /it is "localhost:8787"/],
      [{ url: "127.0.0.1:8787" }, /it is "127.0.0.1:8787"/],
      [{ url: "file:///etc" }, /it is "file:/],
      [{ key: undefined }, /^key must be the text of an ingest key; it is undefined\.$/],
      [{ key: "" }, /it is empty/],
      [{ key: "secret key" }, /this one has spaces/],
      [{ key: "secret\n" }, /this one has spaces/]
    ] as const)
      try {
        openClient({ url: "http://flyball.test", key: "k", ...options } as ClientOptions)
        assert.fail(`taken: ${JSON.stringify(options)}`)
      } catch (cause) {
        assert.instanceOf(cause, TypeError)
        assert.match(cause.message, message)
        assert.notInclude(cause.message, "secret")
      }
    for (const timeoutMs of [0, -1, Number.NaN])
      assert.throws(() => openClient({ url: "http://flyball.test", key: "k", timeoutMs }), RangeError)
  })
})

describe("the options of a client, where they are mistaken", () => {
  it("are refused where less would be recorded than was meant", () => {
    const open = (more: object) => openClient({ url: "http://flyball.test", key: "k", ...more } as ClientOptions)
    assert.throws(() => open({ capture: "stict" }), RangeError, 'capture must be "spool" or "strict"; it is "stict".')
    assert.throws(() => open({ spool: "./spool" }), TypeError, 'fileSpool(folder); it is "./spool".')
  })

  it("may have a log that throws: nothing else ends by it", async () => {
    const onProblem = (): never => {
      throw new Error("the log is broken")
    }
    const { client } = world(undefined, { onProblem })
    const agent = await client.register({ name: "bot" })
    await client.close()
    assert.isNull(await agent.witness({ action: "too late" }))
  })
})

describe("a registration", () => {
  it("gives the same agent again, with one watch over its halts", async () => {
    const { client, seen } = world()
    const [first, second] = [await client.register({ name: "bot" }), await client.register({ name: "bot" })]
    await settled()
    assert.strictEqual(first.kill, second.kill)
    assert.lengthOf(
      seen.filter(({ path }) => path.includes("/kill/stream")),
      1
    )
  })

  it("takes no answer for an agent that is another, or none", async () => {
    for (const json of [[{}], [{ id: 7, name: "bot" }], [{ id: "agt_1", name: "bot2" }], [null], {}, null]) {
      const { client } = world({ status: 200, json })
      const failed = await client.register({ name: "bot" }).catch((cause: unknown) => cause)
      assert.instanceOf(failed, ServerRefused, JSON.stringify(json))
      await client.close()
    }
    const { client } = world({ status: 200, json: [] })
    assert.strictEqual((await client.register({ name: "bot" })).id, "agt_new")
  })

  it("finds an agent whose name is written in another form of Unicode, as the server keeps it", async () => {
    const { client } = world({ status: 200, json: [{ id: "agt_1", name: "caf\u00e9" }] })
    assert.strictEqual((await client.register({ name: "cafe\u0301" })).id, "agt_1")
  })

  it("leaves it to the server to refuse half a surrogate pair", async () => {
    const { client, seen } = world({ status: 200, json: [] })
    await client.register({ name: "\ud83d" })
    assert.strictEqual(seen[1]!.json.name, "\ud83d")
  })

  it("says what stands in the way", async () => {
    for (const [answer, message] of [
      ["cut", "The agent could not be looked up: ECONNRESET"],
      [{ status: 503 }, "The agent could not be looked up: status 503"],
      [
        { status: 401, json: { code: "unauthorized", detail: "A valid bearer token is needed." } },
        "The agent could not be looked up: status 401 unauthorized: A valid bearer token is needed."
      ],
      [
        { status: 200, text: "<h1>Welcome</h1>" },
        "The agent could not be looked up: status 200, which is no answer of a Flyball server: <h1>Welcome</h1>"
      ]
    ] as const) {
      const { client } = world(answer)
      const failed = await client.register({ name: "bot" }).catch((cause: unknown) => cause as ServerRefused)
      assert.strictEqual((failed as ServerRefused).message, message)
      await client.close()
    }
  })
})

describe("the end of a client", () => {
  it("comes once, begins no action afterwards, and says what comes too late", async () => {
    let closed = 0
    const spool = { ...memorySpool(), close: async () => void closed++ }
    const { client, problems } = world(undefined, { spool })
    const agent = await client.register({ name: "bot" })
    await settled()
    let end = (): void => undefined
    const action = { name: "refund", signals: { tool: "refund" } }
    const running = agent.guard(action, {}, () => new Promise<string>((resolve) => (end = () => resolve("done"))))
    await settled()
    assert.strictEqual(await client.close(), await client.close())
    await client[Symbol.asyncDispose]()
    assert.strictEqual(closed, 1)
    let ran = 0
    const denied = await agent.guard("refund", {}, () => ++ran).catch((cause: unknown) => String(cause))
    assert.include(denied, "deny by @stale_status")
    assert.include(denied, "the client is closed")
    assert.strictEqual(ran, 0)
    end()
    assert.strictEqual(await running, "done")
    assert.deepStrictEqual(problems, Array(2).fill({ kind: "lost", reason: "closed", count: 1 }))
  })
  it("tells the server that the instance of each agent ended, once and after its decisions", async () => {
    const { client, seen } = world(undefined, { instanceId: "pod-1" })
    const agent = await client.register({ name: "bot" })
    await agent.witness({ kind: "tool_call", action: "act", status: "ok" })
    await client.close()
    await client.close()
    const sent = seen.filter(({ method }) => method === "POST").map(({ json, path }) => [path, json.instance_id])
    assert.deepStrictEqual(sent, [
      ["/api/v1/agents/agt_1/decisions", undefined],
      ["/api/v1/agents/agt_1/instances/end", "pod-1"]
    ])
  })

  it("waits two seconds at most for a server that does not answer", async () => {
    const { client, clock } = world(undefined, { timeoutMs: 60_000 }, () => true)
    await client.register({ name: "bot" })
    let isOver = false
    const closing = client.close().then(() => (isOver = true))
    await clock.advance(1_999)
    assert.isFalse(isOver)
    await clock.advance(1)
    assert.isTrue(await closing)
  })

  it("refuses a registration, so that no watch begins that would never end", async () => {
    const { client, seen } = world()
    await client.close()
    const failed = await client.register({ name: "bot" }).catch((cause: unknown) => cause)
    assert.instanceOf(failed, ServerRefused)
    assert.deepInclude(failed as object, { status: 0, answer: "the client is closed" })
    assert.strictEqual(seen.length, 0)
  })

  it("refuses a registration that was under way, and follows no agent", async () => {
    const { client, seen } = world()
    const registering = client.register({ name: "bot" }).catch((cause: unknown) => cause)
    const closing = client.close()
    assert.deepInclude((await registering) as object, { status: 0, answer: "the client is closed" })
    await closing
    await settled()
    assert.deepStrictEqual(
      seen.filter(({ path }) => path.includes("/kill/")),
      []
    )
  })
})
