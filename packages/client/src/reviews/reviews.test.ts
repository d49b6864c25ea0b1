import { afterEach, assert, describe, it } from "vitest"
import { type AgentClient, type Client, openClient } from "../client.ts"
import { ActionDenied } from "../enforce/denied.ts"
import { ServerRefused } from "../http/server-refused.ts"
import { manualClock, settled } from "../testing/manual-clock.ts"
import { scriptedFetch, type Scripted } from "../testing/scripted-server.ts"

let client: Client | null = null
afterEach(() => void client?.close())

/** A server with reviews that a test answers; it holds a question until something happens or its time is over. */
const world = async (hold?: { readonly waitMs: number }) => {
  const clock = manualClock()
  const state = {
    status: "open",
    resolution: null as string | null,
    consumed: false,
    halted: false,
    isAway: false,
    away: "cut" as Scripted
  }
  const opened: Array<string> = []
  const digests: Array<string> = []
  const { fetch: scripted, seen } = scriptedFetch((sent): Scripted => {
    const path = sent.path.split("?")[0]!
    if (state.isAway) return state.away
    if (path === "/api/v1/agents") return { status: 200, json: [{ id: "agt_1", name: "bot" }] }
    if (path.endsWith("/kill/stream")) return "hang"
    if (path.endsWith("/kill/ack")) return { status: 201, json: {} }
    if (path.endsWith("/kill/status")) {
      const { halted } = state
      const json = { halted, drill: false, activation_event: null, effective_response: halted ? "halt" : null }
      return { status: 200, json: { ...json, epoch: halted ? 2 : 1, origin: "a/b" } }
    }
    if (path.endsWith("/bound/evaluations")) {
      const { action_digest: digest, approval_id: given } = sent.json
      const isApproved = given === "rev_1" && state.resolution === "approve" && !state.consumed
      if (isApproved) state.consumed = true
      const isCounting = state.status === "open" || (state.resolution === "approve" && !state.consumed)
      const isKnown = isCounting && digests.at(-1) === digest
      if (!isApproved && !isKnown) {
        opened.push(`rev_${opened.length + 1}`)
        digests.push(digest)
      }
      return {
        status: 201,
        json: {
          id: isApproved || isKnown ? `evl_at${seen.length}` : `evl_${opened.length}`,
          outcome: isApproved ? "allow" : "require_review",
          matched_rule: "ask",
          valid_ms: 15_000,
          obligations: [],
          review_id: isApproved ? null : opened.at(-1),
          suggestion: null
        }
      }
    }
    if (path.includes("/bound/reviews/"))
      return path.endsWith("rev_none")
        ? { status: 404, json: { code: "review_not_found" } }
        : { status: 200, json: { id: "rev_1", status: state.status, resolution: state.resolution } }
    return {
      status: 201,
      json: { receipts: sent.json.decisions.map((one: { client_ref: string }) => ({ client_ref: one.client_ref })) }
    }
  })
  /** Reviews answer when they change, or when `wait_ms` is over. */
  const fetch = (async (input, init) => {
    const waitMs = Number(/[?&]wait_ms=(\d+)/.exec(String(input))?.[1] ?? 0)
    if (!state.isAway && state.status === "open")
      for (let waited = 0; waited < waitMs && state.status === "open" && init?.signal?.aborted !== true; waited += 100)
        await new Promise<void>((resolve) => clock.after(100, resolve))
    return scripted(input, init)
  }) as typeof globalThis.fetch
  const options = { url: "http://flyball.test", key: "k", fetch, clock }
  const started = async () => {
    await client?.close()
    client = openClient(hold === undefined ? options : { ...options, hold })
    const agent = await client.register({ name: "bot" })
    await settled()
    return agent
  }
  const agent = await started()
  const approvals = () =>
    seen.flatMap(({ json, path }) => (path.endsWith("/evaluations") ? [json.approval_id ?? null] : []))
  return { agent, clock, state, seen, started, approvals }
}

/** Follows a promise: its value or error; `pending` until it settles. */
const watched = (promise: Promise<unknown>) => {
  const outcome = { is: "pending" as unknown }
  promise.then(
    (value) => (outcome.is = value),
    (cause: unknown) => (outcome.is = cause)
  )
  return outcome
}

