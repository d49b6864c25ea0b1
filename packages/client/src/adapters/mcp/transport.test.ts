import { afterEach, assert, describe, it } from "vitest"
import { governedAgent, until } from "../testing/governed-agent.ts"
import { connectInRounds, connections, type Deeds } from "./testing/servers.ts"
import { type CallOptions, DENIED_META, governTransport, type TransportLike } from "./index.ts"

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** A governed agent whose refunds over 100 are denied and over 50 reviewed, and the deeds of its tools. */
const world = async (options: CallOptions = {}) => {
  const governed = await governedAgent({ redact: ["token"] })
  endings.push(() => governed.client.close())
  governed.script.verdict = ({ action, signals }) =>
    action !== "refund" ? "allow" : Number(signals["amount"]) > 100 ? "deny" : "allow"
  const deeds: Deeds = { ran: [], slow: [] }
  const around = <T extends Parameters<typeof governTransport>[0]>(transport: T): T =>
    governTransport(transport, governed.agent, { toolServer: "shop", ...options })
  return { ...governed, around, deeds }
}

describe.each(connections)("a governed transport of $name", ({ connect }) => {
  const connected = async (options: CallOptions = {}) => {
    const made = await world(options)
    const tools = await connect(made.around, made.deeds)
    endings.push(() => tools.close())
    return { ...made, tools }
  }

  it("runs an allowed call once, and witnesses it once with outcome, latency and result", async () => {
    const { deeds, tools, witnessed } = await connected()
    const answer = await tools.callTool({ name: "refund", arguments: { amount: 5, token: "hunter2" } })
    assert.strictEqual(answer.text, "refunded 5")
    assert.deepStrictEqual(
      deeds.ran.map(({ tool }) => tool),
      ["refund"]
    )
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], {
      action: "refund",
      kind: "tool_call",
      status: "ok",
      tool_server: "shop",
      decided_by: "server",
      args: { amount: 5, token: "[redacted]" }
    })
    assert.isNumber(decisions[0].latency_ms)
    assert.include(JSON.stringify(decisions[0].result), "refunded 5")
  })

  it("answers a denied call as a tool's error with the reason, and the server never sees it", async () => {
    const { deeds, tools, witnessed } = await connected()
    const answer = await tools.callTool({ name: "refund", arguments: { amount: 900 } })
    assert.isTrue(answer.isError)
    assert.match(answer.text, /did not run: deny by rule-deny/)
    assert.deepStrictEqual((answer.raw._meta as { [name: string]: unknown })[DENIED_META], {
      outcome: "deny",
      rule: "rule-deny",
      reason: "",
      review_id: null
    })
    assert.lengthOf(deeds.ran, 0)
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], { status: "denied", evaluation_id: "evl_1" })
  })

  it("witnesses a tool's own failure as an error with its result", async () => {
    const { tools, witnessed } = await connected()
    assert.strictEqual((await tools.callTool({ name: "fail", arguments: {} })).text, "no such order")
    const [decision] = await witnessed()
    assert.strictEqual(decision.status, "error")
    assert.include(JSON.stringify(decision.result), "no such order")
  })

  it("denies where the service is away", async () => {
    const { deeds, script, tools } = await connected()
    script.isAway = true
    const answer = await tools.callTool({ name: "lookup", arguments: {} })
    assert.isTrue(answer.isError)
    assert.match(answer.text, /@fail_closed:unreachable/)
    assert.lengthOf(deeds.ran, 0)
    script.isAway = false
  })

  it("holds a call until a person approved it", async () => {
    const { deeds, resolve, script, tools, waits } = await connected()
    script.verdict = () => "require_review"
    const calling = tools.callTool({ name: "refund", arguments: { amount: 60 } })
    await until(() => waits() === 1)
    assert.lengthOf(deeds.ran, 0)
    resolve("rev_1", "approve")
    assert.strictEqual((await calling).text, "refunded 60")
    assert.lengthOf(deeds.ran, 1)
  })

  it("answers pending after the hold, and the same call continues later, but no other", async () => {
    const { deeds, resolve, script, tools } = await connected({ holdMs: 5 })
    script.verdict = () => "require_review"
    const pending = await tools.callTool({ name: "refund", arguments: { amount: 60 } })
    assert.isTrue(pending.isError)
    assert.match(pending.text, /^pending rev_1: /)
    resolve("rev_1", "approve")
    assert.match((await tools.callTool({ name: "refund", arguments: { amount: 61 } })).text, /^pending rev_2: /)
    assert.strictEqual((await tools.callTool({ name: "refund", arguments: { amount: 60 } })).text, "refunded 60")
    assert.lengthOf(deeds.ran, 1)
  })

  it("stops what runs and its siblings on a halt", async () => {
    const { deeds, halt, tools, witnessed } = await connected()
    const running = tools.callTool({ name: "slow", arguments: {} })
    await until(() => deeds.slow.length === 1)
    const halting = halt()
    const siblings = [1, 2, 3].map((amount) => tools.callTool({ name: "refund", arguments: { amount } }))
    await halting
    assert.match((await running).text, /halted while the action slow ran/)
    for (const one of await Promise.all(siblings)) assert.isTrue(one.isError)
    assert.deepStrictEqual(
      deeds.ran.map(({ tool }) => tool),
      ["slow"]
    )
    deeds.slow[0]!()
    const statuses = (await witnessed()).map(({ action, status }) => `${action} ${status}`)
    assert.sameMembers(statuses, ["slow error", "refund denied", "refund denied", "refund denied"])
  })

  it("never sends a call that its caller cancelled while it was held", async () => {
    const { deeds, resolve, script, tools, waits } = await connected()
    script.verdict = () => "require_review"
    const ending = new AbortController()
    const calling = tools.callTool({ name: "refund", arguments: { amount: 60 } }, { signal: ending.signal })
    const failed = calling.then(
      () => "answered",
      () => "cancelled"
    )
    await until(() => waits() === 1)
    ending.abort()
    assert.strictEqual(await failed, "cancelled")
    await until(() => waits() === 0)
    resolve("rev_1", "approve")
    script.verdict = () => "allow"
    await tools.callTool({ name: "lookup", arguments: {} })
    assert.deepStrictEqual(
      deeds.ran.map(({ tool }) => tool),
      ["lookup"]
    )
  })

  it("passes the list of tools, and witnesses it as what the server answered", async () => {
    const { tools, witnessed } = await connected()
    assert.deepStrictEqual([...(await tools.listTools())].sort(), ["fail", "lookup", "refund", "slow"])
    const lists = (await witnessed()).filter(({ kind }) => kind === "tool_list")
    assert.lengthOf(lists, 1)
    assert.deepInclude(lists[0], { action: "tools/list", status: "ok", mode: "observed", tool_server: "shop" })
    assert.deepStrictEqual(lists[0].result.tools.map(({ name }: { name: string }) => name).sort(), [
      "fail",
      "lookup",
      "refund",
      "slow"
    ])
  })

  it("witnesses a call as failed whose connection ended", async () => {
    const { deeds, tools, witnessed } = await connected()
    const failed = tools.callTool({ name: "slow", arguments: {} }).then(
      () => "answered",
      () => "failed"
    )
    await until(() => deeds.slow.length === 1)
    await tools.close()
    assert.strictEqual(await failed, "failed")
    const [decision] = await witnessed()
    assert.deepInclude(decision, { action: "slow", status: "error" })
    deeds.slow[0]!()
  })
})

