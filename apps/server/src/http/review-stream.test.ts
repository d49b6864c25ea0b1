/** Reviews as server-sent events: who sees which, where a client continues, and what a reader who leaves costs. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Reviews, type ReviewsApi, StorageUnavailable } from "@flyball/core"
import { Context, Deferred, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { UNIT, type World } from "./http-world.ts"
import { givenServers } from "./testing/given-servers.ts"
import { rawConnection } from "./testing/raw-client.ts"

const { beside, opened } = givenServers()

const AT = "/api/v1/bound/reviews"
let count = 0
const fresh = (): string => `reviewed-${count++}`

const envelope = {
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
  effects: { pay: "read" },
  rules: [{ id: "payments", outcome: "require_review", when: [] }],
  default: { outcome: "deny" }
}

/** An agent whose every payment is reviewed, and what people and its key do with the reviews. */
const governed = async (world: World) => {
  const [author, approver, reviewer] = await Promise.all([
    world.token("governor", "*", "author"),
    world.token("governor", "*", "approver"),
    world.token("reviewer", UNIT, "reviewer")
  ])
  const as = async (token: string, method: string, path: string, json: unknown = {}) => {
    const got = await world.send(method, `/api/v1${path}`, { token, json })
    assert.isBelow(got.status, 300, got.text)
    return got.json
  }
  const agent = await world.register(fresh(), UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
  const { id } = await as(author, "POST", "/bound/envelopes", { name: fresh(), agent_id: agent, envelope })
  await as(approver, "POST", `/bound/envelopes/${id}/publish`)
  await as(author, "POST", `/agents/${agent}/activate`)
  const evaluate = (token = world.key, more: object = {}) =>
    as(token, "POST", "/bound/evaluations", {
      agent_id: agent,
      client_ref: fresh(),
      action: "pay",
      args: { to: "Ada" },
      signals: { tool: "pay" },
      ...more
    })
  const wanted = new Map<string, object>()
  return {
    agent,
    reviewer,
    /** The same action as the review's, with its approval. */
    present: (review: string) => evaluate(world.key, { args: wanted.get(review), approval_id: review }),
    open: async (token = world.key): Promise<string> => {
      // The same payment would be the same review.
      const args = { to: fresh() }
      const { review_id: review } = await evaluate(token, { args })
      wanted.set(review, args)
      return review
    },
    claim: (review: string) => as(reviewer, "POST", `/bound/reviews/${review}/claim`),
    approve: (review: string) => as(reviewer, "POST", `/bound/reviews/${review}/resolve`, { resolution: "approve" })
  }
}

interface Sent {
  readonly id: number | null
  readonly event: string | null
  // oxlint-disable-next-line no-explicit-any
  readonly data: any
}

const sentOf = (block: string): Sent => {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)] as const)
  )
  const [data, id] = [fields.get("data"), fields.get("id")]
  return {
    id: id === undefined ? null : Number(id),
    event: fields.get("event") ?? null,
    data: data === undefined ? null : JSON.parse(data)
  }
}

/** A client of a stream. `next`: the next event; `block`: comments too; `left`: what is sent until the end. */
const reading = async (url: string, token: string, lastEventId: number | null = null, query = "") => {
  const stop = new AbortController()
  const response = await fetch(`${url}${AT}/stream${query}`, {
    signal: stop.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === null ? {} : { "last-event-id": String(lastEventId) })
    }
  })
  assert.deepStrictEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"])
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  const block = async (): Promise<Sent | null> => {
    while (!text.includes("\n\n")) {
      const { done, value } = await reader.read()
      if (done) return null
      text += value
    }
    const end = text.indexOf("\n\n")
    const one = text.slice(0, end)
    text = text.slice(end + 2)
    return sentOf(one)
  }
  const next = async (): Promise<Sent | null> => {
    for (;;) {
      const sent = await block()
      if (sent === null || sent.event !== null) return sent
    }
  }
  const left = async (): Promise<ReadonlyArray<Sent>> => {
    const all: Array<Sent> = []
    for (;;) {
      const sent = await next()
      if (sent === null) return all
      all.push(sent)
    }
  }
  return { block, next, left, close: () => stop.abort() }
}

