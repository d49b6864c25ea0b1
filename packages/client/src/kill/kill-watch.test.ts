import { afterEach, assert, describe, it } from "vitest"
import { makeCaller } from "../http/caller.ts"
import type { Problem } from "../problem.ts"
import { manualClock, settled } from "../testing/manual-clock.ts"
import { sampleGenesis } from "../testing/sample-genesis.ts"
import { type KillWatch, watchKill } from "./kill-watch.ts"

interface ScriptedStatus {
  epoch: number
  response: string | null
  origin: string
  target: string
  away: "no" | "cut" | "hang" | "slow"
  opens: boolean
  pings: boolean
  genesis: object | null
  former: { readonly [chain: string]: object }
}

/** No answer until the request is aborted. */
const hanging = (init: RequestInit): Promise<Response> =>
  new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("aborted"))))

let open: KillWatch | null = null
afterEach(() => open?.close())

const encoder = new TextEncoder()

/** A watch over a server that a test changes. `push` sends the current status over the stream. */
const world = (away: ScriptedStatus["away"] = "no", opens = true) => {
  const clock = manualClock()
  const now: ScriptedStatus = {
    epoch: 1,
    response: null,
    origin: "a/b",
    target: "agt_1",
    away,
    opens,
    pings: true,
    genesis: null,
    former: {}
  }
  const problems: Array<Problem> = []
  const acks: Array<{ readonly activation_event: string; readonly in_flight: number; readonly stopped: boolean }> = []
  const sent: Array<{ readonly path: string; readonly headers: Headers }> = []
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null
  /** As the server does, every five seconds. */
  const ping = (to: ReadableStreamDefaultController<Uint8Array>): void =>
    void clock.after(5_000, () => {
      if (stream !== to || !now.pings) return
      to.enqueue(encoder.encode(": ping\n\n"))
      ping(to)
    })
  const body = () => ({
    target_type: "agent",
    target_id: now.target,
    halted: now.response === "halt" || now.response === "quarantine",
    drill: false,
    activation_event: now.response === null ? null : "kil_1",
    effective_response: now.response,
    epoch: now.epoch,
    origin: now.origin
  })
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input))
    const headers = new Headers(init.headers)
    sent.push({ path: url.pathname, headers })
    if (url.pathname.endsWith("/ack")) {
      if (now.away !== "no") throw new TypeError("fetch failed")
      acks.push(JSON.parse(String(init.body)))
      return new Response("{}", { status: 201 })
    }
    if (url.pathname.endsWith("/stream")) {
      if (!now.opens) return hanging(init)
      if (now.away !== "no") throw new TypeError("fetch failed")
      const source = new ReadableStream<Uint8Array>({ start: (controller) => ping((stream = controller)) })
      return new Response(source, { status: 200 })
    }
    if (url.pathname.endsWith("/genesis")) {
      const chain = url.searchParams.get("chain")
      const genesis = chain === null ? now.genesis : (now.former[chain] ?? null)
      return new Response(JSON.stringify(genesis), { status: genesis === null ? 404 : 200 })
    }
    if (now.away === "cut") throw new TypeError("fetch failed")
    if (now.away === "hang") return hanging(init)
    const etag = `"k${now.epoch}"`
    if (now.away === "slow") {
      const answer = new Response(JSON.stringify(body()), { status: 200, headers: { etag } })
      return new Promise((resolve) => void clock.after(1_500, () => resolve(answer)))
    }
    return headers.get("if-none-match") === etag
      ? new Response(null, { status: 304 })
      : new Response(JSON.stringify(body()), { status: 200, headers: { etag } })
  }
  open = watchKill({
    agentId: "agt_1",
    instanceId: "i1",
    maxStaleMs: 15_000,
    pollMs: 5_000,
    timeoutMs: 2_000,
    clock,
    caller: makeCaller({ url: "http://flyball.test", key: "k", fetch: fetch as typeof globalThis.fetch, clock }),
    onProblem: (problem) => void problems.push(problem)
  })
  const push = async (text = `data: ${JSON.stringify(body())}\n\n`): Promise<void> => {
    stream!.enqueue(encoder.encode(text))
    await settled()
  }
  return { clock, now, problems, sent, push, acks, watch: open }
}

