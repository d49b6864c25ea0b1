/** Lints of one caller hold up neither another's publication nor another's lint. Spec: api.md, Conventions (429). */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Examiner, type ExaminerApi } from "@flyball/core"
import { answer, inPlaceLimits } from "@flyball/core/examination"
import { Deferred, Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { until } from "../webhook-tests/testing/jumping-clock.ts"
import { openWorld, type World } from "./http-world.ts"

const bounded = {
  semantics: "envelope/1",
  signals: { tool: { type: "enum", values: ["read", "pay"], source: "caller" } },
  effects: { read: "read", pay: "write_reversible" },
  rules: [{ id: "read", outcome: "allow", when: [{ signal: "tool", in: ["read"] }] }],
  default: { outcome: "deny" }
}
/** Most examinations that each caller may have under way. */
const LIMIT = 8

let world: World
let at: string
let requested: Array<string>
let gate: Deferred.Deferred<void>
beforeEach(async () => {
  requested = []
  gate = Deferred.makeUnsafe<void>()
  const examiner: ExaminerApi = {
    ask: (kind, about) =>
      Effect.suspend(() => {
        requested.push(kind)
        const answered = Effect.sync(() => answer({ kind, about }, inPlaceLimits))
        return kind === "publish" ? answered : Effect.andThen(Deferred.await(gate), answered)
      })
  }
  world = await openWorld({ under: Layer.succeed(Examiner, examiner), server: { times: { closeMs: 100 } } })
  const agentId = await world.register("refund bot")
  const json = { name: "Refunds", agent_id: agentId, envelope: bounded }
  const created = await world.send("POST", "/api/v1/bound/envelopes", { token: world.admin, json })
  at = `/api/v1/bound/envelopes/${created.json.id}`
})
afterEach(() => world.close())

const lint = (token: string) => world.send("POST", `${at}/lint`, { token })
const open = () => Effect.runPromise(Deferred.succeed(gate, undefined))
/** Waits until this many requests of this status have come to their end. */
const untilEnded = (status: number, count: number) =>
  until(
    () => ended(status),
    (found) => found === count,
    `Expected ${count} requests of status ${status} to end`
  )
/** Requests of this status that came to their end. */
const ended = (status: number): number => world.log.filter((entry) => entry.status === status).length
/** More lints than a caller may have, once those over the limit were refused: the queue is full then. */
const overfull = async (token: string, more = 3) => {
  const before = ended(429)
  const sent = Array.from({ length: LIMIT + more }, () =>
    lint(token).then(
      ({ status }) => status,
      () => 0
    )
  )
  await untilEnded(429, before + more)
  return sent
}
const count = (statuses: ReadonlyArray<number>, of: number): number => statuses.filter((status) => status === of).length

describe("the queue before the examiner", () => {
  it("takes 8 of 40 lints, refuses the others with 429, and publishes meanwhile", async () => {
    const lints = Array.from({ length: 40 }, () => lint(world.tokens.auditor))
    await untilEnded(429, 40 - LIMIT)
    const published = await world.send("POST", `${at}/publish`, { token: world.tokens.governor })
    assert.strictEqual(published.status, 200, published.text)
    assert.deepStrictEqual(requested, ["lint", "publish"])
    const another = world.send("GET", `${at}/diff?from=0&to=1`, { token: world.tokens.reviewer })
    await open()
    assert.strictEqual((await another).status, 200)
    const answers = await Promise.all(lints)
    const refused = answers.filter(({ status }) => status !== 200 && status !== 409)
    assert.lengthOf(refused, 40 - LIMIT)
    for (const { headers, json, status } of refused) {
      const seen = [status, json.code, json.limit, headers.get("retry-after")]
      assert.deepStrictEqual(seen, [429, "examination_queue_full", LIMIT, "5"])
    }
  })

  it("counts diffs and backtests with lints, and each caller by itself", async () => {
    const [auditor, reviewer] = [world.tokens.auditor, world.tokens.reviewer]
    const sent = [...(await overfull(auditor)), ...(await overfull(reviewer))]
    for (const token of [auditor, reviewer]) {
      for (const [method, path] of [
        ["GET", "diff"],
        ["POST", "backtest"],
        ["POST", "lint"]
      ] as const) {
        assert.strictEqual((await world.send(method, `${at}/${path}`, { token })).status, 429)
      }
    }
    // What is missing is missing, also for a caller with a full queue.
    const missing = await world.send("POST", `/api/v1/bound/envelopes/env_${"0".repeat(26)}/lint`, { token: auditor })
    assert.strictEqual(missing.status, 404)
    await open()
    const statuses = await Promise.all(sent)
    assert.deepStrictEqual([count(statuses, 200), count(statuses, 429)], [2 * LIMIT, 6])
  })

  it("is left by a caller that hangs up", async () => {
    const away = new AbortController()
    const init = { method: "POST", headers: { authorization: `Bearer ${world.tokens.auditor}` }, signal: away.signal }
    const gone = Array.from({ length: LIMIT + 1 }, () => fetch(`${world.url}${at}/lint`, init).catch(() => null))
    await untilEnded(429, 1)
    away.abort()
    await untilEnded(0, LIMIT)
    await Promise.all(gone)
    const again = await overfull(world.tokens.auditor, 1)
    await open()
    assert.strictEqual(count(await Promise.all(again), 200), LIMIT)
  })

  it("holds up no shutdown: what waits is cut with its connection", async () => {
    const sent = await overfull(world.tokens.auditor)
    await world.server.close()
    assert.strictEqual(count(await Promise.all(sent), 0), LIMIT)
    assert.lengthOf(requested, 1)
  })
})