/** A server beside it whose steps wait `waitMs` at most, and how many of them there are. */
const stepping = async (world: World, waitMs: number, changes?: ReviewsApi["changes"]) => {
  const steps = { begun: 0, under: 0 }
  const server = await beside(
    world,
    (context) => {
      const reviews = Context.get(context, Reviews)
      return Context.add(context, Reviews, {
        ...reviews,
        changes: (place, longest, query, scope, own) =>
          Effect.suspend(() => {
            steps.begun++
            steps.under++
            return (changes ?? reviews.changes)(place, Math.min(waitMs, longest), query, scope, own)
          }).pipe(Effect.ensuring(Effect.sync(() => steps.under--)))
      })
    },
    { stallMs: 200 }
  )
  return { ...server, steps }
}

describe("the stream of reviews", () => {
  it("sends those that wait, then each change as GET shows it, and ends when the server drains", async () => {
    const world = await opened()
    const { approve, claim, open, present, reviewer } = await governed(world)
    const first = await open()
    const { next, left } = await reading(world.url, reviewer)
    const shown = async (id: string) =>
      (await world.send("GET", AT, { token: reviewer })).json.find((one: { readonly id: string }) => one.id === id)
    const waiting = (await next())!
    assert.deepStrictEqual([waiting.event, waiting.data], ["review", await shown(first)])
    assert.strictEqual(waiting.id, waiting.data.seq)
    const second = await open()
    assert.deepStrictEqual((await next())!.data, await shown(second))
    await claim(second)
    assert.deepStrictEqual((await next())!.data, await shown(second))
    await approve(second)
    const resolved = (await next())!
    assert.deepStrictEqual([resolved.data.status, resolved.data], ["resolved", await shown(second)])
    const { id: used } = await present(second)
    const consumed = (await next())!
    assert.deepStrictEqual([consumed.data.consumed_by, consumed.data.consumed_result], [used, "used"])
    assert.isAbove(consumed.id!, resolved.id!)
    const rest = left()
    await world.close()
    assert.deepStrictEqual(await rest, [])
  })

  it("continues behind Last-Event-ID, on another host too, and loses nothing", async () => {
    const world = await opened()
    const { approve, claim, open, reviewer } = await governed(world)
    const ids = [await open(), await open(), await open()]
    const whole = await reading(world.url, reviewer, 0)
    const cut = await reading(world.url, reviewer)
    const { id } = (await cut.next())!
    cut.close()
    await claim(ids[0]!)
    await approve(ids[0]!)
    await approve(ids[2]!)
    const last = await open()
    const again = await reading((await beside(world, (context) => context)).url, reviewer, id)
    const seqs: Array<number> = []
    for (;;) {
      const { data, id: seq } = (await again.next())!
      seqs.push(seq!)
      if (data.id === last) break
    }
    // Two that opened, a claim, two answers, and the last one.
    assert.lengthOf(seqs, 6)
    const every: Array<number> = []
    while (every.at(-1) !== seqs.at(-1)) every.push((await whole.next())!.id!)
    assert.deepStrictEqual(
      every.filter((seq) => seq > id!),
      seqs
    )
    again.close()
    whole.close()
  })

  it("tells a client where to continue although it sees nothing", async () => {
    const world = await opened()
    const { open, reviewer } = await governed(world)
    const foreign = await world.token("reviewer", "elsewhere", "foreigner")
    const { url } = await stepping(world, 1)
    const { block, close } = await reading(url, foreign)
    await open()
    const size = await world.size()
    for (;;) {
      const { event, id } = (await block())!
      assert.isNull(event, "a reader of another unit sees no review")
      if (id === size - 1) break
    }
    close()
    const later = await open()
    const resumed = await reading(url, reviewer, size - 1)
    assert.strictEqual((await resumed.next())!.data.id, later)
    resumed.close()
  })

  it("shows a key the reviews that it requested, and others by agent and status", async () => {
    const world = await opened()
    const [one, two] = [await governed(world), await governed(world)]
    const another = (await world.mint(UNIT)).key
    const [mine, foreign, approved] = [await one.open(), await two.open(another), await two.open(another)]
    await two.approve(approved)
    const seen = async (token: string, after: number | null, query: string, amount: number) => {
      const { close, next } = await reading(world.url, token, after, query)
      const ids: Array<string> = []
      for (let at = 0; at < amount; at++) ids.push((await next())!.data.id)
      close()
      return ids
    }
    assert.deepStrictEqual(await seen(world.key, 0, "", 1), [mine])
    assert.deepStrictEqual(await seen(another, 0, "", 3), [foreign, approved, approved])
    assert.deepStrictEqual(await seen(world.admin, null, `?agent_id=${two.agent}`, 1), [foreign])
    assert.deepStrictEqual(await seen(world.admin, 0, "?status=resolved", 2), [approved, approved])
  })

  it("refuses what is no id of an event, and restarts behind one that the chain does not have", async () => {
    const world = await opened()
    const { open, reviewer } = await governed(world)
    const id = await open()
    for (const lastEventId of ["x", "-1", "1.5", "01", "9".repeat(17), "1, 2"]) {
      const got = await world.send("GET", `${AT}/stream`, {
        token: reviewer,
        headers: { "last-event-id": lastEventId }
      })
      assert.deepStrictEqual(
        [got.status, got.json?.detail?.[0]?.loc],
        [422, ["header", "last-event-id"]],
        `${lastEventId}: ${got.text}`
      )
    }
    const beyond = await reading(world.url, reviewer, 1_000_000)
    assert.strictEqual((await beyond.next())!.data.id, id)
    beyond.close()
  })
})