describe("waiting for a review", () => {
  it("answers when the review is resolved", async () => {
    const { agent, clock, state } = await world()
    const outcome = watched(agent.reviews.wait("rev_1", { withinMs: 120_000 }))
    await clock.advance(60_000)
    assert.strictEqual(outcome.is, "pending")
    Object.assign(state, { status: "resolved", resolution: "amend" })
    await clock.advance(200)
    assert.deepInclude(outcome.is as object, { status: "resolved", resolution: "amend" })
  })

  it("answers the open review when the time is over, which is no answer of a person", async () => {
    const { agent, clock, seen } = await world()
    const outcome = watched(agent.reviews.wait("rev_1", { withinMs: 60_000 }))
    await clock.advance(60_500)
    assert.deepInclude(outcome.is as object, { status: "open", resolution: null })
    assert.isBelow(seen.filter(({ path }) => path.includes("/reviews/")).length, 6)
  })

  for (const [what, away] of [
    ["cut off", "cut"],
    ["a page in its place", { status: 200, text: "<h1>We are back soon</h1>" }]
  ] as const)
    it(`continues while the server is away (${what}), and throws only where it never answered`, async () => {
      const { agent, clock, state } = await world()
      state.away = away
      state.isAway = true
      const outcome = watched(agent.reviews.wait("rev_1", { withinMs: 30_000 }))
      await clock.advance(10_000)
      state.isAway = false
      Object.assign(state, { status: "resolved", resolution: "approve" })
      await clock.advance(2_000)
      assert.deepInclude(outcome.is as object, { resolution: "approve" })
      state.isAway = true
      const failing = watched(agent.reviews.wait("rev_1", { withinMs: 5_000 }))
      await clock.advance(6_000)
      assert.instanceOf(failing.is, ServerRefused)
    })

  it("throws where the server refuses to say", async () => {
    const { agent, clock } = await world()
    const outcome = watched(agent.reviews.wait("rev_none", { withinMs: 0 }))
    await clock.advance(100)
    assert.deepInclude(outcome.is as object, { status: 404 })
  })

  it("ends at once when the agent is halted, or when its caller gives up", async () => {
    const { agent, clock, state } = await world()
    const outcome = watched(agent.reviews.wait("rev_1", { withinMs: 3_000_000 }))
    await clock.advance(30_000)
    state.halted = true
    await clock.advance(6_000)
    assert.deepInclude(outcome.is as object, { status: "open" })
    const ending = new AbortController()
    ending.abort()
    const aborted = watched(agent.reviews.wait("rev_1", { withinMs: 3_000_000, signal: ending.signal }))
    await settled()
    assert.instanceOf(aborted.is, ServerRefused)
  })

  it("throws at once when the client is closed, before the wait or during it, and sends nothing more", async () => {
    const { agent, clock, seen } = await world()
    const during = watched(agent.reviews.wait("rev_1", { withinMs: 3_000_000 }))
    await clock.advance(30_000)
    assert.strictEqual(during.is, "pending")
    await client!.close()
    const before = watched(agent.reviews.wait("rev_1", { withinMs: 3_000_000 }))
    await clock.advance(100)
    for (const { is } of [during, before]) {
      assert.instanceOf(is, ServerRefused)
      assert.deepInclude(is as object, {
        status: 0,
        answer: "the client is closed",
        message: "The review rev_1 could not be read: the client is closed"
      })
    }
    const sent = seen.length
    await clock.advance(60_000)
    assert.strictEqual(seen.length, sent)
  })
})