describe("the watch over halts", () => {
  it("knows nothing before the first answer, and lets the agent act after it", async () => {
    const { watch } = world()
    assert.strictEqual(watch.denial("side_effect"), "@stale_status")
    await settled()
    assert.isNull(watch.denial("side_effect"))
  })

  it("stays fresh by polls that answer 304", async () => {
    const { sent, clock, watch } = world()
    await clock.advance(60_000)
    assert.isNull(watch.denial("side_effect"))
    const polls = sent.filter(({ path }) => path.endsWith("/status"))
    assert.isAbove(polls.length, 10)
    assert.strictEqual(polls.at(-1)!.headers.get("if-none-match"), '"k1"')
  })

  it("goes on where a listener of the host throws", async () => {
    const { clock, now, problems, watch } = world()
    watch.onChange(() => {
      throw new Error("broken")
    })
    await settled()
    Object.assign(now, { epoch: 2 })
    await clock.advance(60_000)
    assert.isNull(watch.denial("side_effect"))
    assert.deepInclude(problems, { kind: "kill_status", reason: "a listener threw: Error: broken" })
  })

  it("takes no status of another agent, fresh or of the stream: its own grows old", async () => {
    const { clock, now, problems, push, watch } = world()
    await settled()
    Object.assign(now, { target: "agt_2", epoch: 2 })
    await push()
    await clock.advance(15_001)
    assert.strictEqual(watch.denial("side_effect"), "@stale_status")
    assert.match(watch.trouble()!, /another target, agent agt_2/)
    assert.isTrue(problems.every(({ kind }) => kind === "kill_status"))
  })

  it("obeys a halt of the stream at once, and interrupts what runs", async () => {
    const { now, push, watch } = world()
    await settled()
    const { done, signal } = watch.signal()
    Object.assign(now, { epoch: 2, response: "halt" })
    await push()
    assert.strictEqual(watch.denial("read"), "@killed")
    assert.isTrue(signal.aborted)
    assert.match(String(signal.reason), /epoch 2/)
    done()
    assert.isTrue(watch.signal().signal.aborted)
  })

  it("opens another stream where one says nothing for 15 s, not even a comment", async () => {
    const { clock, now, problems, push, sent, watch } = world()
    const streams = (): number => sent.filter(({ path }) => path.endsWith("/stream")).length
    await clock.advance(60_000)
    assert.strictEqual(streams(), 1)
    now.pings = false
    await clock.advance(15_000 + 1_500)
    assert.strictEqual(streams(), 2)
    assert.deepInclude(problems, { kind: "kill_stream", reason: "Error: nothing came for 15000 ms" })
    Object.assign(now, { epoch: 2, response: "halt" })
    await push()
    assert.strictEqual(watch.denial("read"), "@killed")
  })

  it("gives up the opening of a stream that is not answered", async () => {
    const { clock, sent } = world("hang", false)
    const streams = (): number => sent.filter(({ path }) => path.endsWith("/stream")).length
    await clock.advance(15_000 + 3_000)
    assert.strictEqual(streams(), 2)
  })

  it("lets what runs continue under a drain", async () => {
    const { now, push, watch } = world()
    await settled()
    const { signal } = watch.signal()
    Object.assign(now, { epoch: 2, response: "drain" })
    await push()
    assert.strictEqual(watch.denial("side_effect"), "@killed")
    assert.isFalse(signal.aborted)
  })

  it("takes a release from a poll alone", async () => {
    const { sent, now, push, watch } = world()
    Object.assign(now, { response: "halt" })
    await settled()
    Object.assign(now, { epoch: 2, response: null })
    const before = sent.length
    await push()
    assert.isNull(watch.denial("side_effect"))
    assert.isAbove(sent.length, before)
  })

  it("is stale after max_stale_ms without an answer, however the network fails", async () => {
    for (const away of ["cut", "hang"] as const) {
      const { clock, now, problems, push, watch } = world()
      await settled()
      now.away = away
      await clock.advance(15_000)
      assert.isNull(watch.denial("side_effect"), away)
      // Pings arrive all the time, and confirm nothing.
      await push(": ping\n\n")
      await clock.advance(1)
      assert.strictEqual(watch.denial("side_effect"), "@stale_status", away)
      assert.isNull(watch.denial("read"), away)
      await clock.advance(45_000)
      assert.strictEqual(watch.denial("read"), "@stale_status", away)
      assert.isAbove(problems.length, 0)
      watch.close()
    }
  })

  it("reopens the stream with growing pauses while the server is unreachable, and soon when it is back", async () => {
    const { clock, now, sent } = world("cut")
    const opened = () => sent.filter(({ path }) => path.endsWith("/stream")).length
    await clock.advance(600_000)
    const before = opened()
    assert.isAtLeast(before, 45)
    assert.isAtMost(before, 60)
    now.away = "no"
    await clock.advance(16_000)
    assert.strictEqual(opened(), before + 1)
  })

  it("counts age from the sending, not from the arrival, of a slow answer", async () => {
    const { clock, now, watch } = world()
    await settled()
    now.away = "slow"
    await clock.advance(6_600)
    now.away = "cut"
    await clock.advance(15_000 - 1_600)
    assert.isNull(watch.denial("side_effect"))
    await clock.advance(1)
    assert.strictEqual(watch.denial("side_effect"), "@stale_status")
  })

  it("reports what prevents a fresh status, until a request is answered", async () => {
    const { now, watch } = world("cut")
    assert.isNull(watch.trouble())
    for (const [epoch, isAnswered] of [
      [1, false],
      [1, true],
      [1, false],
      // Nothing changed: 304.
      [1, true],
      [1, false],
      [2, true]
    ] as const) {
      Object.assign(now, { epoch, away: isAnswered ? "no" : "cut" })
      await watch.refresh()
      assert.strictEqual(watch.trouble(), isAnswered ? null : "fetch failed")
    }
  })

  it("becomes stale where the epoch goes back or the origin changes, and reports why", async () => {
    for (const [more, reason] of [
      [
        { epoch: 0 },
        "the server's epoch went back from 1 to 0, so its answer is older than the known status, or the server " +
          "runs on an older copy of its store"
      ],
      [
        { origin: "c/d", epoch: 5 },
        "the server now has the chain c/d, and does not prove that it follows a/b: it was not learned in time who " +
          "signs for the old one. If you know that it was recovered, open a new client"
      ]
    ] as const) {
      const { clock, now, problems, watch } = world()
      await settled()
      Object.assign(now, more)
      await clock.advance(16_000)
      assert.strictEqual(watch.denial("side_effect"), "@stale_status", reason)
      assert.deepInclude(problems, { kind: "kill_status", reason })
      assert.strictEqual(watch.trouble(), reason)
      watch.close()
    }
  })

  it("acknowledges a halt at once, and that it stopped when its last effect has ended", async () => {
    const { acks, now, push, watch } = world()
    await settled()
    const { done } = watch.signal()
    Object.assign(now, { epoch: 2, response: "halt" })
    await push()
    const seen = { activation_event: "kil_1", agent_id: "agt_1", instance_id: "i1" }
    assert.lengthOf(acks, 1)
    assert.deepInclude(acks[0]!, { ...seen, in_flight: 1, stopped: false })
    done()
    await settled()
    assert.lengthOf(acks, 2)
    assert.deepInclude(acks[1]!, { ...seen, in_flight: 0, stopped: true })
  })

  it("sends an acknowledgement that failed again with a later poll, and a known one never again", async () => {
    const { acks, clock, now, push } = world()
    await settled()
    Object.assign(now, { epoch: 2, response: "halt", away: "cut" })
    await push()
    assert.lengthOf(acks, 0)
    now.away = "no"
    await clock.advance(30_000)
    assert.lengthOf(acks, 1)
    assert.deepInclude(acks[0]!, { in_flight: 0, stopped: true })
  })
})