describe("a reader of the stream", () => {
  const request = ({ admin }: World): string =>
    `GET ${AT}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin}\r\n\r\n`

  it("who leaves costs nothing any more", async () => {
    const world = await opened()
    const { log, nextLog, port, steps } = await stepping(world, 1)
    const { socket, until } = await rawConnection(port, request(world))
    await until((text) => text.split(": ping").length > 3)
    const logged = nextLog()
    socket.destroy()
    await logged
    const { begun } = steps
    assert.deepStrictEqual([steps.under, log[0]!.status], [0, 0])
    await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(steps.begun, begun)
  })

  it("who takes nothing is waited for, and cut off", async () => {
    const world = await opened()
    const { open } = await governed(world)
    await open()
    const reviews = Context.get(world.context, Reviews)
    const place = await Effect.runPromise(reviews.placeBehind(null))
    const { changes } = await Effect.runPromise(reviews.changes(place, 0))
    // Without an end: only a server that waits comes to the end of this test.
    const endless: ReviewsApi["changes"] = (at) =>
      Effect.succeed({ changes: Array.from({ length: 50 }, () => changes[0]!), place: at })
    const { nextLog, port, steps } = await stepping(world, 1, endless)
    const { socket, until } = await rawConnection(port, request(world))
    await until((text) => text.includes("event: review"))
    socket.pause()
    await nextLog()
    const { begun } = steps
    await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(steps.begun, begun)
    socket.destroy()
  })

  it("is cut where the store does not answer, and continues where it was", async () => {
    const world = await opened()
    const { open, reviewer } = await governed(world)
    const id = await open()
    const reviews = Context.get(world.context, Reviews)
    const seen = Deferred.makeUnsafe<void>()
    const once: ReviewsApi["changes"] = (place, ...rest) =>
      place.live.length > 0
        ? reviews.changes(place, ...rest)
        : Effect.andThen(Deferred.await(seen), Effect.fail(new StorageUnavailable({ reason: "gone", wrote: "no" })))
    const { log, nextLog, url } = await stepping(world, 1, once)
    const logged = nextLog()
    const { next } = await reading(url, reviewer)
    const sent = (await next())!
    assert.strictEqual(sent.data.id, id)
    await Effect.runPromise(Deferred.succeed(seen, undefined))
    assert.isNotNull(await next().catch((cause: unknown) => cause))
    await logged
    assert.include(log[0]!.problem, "gone")
    const later = await open()
    const again = await reading(world.url, reviewer, sent.id)
    assert.strictEqual((await again.next())!.data.id, later)
    again.close()
  })
})
