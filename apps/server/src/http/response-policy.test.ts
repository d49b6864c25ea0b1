/** The response policy over HTTP: replaced only as it was read, where the caller says so. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "./http-world.ts"

const AT = "/api/v1/bound/response-policy"
let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const row = (response: string) => [{ scope: "default", trigger: "breaker", response }]
const get = () => world.send("GET", AT, { token: world.admin })
const put = (response: string, ifMatch?: string) =>
  world.send("PUT", AT, {
    token: world.admin,
    json: row(response),
    ...(ifMatch === undefined ? {} : { headers: { "if-match": ifMatch } })
  })

describe("PUT /bound/response-policy", () => {
  it("with If-Match replaces only the policy that was read", async () => {
    const first = (await get()).headers.get("etag")!
    const set = await put("drain", first)
    assert.strictEqual(set.status, 200, set.text)
    const second = set.headers.get("etag")!
    assert.notStrictEqual(second, first)
    assert.strictEqual((await get()).headers.get("etag"), second)
    const size = await world.size()
    for (const stale of [first, `W/${second}`, "p1", '"x"', ""]) {
      const refused = await put("halt", stale)
      assert.deepStrictEqual([refused.status, refused.json.code], [409, "policy_version_conflict"], stale)
      assert.strictEqual(`"p${refused.json.version}"`, second)
    }
    assert.strictEqual(await world.size(), size, "nothing is recorded")
    assert.strictEqual((await get()).json[0].response, "drain")
    assert.strictEqual((await put("halt", second)).status, 200)
    assert.strictEqual((await put("notify", "*")).status, 200)
    assert.strictEqual((await put("drain")).status, 200)
  })
})
