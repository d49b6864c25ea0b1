/**
 * A server that gets invalid requests, and what holds of every refusal: listed in the contract, and nothing written.
 */
import { type AnyEndpoint, problems, refusalsOf } from "@flyball/contract/http"
import { afterAll, assert, beforeAll } from "vitest"
import { type GoodRequest, goodRequests } from "../http-requests.ts"
import { type Got, openWorld, type Sending, type World } from "../http-world.ts"

/** A way to spoil a good request: its name, what is sent in its place, and what `seen` says of the answer. */
export type BadRequest = readonly [
  name: string,
  sending: (json: GoodRequest["json"]) => Sending,
  expected: ReadonlyArray<unknown>
]

/** Summarizes the answer to a bad request: status, code or first type, loc. */
export const seen = ({ json, status }: Got): ReadonlyArray<unknown> =>
  Array.isArray(json?.detail) ? [status, json.detail[0].type, json.detail[0].loc.join(".")] : [status, json?.code]

/**
 * One server for the tests of a file, with a good request for each endpoint. Read `world` and `good` inside tests only.
 */
export const givenRefusedWorld = () => {
  let world: World
  let good: Awaited<ReturnType<typeof goodRequests>>

  beforeAll(async () => {
    world = await openWorld()
    good = await goodRequests(world)
  })
  afterAll(() => world.close())

  /** Everything that a refused request could have changed. */
  const everything = async (): Promise<ReadonlyArray<unknown>> => {
    const read = async (path: string) => (await world.send("GET", path, { token: world.admin })).json
    const { checkpoint: _, ...head } = await read("/api/v1/chain/head")
    return [
      head,
      (await read("/api/v1/agents")).length,
      (await read("/api/v1/evidence/packs")).length,
      (await read("/api/v1/admin/ingest-keys")).length,
      (await read("/api/v1/webhooks")).length
    ]
  }

  /** Sends what `bad` makes of good requests, and holds that nothing was written and only listed refusals came. */
  const refusedAlike = async (endpoint: AnyEndpoint, bad: ReadonlyArray<BadRequest>) => {
    const { json, path } = await good(endpoint)
    const before = await everything()
    const statuses = new Set(refusalsOf(endpoint).map((tag) => problems[tag].status))
    for (const [name, sending, expected] of bad) {
      const got = await world.send(endpoint.method, path, { token: world.admin, ...sending(json) })
      assert.deepStrictEqual(seen(got), expected, `${name}: ${got.text.slice(0, 300)}`)
      assert.isTrue(statuses.has(got.status), name)
      assert.isNotEmpty(got.headers.get("x-request-id"))
    }
    assert.deepStrictEqual(await everything(), before)
  }

  return {
    get world() {
      return world
    },
    get good() {
      return good
    },
    everything,
    refusedAlike
  }
}
