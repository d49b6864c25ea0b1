/** Requests with `wait_ms` whose caller loses access while they wait. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { IngestKeys, Kill, Reviews, systemHost } from "@flyball/core"
import type { PersonClaims } from "@flyball/http/server"
import { Context, type Effect } from "effect"
import { assert, describe, it } from "vitest"
import { UNIT, type World } from "./http-world.ts"
import { givenServers } from "./testing/given-servers.ts"
import { paymentsUpTo } from "./testing/payments.ts"

const { beside, opened } = givenServers()

const WAIT_MS = 25_000
/** Longer than any test: the caller is checked at the end of the wait alone. Unit: milliseconds. */
const NEVER_MS = 600_000

/** An agent with a key of its own and a review that waits; and what a wait for each reads. */
const governed = async (world: World) => {
  const { id: keyId, key } = await world.mint(UNIT)
  const as = async (token: string, method: string, path: string, json: unknown = {}) => {
    const got = await world.send(method, `/api/v1${path}`, { token, json })
    assert.isBelow(got.status, 300, got.text)
    return got.json
  }
  const [author, approver] = await Promise.all([
    world.token("governor", "*", "author"),
    world.token("governor", "*", "approver")
  ])
  const agent = await world.register("watched", UNIT, { owner_name: "Ada", owner_email: "ada@example.org" })
  const envelope = { ...paymentsUpTo(100, "require_review"), effects: { pay: "read" } }
  const { id } = await as(author, "POST", "/bound/envelopes", { name: "Payments", agent_id: agent, envelope })
  await as(approver, "POST", `/bound/envelopes/${id}/publish`)
  await as(author, "POST", `/agents/${agent}/activate`)
  const signals = { tool: "pay", amount: 5 }
  const question = { agent_id: agent, client_ref: "one", action: "pay", args: { to: "Ada" }, signals }
  const { review_id: review } = await as(key, "POST", "/bound/evaluations", question)
  assert.isString(review)
  const status = `/api/v1/bound/kill/status?target_type=agent&target_id=${agent}`
  const etag = (await world.send("GET", status, { token: world.admin })).headers.get("etag")!
  const act = (response: string) =>
    as(world.admin, "POST", "/bound/kill/activate", {
      target_type: "agent",
      target_id: agent,
      response,
      reason: "Pays twice."
    })
  const waits = [
    { path: `/api/v1/bound/reviews/${review}?wait_ms=${WAIT_MS}`, headers: {} },
    { path: `${status}&wait_ms=${WAIT_MS}`, headers: { "if-none-match": etag } }
  ] as const
  return {
    key,
    waits,
    halt: () => act("halt"),
    quarantine: () => act("quarantine"),
    revoke: () => world.runtime.runPromise(IngestKeys.use((keys) => keys.revoke(keyId, systemHost)))
  }
}

/** A server beside `world`, and how many stretches of waits it began. */
const waitingServer = async (world: World, pingMs: number, verify?: () => Promise<PersonClaims | "expired">) => {
  let stretches = 0
  const wakes = new Set<() => void>()
  const begun = <A extends Effect.Effect<unknown, unknown, unknown>>(waitMs: number, effect: A): A => {
    if (waitMs > 0) stretches++
    for (const wake of wakes) wake()
    return effect
  }
  const { url } = await beside(
    world,
    (context) => {
      const [kill, reviews] = [Context.get(context, Kill), Context.get(context, Reviews)]
      return context.pipe(
        Context.add(Kill, {
          ...kill,
          statusAfter: (target, tag, waitMs, scope) => begun(waitMs, kill.statusAfter(target, tag, waitMs, scope))
        }),
        Context.add(Reviews, {
          ...reviews,
          wait: (id, waitMs, scope, own) => begun(waitMs, reviews.wait(id, waitMs, scope, own))
        })
      )
    },
    { pingMs },
    verify === undefined ? world.issuer : { issuer: "https://issuer.example", trustsCanonical: true, verify }
  )
  /** Resolves when this many more stretches have begun. */
  const more = (count: number): Promise<void> => {
    const goal = stretches + count
    return new Promise((resolve) => {
      const wake = (): void => {
        if (stretches < goal) return
        wakes.delete(wake)
        resolve()
      }
      wakes.add(wake)
      wake()
    })
  }
  const get = async ({ headers, path }: { path: string; headers: object }, token: string) => {
    const response = await fetch(url + path, { headers: { ...headers, authorization: `Bearer ${token}` } })
    const text = await response.text()
    return { status: response.status, json: text === "" ? null : JSON.parse(text) }
  }
  return { get, more }
}