describe("the watch over halts after a recovery", () => {
  const recovered = { origin: "a/b~2", after: "a/b" }
  /** A watch that knows its chain, whose server then continues under another name, at a lower epoch. */
  const after = async (
    genesis: object | null,
    before: object | null = sampleGenesis({ origin: "a/b" }),
    more: Partial<ScriptedStatus> = {}
  ) => {
    const made = world()
    Object.assign(made.now, { epoch: 7, genesis: before })
    await settled()
    Object.assign(made.now, { epoch: 3, origin: "a/b~2", genesis, ...more })
    await made.clock.advance(16_000)
    return made
  }

  it("continues in the chain whose signed genesis names the one that it knows", async () => {
    const { clock, now, problems, watch } = await after(sampleGenesis(recovered))
    assert.isNull(watch.denial("side_effect"))
    assert.deepInclude(watch.view(), { origin: "a/b~2", epoch: 3 })
    assert.deepStrictEqual(problems, [])
    // Epochs are judged within the new origin again, and a second recovery is followed too.
    Object.assign(now, { epoch: 2 })
    await clock.advance(16_000)
    assert.strictEqual(watch.denial("side_effect"), "@stale_status")
    assert.match((problems[0] as { readonly reason: string }).reason, /epoch went back from 3 to 2/)
    Object.assign(now, { epoch: 1, origin: "a/b~3", genesis: sampleGenesis({ origin: "a/b~3", after: "a/b~2" }) })
    await clock.advance(16_000)
    assert.isNull(watch.denial("side_effect"))
    assert.isNull(watch.trouble())
  })

  const chainOf = (number: number, more: object = {}) =>
    sampleGenesis({ origin: `a/b~${number}`, after: number === 2 ? "a/b" : `a/b~${number - 1}`, ...more })

  it("continues after recoveries that it missed, where each follows the one before it", async () => {
    for (const newest of [3, 4, 17]) {
      const former = Object.fromEntries(Array.from({ length: newest }, (_, at) => [`a/b~${at}`, chainOf(at)]))
      const { problems, watch } = await after(chainOf(newest), undefined, { origin: `a/b~${newest}`, former })
      assert.isNull(watch.denial("side_effect"), String(newest))
      assert.deepInclude(watch.view(), { origin: `a/b~${newest}`, epoch: 3 })
      assert.deepStrictEqual(problems, [])
      watch.close()
    }
  })

  it("believes no chain after recoveries of which one is not proved, and says which", async () => {
    const cases: ReadonlyArray<readonly [string, number, { readonly [origin: string]: object }, RegExp]> = [
      ["the one between is not shown", 3, {}, /no signed first record of a\/b~2, which is between/],
      ["another is shown for it", 3, { "a/b~2": chainOf(3) }, /no signed first record of a\/b~2/],
      ["it has another key", 3, { "a/b~2": chainOf(2, { seed: 2 }) }, /no key that signed for a\/b~2 signs for a\/b~3/],
      ["it is a first chain", 3, { "a/b~2": sampleGenesis({ origin: "a/b~2" }) }, /a\/b~2 follows no chain/],
      ["two follow each other", 3, { "a/b~2": chainOf(2, { after: "a/b~3" }), "a/b~3": chainOf(3) }, /more than 16/],
      ["one is shown with a changed proof", 3, { "a/b~2": { ...chainOf(2), proof: [] } }, /no signed first record/]
    ]
    for (const [what, newest, former, reason] of cases) {
      const { watch } = await after(chainOf(newest), undefined, { origin: `a/b~${newest}`, former })
      assert.strictEqual(watch.denial("side_effect"), "@stale_status", what)
      assert.match(watch.trouble()!, reason, what)
      watch.close()
    }
  })

  it("accepts no other chain: of another key or predecessor, not proved, or if it never learned its own", async () => {
    const proved = sampleGenesis(recovered)
    const cases: ReadonlyArray<readonly [string, object | null, (object | null)?]> = [
      ["none", null],
      ["another key", sampleGenesis({ ...recovered, seed: 2 })],
      ["another chain before", sampleGenesis({ ...recovered, after: "a/c" })],
      ["a first chain", sampleGenesis({ origin: "a/b~2" })],
      ["another name", sampleGenesis({ ...recovered, origin: "a/b~9" })],
      ["no signature", { ...proved, checkpoint: null }],
      ["its own was never learned", proved, null]
    ]
    for (const [what, genesis, before] of cases) {
      const { problems, watch } = await after(genesis, before === undefined ? sampleGenesis({ origin: "a/b" }) : before)
      assert.strictEqual(watch.denial("side_effect"), "@stale_status", what)
      assert.match((problems[0] as { readonly reason: string }).reason, /does not prove that it follows/, what)
      watch.close()
    }
  })
})
