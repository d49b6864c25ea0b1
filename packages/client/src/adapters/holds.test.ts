import { afterEach, assert, describe, it } from "vitest"
import { ActionDenied } from "../enforce/denied.ts"
import { CallCancelled, makeHolds } from "./holds.ts"
import { governedAgent, until } from "./testing/governed-agent.ts"

let close: () => Promise<unknown> = () => Promise.resolve()
afterEach(() => close())

/** An agent whose refunds a person must approve. */
const world = async (holdMs?: number) => {
  const governed = await governedAgent()
  close = () => governed.client.close()
  governed.script.verdict = ({ action }) => (action === "refund" ? "require_review" : "allow")
  const { agent } = governed
  const holds = makeHolds({ agent, reviews: agent.reviews, holdMs })
  const ran: Array<unknown> = []
  const call = (name: string, args: { readonly [name: string]: number }, signal?: AbortSignal): Promise<string> =>
    holds
      .guard({ name }, args, () => void ran.push(args), signal)
      .then(
        () => "ran",
        (cause: unknown) =>
          cause instanceof ActionDenied ? `${cause.outcome}: ${cause.message}` : (cause as Error).name
      )
  return { ...governed, call, ran }
}

describe("a call that a person must approve", () => {
  it("runs once when it is approved while it waits, and is witnessed once", async () => {
    const { call, ran, resolve, waits, witnessed } = await world()
    const calling = call("refund", { amount: 900 })
    await until(() => waits() === 1)
    assert.lengthOf(ran, 0)
    resolve("rev_1", "approve")
    assert.strictEqual(await calling, "ran")
    assert.lengthOf(ran, 1)
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], { status: "ok", approval_id: "rev_1", evaluation_id: "evl_2" })
  })

  it("is refused with the person's answer when it is rejected", async () => {
    const { call, ran, resolve, waits } = await world()
    const calling = call("refund", { amount: 900 })
    await until(() => waits() === 1)
    resolve("rev_1", "reject")
    assert.match(await calling, /^deny: .*The review rev_1 ended: reject\./)
    assert.lengthOf(ran, 0)
  })

  it("is pending when nobody answers in time, and the same call continues later", async () => {
    const { call, ran, resolve, reviews } = await world(10)
    assert.match(await call("refund", { amount: 900 }), /^require_review: pending rev_1: /)
    assert.match(await call("refund", { amount: 900 }), /^require_review: pending rev_1: /)
    resolve("rev_1", "approve")
    assert.strictEqual(await call("refund", { amount: 900 }), "ran")
    assert.strictEqual(reviews.size, 1)
    assert.lengthOf(ran, 1)
    // The approval is used up.
    assert.match(await call("refund", { amount: 900 }), /pending rev_2/)
    assert.lengthOf(ran, 1)
  })

  it("does not continue with other arguments, nor as another action", async () => {
    const { call, ran, resolve, seen } = await world(0)
    await call("refund", { amount: 900 })
    resolve("rev_1", "approve")
    assert.match(await call("refund", { amount: 901 }), /pending rev_2/)
    await call("lookup", { amount: 900 })
    assert.deepStrictEqual(ran, [{ amount: 900 }], "the look-up ran")
    const approvals = seen.flatMap(({ json }) => (json?.approval_id === undefined ? [] : [json.approval_id]))
    assert.deepStrictEqual(approvals, [])
  })

  it("ends its wait at once when the agent is halted", async () => {
    const { call, halt, ran, waits } = await world()
    const calling = call("refund", { amount: 900 })
    await until(() => waits() === 1)
    await halt()
    assert.match(await calling, /^require_review: pending rev_1/)
    assert.match(await call("refund", { amount: 900 }), /^halt: /)
    assert.lengthOf(ran, 0)
  })

  it("does not hold up the calls behind it", async () => {
    const { call, waits } = await world()
    void call("refund", { amount: 900 })
    assert.strictEqual(await call("lookup", {}), "ran")
    assert.strictEqual(waits(), 1)
  })
})

describe("calls of one batch", () => {
  it("are judged in the order in which they came", async () => {
    const { call, evaluated } = await world()
    await Promise.all(["a", "b", "c", "d"].map((name) => call(name, {})))
    assert.deepStrictEqual(
      evaluated.map(({ action }) => action),
      ["a", "b", "c", "d"]
    )
  })

  it("do not begin after a halt that came in between", async () => {
    const { agent, client, script } = await world()
    const holds = makeHolds({ agent })
    let ran = 0
    const first = holds.guard({ name: "first" }, {}, async ({ signal }) => {
      script.halted = true
      await agent.kill.refresh()
      assert.isTrue(signal.aborted)
      ran++
    })
    const others = [1, 2, 3].map((n) => holds.guard({ name: "next" }, { n }, () => ran++).then(String, String))
    await first
    for (const one of await Promise.all(others)) assert.match(one, /ActionDenied/)
    assert.strictEqual(ran, 1)
    await client.flush()
  })

  it("do not begin when their caller gave up", async () => {
    const { call, ran, waits } = await world()
    const ending = new AbortController()
    const calling = call("refund", { amount: 900 }, ending.signal)
    await until(() => waits() === 1)
    ending.abort()
    assert.match(await calling, /pending rev_1/)
    assert.strictEqual(await call("lookup", {}, ending.signal), CallCancelled.name)
    assert.lengthOf(ran, 0)
  })
})

describe("the time of a hold", () => {
  it("is at most 55 seconds", async () => {
    const { agent } = await world()
    assert.throws(() => makeHolds({ agent, holdMs: 55_001 }), RangeError)
    assert.throws(() => makeHolds({ agent, holdMs: -1 }), RangeError)
  })
})