const claims: PersonClaims = { subject: "ann", name: null, roles: ["admin"], groups: [], userIds: [], orgUnit: "*" }

describe("a request that waits", () => {
  it("is refused with 401 within the time of a check when its key is revoked", async () => {
    const world = await opened()
    const { get, more } = await waitingServer(world, 5)
    const { key, revoke, waits } = await governed(world)
    const begun = more(2 * waits.length)
    const waiting = waits.map((wait) => get(wait, key))
    await begun
    await revoke()
    for (const { json, status } of await Promise.all(waiting))
      assert.deepStrictEqual([status, json.code], [401, "unauthorized"])
  })

  it("is refused and shows nothing where what it waits for comes right behind the revocation", async () => {
    const world = await opened()
    const { get, more } = await waitingServer(world, NEVER_MS)
    const { halt, key, revoke, waits } = await governed(world)
    const begun = more(waits.length)
    const waiting = waits.map((wait) => get(wait, key))
    await begun
    await revoke()
    // The halt changes the status, and ends the review.
    await halt()
    for (const { json, status } of await Promise.all(waiting))
      assert.deepStrictEqual([status, json.code], [401, "unauthorized"])
  })

  for (const [what, after, refused] of [
    ["token is over", "expired", "401 unauthorized"],
    ["token gives no role any more", { ...claims, roles: [] }, "403 forbidden"]
  ] as const)
    it(`is refused when its person's ${what}, and waits on while that cannot be found out`, async () => {
      const world = await opened()
      let answer = async (): Promise<PersonClaims | "expired"> => claims
      const { get, more } = await waitingServer(world, 5, () => answer())
      const { waits } = await governed(world)
      for (const wait of waits) {
        answer = async () => claims
        const begun = more(2)
        const waiting = get(wait, "a.b.c")
        await begun
        let failed = 0
        answer = async () => {
          failed++
          throw new Error("the issuer does not answer")
        }
        await more(3)
        assert.isAbove(failed, 0)
        answer = async () => after
        const { json, status } = await waiting
        assert.strictEqual(`${status} ${json.code}`, refused)
      }
    })

  it("of a key is refused when the agent of its review is quarantined; the kill status is answered", async () => {
    const world = await opened()
    const { get, more } = await waitingServer(world, NEVER_MS)
    const { key, quarantine, waits } = await governed(world)
    const begun = more(waits.length)
    const [review, status] = waits.map((wait) => get(wait, key))
    await begun
    await quarantine()
    assert.deepStrictEqual([(await review!).status, (await review!).json.code], [403, "agent_quarantined"])
    assert.deepStrictEqual([(await status!).status, (await status!).json.effective_response], [200, "quarantine"])
  })

  it("is answered as before, however often its caller is checked in between", async () => {
    const world = await opened()
    const { get, more } = await waitingServer(world, 5)
    const { halt, key, waits } = await governed(world)
    const begun = more(4 * waits.length)
    const [review, status] = waits.map((wait) => get(wait, key))
    await begun
    await halt()
    assert.deepStrictEqual([(await review!).status, (await review!).json.status], [200, "cancelled"])
    assert.deepStrictEqual([(await status!).status, (await status!).json.halted], [200, true])
  })
})