describe("a call whose message the host's code changes while it is held", () => {
  it("is sent as it was judged", async () => {
    const { agent, deeds, resolve, script, waits } = await world()
    script.verdict = () => "require_review"
    const sent: Array<unknown> = []
    const inner: TransportLike = {
      start: async () => undefined,
      send: async (message) => void sent.push(structuredClone(message)),
      close: async () => undefined
    }
    const governed = governTransport(inner, agent)
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "refund", arguments: { amount: 5 }, _meta: { a: 1 } }
    }
    const sending = governed.send(message)
    await until(() => waits() === 1)
    message.params.name = "lookup"
    message.params._meta.a = 2
    message.params.arguments = { amount: 900 }
    resolve("rev_1", "approve")
    await sending
    const { params } = sent[0] as typeof message
    assert.deepStrictEqual(params, { name: "refund", arguments: { amount: 5 }, _meta: { a: 1 } })
    assert.lengthOf(deeds.ran, 0)
    await governed.close()
  })
})

describe("a call in several rounds", () => {
  it("is judged in each round, and the server's requestState opens nothing", async () => {
    const { around, deeds, evaluated, script } = await world()
    let rounds = 0
    script.verdict = ({ action }) => (action === "transfer" && ++rounds > 1 ? "deny" : "allow")
    const tools = await connectInRounds(around, deeds, () => true)
    endings.push(() => tools.close())
    const answer = await tools.callTool({ name: "transfer", arguments: { amount: 5 } })
    assert.isTrue(answer.isError)
    assert.lengthOf(deeds.ran, 0)
    assert.lengthOf(evaluated, 2)
  })

  it("binds an approval to what the client answered in between", async () => {
    const { around, deeds, resolve, script, seen } = await world({ holdMs: 0 })
    let sure = true
    let rounds = 0
    script.verdict = ({ action }) => (action === "transfer" && ++rounds % 2 === 0 ? "require_review" : "allow")
    const tools = await connectInRounds(around, deeds, () => sure)
    endings.push(() => tools.close())
    assert.match((await tools.callTool({ name: "transfer", arguments: { amount: 5 } })).text, /^pending rev_1/)
    resolve("rev_1", "approve")
    sure = false
    assert.match((await tools.callTool({ name: "transfer", arguments: { amount: 5 } })).text, /^pending rev_2/)
    assert.lengthOf(deeds.ran, 0)
    sure = true
    assert.strictEqual((await tools.callTool({ name: "transfer", arguments: { amount: 5 } })).text, "transferred")
    const amounts = seen.flatMap(({ json }) => (json?.action === "transfer" ? [json.signals.amount] : []))
    assert.isTrue(
      amounts.every((amount) => amount === 5),
      "each round has the arguments as signals"
    )
  })
})
