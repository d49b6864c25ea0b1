/** Streams of callers who lose their access while they read. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { IngestKeys, Reviews, type Scope, systemHost } from "@flyball/core"
import { Context, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { OTHER_UNIT, UNIT, type World } from "./http-world.ts"
import { givenServers } from "./testing/given-servers.ts"

const { beside, opened } = givenServers()

/** A check of the caller comes this often in these tests. Unit: milliseconds. */
const times = { pingMs: 5 }

/** Reads a stream. `more`: the next piece, null at its end; `rest`: everything until then. */
const reading = async (url: string, token: string) => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const more = async (): Promise<string | null> => (await reader.read()).value ?? null
  const rest = async (): Promise<string> => {
    let text = ""
    for (let piece = await more(); piece !== null; piece = await more()) text += piece
    return text
  }
  /** Until several checks have passed. */
  const goesOn = async (): Promise<void> => {
    for (let pings = 0; pings < 4;) {
      const piece = await more()
      assert.isNotNull(piece, "the stream ended")
      pings += piece.split(": ping").length - 1
    }
  }
  /** Everything up to the first piece that holds a text. */
  const until = async (end: string): Promise<string> => {
    for (let text = ""; ;) {
      const piece = await more()
      assert.isNotNull(piece, "the stream ended")
      text += piece
      if (text.includes(end)) return text
    }
  }
  return { goesOn, rest, until }
}

const streams = async (world: World): Promise<ReadonlyArray<string>> => [
  "/api/v1/bound/reviews/stream",
  `/api/v1/bound/kill/stream?target_type=agent&target_id=${await world.register("watched")}`
]

describe("a stream", () => {
  it("ends when its key is revoked", async () => {
    const world = await opened()
    const { url } = await beside(world, (context) => context, times)
    for (const path of await streams(world)) {
      const { id, key } = await world.mint(UNIT)
      const { goesOn, rest } = await reading(url + path, key)
      await goesOn()
      await world.runtime.runPromise(IngestKeys.use((keys) => keys.revoke(id, systemHost)))
      await rest()
      assert.strictEqual((await world.send("GET", path, { token: key })).status, 401)
    }
  })

  it("ends when its person's token is over or gives no role, and not while that cannot be found out", async () => {
    const world = await opened()
    const claims = { subject: "ann", name: null, roles: ["admin"], groups: [], userIds: [], orgUnit: null }
    const ends = ["expired", { ...claims, roles: [] }] as const
    for (const [index, path] of (await streams(world)).entries()) {
      let answer = async (): Promise<typeof claims | (typeof ends)[number]> => claims
      const { url } = await beside(world, (context) => context, times, {
        issuer: "https://issuer.example",
        trustsCanonical: true,
        verify: () => answer()
      })
      const { goesOn, rest } = await reading(url + path, "a.b.c")
      let failed = 0
      answer = async () => {
        failed++
        throw new Error("the issuer does not answer")
      }
      await goesOn()
      assert.isAbove(failed, 0)
      answer = async () => ends[index]!
      await rest()
    }
  })

  it("shows a person what the person may see by now", async () => {
    const world = await opened()
    let orgUnit = UNIT
    const scopes: Array<Scope["orgUnits"]> = []
    const { url } = await beside(
      world,
      (context) => {
        const reviews = Context.get(context, Reviews)
        return Context.add(context, Reviews, {
          ...reviews,
          changes: (place, waitMs, query, scope, own) => {
            scopes.push(scope!.orgUnits)
            return reviews.changes(place, waitMs, query, scope, own)
          }
        })
      },
      times,
      {
        issuer: "https://issuer.example",
        trustsCanonical: true,
        verify: async () => ({ subject: "ann", name: null, roles: ["reviewer"], groups: [], userIds: [], orgUnit })
      }
    )
    const { goesOn } = await reading(`${url}/api/v1/bound/reviews/stream`, "a.b.c")
    await goesOn()
    assert.deepStrictEqual(scopes[0], [UNIT])
    orgUnit = OTHER_UNIT
    await goesOn()
    assert.deepStrictEqual(scopes.at(-1), [OTHER_UNIT])
  })
})

describe("a stream of the kill state", () => {
  it("sends changes of its target alone, and the epoch with each ping", async () => {
    const world = await opened()
    const { url } = await beside(world, (context) => context, times)
    const [watched, other] = [await world.register("watched"), await world.register("other")]
    const token = world.tokens.auditor
    const { until } = await reading(`${url}/api/v1/bound/kill/stream?target_type=agent&target_id=${watched}`, token)
    const halt = (target_id: string) =>
      world.send("POST", "/api/v1/bound/kill/activate", {
        token: world.tokens.admin,
        json: { target_type: "agent", target_id, response: "halt", reason: "It pays twice." }
      })
    assert.match(await until(": ping\nid: 0\n\n"), /^id: 0\nevent: kill\n/)
    assert.strictEqual((await halt(other)).status, 201)
    assert.match(await until(": ping\nid: 1\n\n"), /^(: ping\nid: [01]\n\n)+$/)
    await halt(watched)
    assert.match(await until('"halted":true'), /^(: ping\n(id: 1\n)?\n)*id: 2\nevent: kill\ndata: /)
  })
})

describe("a check of a caller", () => {
  it("comes not before its time, however many changes there are", async () => {
    const world = await opened()
    const count = { checks: 0, steps: 0 }
    const { url } = await beside(
      world,
      (context) => {
        const [reviews, keys] = [Context.get(context, Reviews), Context.get(context, IngestKeys)]
        return context.pipe(
          Context.add(Reviews, {
            ...reviews,
            changes: (place) =>
              Effect.suspend(() => {
                count.steps++
                return Effect.succeed({ changes: [], place })
              })
          }),
          Context.add(IngestKeys, {
            ...keys,
            authenticate: (key) =>
              Effect.suspend(() => {
                count.checks++
                return keys.authenticate(key)
              })
          })
        )
      },
      { pingMs: 60_000 }
    )
    const { goesOn } = await reading(`${url}/api/v1/bound/reviews/stream`, world.key)
    while (count.steps < 20) await goesOn()
    assert.strictEqual(count.checks, 1)
  })
})