describe("a guarded action that a person must approve", () => {
  const call = (agent: AgentClient, args: { readonly [name: string]: number } = { amount: 900 }) => {
    const ran = { times: 0 }
    const outcome = watched(
      agent
        .guard("refund", args, () => void ran.times++)
        .then(
          () => "ran",
          (cause: unknown) => (cause instanceof ActionDenied ? `${cause.outcome} ${cause.reviewId}` : cause)
        )
    )
    return { outcome, ran }
  }

  it("is refused at once with its review where nothing is waited for; the same call continues with it", async () => {
    const { agent, approvals, clock, state } = await world()
    const first = call(agent)
    await clock.advance(100)
    assert.strictEqual(first.outcome.is, "require_review rev_1")
    const again = call(agent)
    await clock.advance(100)
    assert.strictEqual(again.outcome.is, "require_review rev_1")
    Object.assign(state, { status: "resolved", resolution: "approve" })
    const approved = call(agent)
    await clock.advance(100)
    assert.strictEqual(approved.outcome.is, "ran")
    // The approval is used up: the next one asks again.
    const next = call(agent)
    await clock.advance(100)
    assert.strictEqual(next.outcome.is, "require_review rev_2")
    assert.deepStrictEqual(approvals(), [null, "rev_1", "rev_1", null])
  })

  it("continues after a restart: the client takes up what people approved or have open", async () => {
    const { agent, approvals, clock, started, state } = await world()
    const first = call(agent)
    await clock.advance(100)
    assert.strictEqual(first.outcome.is, "require_review rev_1")
    const waiting = call(await started())
    await clock.advance(100)
    assert.strictEqual(waiting.outcome.is, "require_review rev_1")
    Object.assign(state, { status: "resolved", resolution: "approve" })
    const approved = call(await started())
    await clock.advance(100)
    assert.deepStrictEqual([approved.outcome.is, approved.ran.times], ["ran", 1])
    assert.deepStrictEqual(approvals(), [null, null, null, "rev_1"])
  })

  it("does not take the review of other arguments", async () => {
    const { agent, approvals, clock, state } = await world()
    call(agent)
    await clock.advance(100)
    Object.assign(state, { status: "resolved", resolution: "approve" })
    const other = call(agent, { amount: 901 })
    await clock.advance(100)
    assert.strictEqual(other.outcome.is, "require_review rev_2")
    assert.deepStrictEqual(approvals(), [null, null])
  })

  it("waits as long as it may, is judged once more when it is approved, and runs once", async () => {
    const { agent, approvals, clock, state } = await world({ waitMs: 600_000 })
    const held = call(agent)
    await clock.advance(60_000)
    assert.strictEqual(held.outcome.is, "pending")
    Object.assign(state, { status: "resolved", resolution: "approve" })
    await clock.advance(500)
    assert.deepStrictEqual([held.outcome.is, held.ran.times], ["ran", 1])
    assert.deepStrictEqual(approvals(), [null, "rev_1"])
  })

  it("does not run when it is rejected, nor when nobody answers in time", async () => {
    const { agent, clock, state } = await world({ waitMs: 10_000 })
    const late = call(agent)
    await clock.advance(11_000)
    Object.assign(state, { status: "resolved", resolution: "reject" })
    const rejected = call(agent)
    await clock.advance(500)
    for (const { outcome, ran } of [late, rejected]) {
      assert.match(String(outcome.is), /^require_review rev_/)
      assert.strictEqual(ran.times, 0)
    }
  })

  it("is refused with its review when the client is closed while it waits", async () => {
    const { agent, clock } = await world({ waitMs: 600_000 })
    const held = call(agent)
    await clock.advance(1_000)
    assert.strictEqual(held.outcome.is, "pending")
    await client!.close()
    await clock.advance(100)
    assert.deepStrictEqual([held.outcome.is, held.ran.times], ["require_review rev_1", 0])
  })

  it("does not run when the agent is halted after the approval and before the effect", async () => {
    const { agent, clock, state } = await world({ waitMs: 600_000 })
    const held = call(agent)
    await clock.advance(1_000)
    state.halted = true
    Object.assign(state, { status: "resolved", resolution: "approve" })
    await agent.kill.refresh()
    await clock.advance(1_000)
    assert.strictEqual(held.ran.times, 0)
    assert.notStrictEqual(held.outcome.is, "ran")
  })
})

describe("the time that a guard may wait", () => {
  it("is at most an hour", () => {
    for (const waitMs of [-1, 3_600_001, Number.NaN])
      assert.throws(() => openClient({ url: "http://flyball.test", key: "k", hold: { waitMs } }), RangeError)
  })
})
