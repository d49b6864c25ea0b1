import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
})
afterAll(() => me.leave())

describe("flyball platform-key", () => {
  it("mints a key that a running server takes, lists it, and revokes it", async () => {
    const server = await me.serve()
    const flags = "--name shop --org-unit sales --plan starter --scopes usage:read,events:read"
    const ends = ["--expires-at", "2099-01-01T00:00:00Z"]
    const key = await me.flyball(["platform-key", "mint", ...flags.split(" "), ...ends])
    assert.match(key.out, /^fb_live_[A-Za-z0-9_]+\n$/)
    const status = async () =>
      (await fetch(`${server.url}/v1/usage`, { headers: { authorization: `Bearer ${key.out.trim()}` } })).status
    assert.strictEqual(await status(), 200)
    const [minted, ...others] = JSON.parse((await me.flyball(["platform-key", "list", "--json"])).out)
    assert.deepStrictEqual(
      [minted.org_unit, minted.plan, minted.scopes, others],
      ["sales", "starter", ["usage:read", "events:read"], []]
    )
    assert.deepStrictEqual(await me.flyball(["platform-key", "revoke", minted.id]), {
      status: 0,
      out: `The platform key ${minted.id} (shop) is revoked: its next request is refused.\n`,
      err: ""
    })
    assert.strictEqual(await status(), 401)
    assert.match((await me.flyball(["platform-key", "list"])).out, /shop {2}usage:read,events:read {2}revoked \d/)
    const missing = await me.flyball(["platform-key", "revoke", `pky_${"0".repeat(26)}`])
    assert.strictEqual(missing.status, 1)
    assert.include(missing.err, "There is no such platform key")
    await server.stop("SIGTERM")
  })
})
