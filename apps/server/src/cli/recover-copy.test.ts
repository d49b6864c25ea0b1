/** A copy of the store from between a recovery and the first start after it resembles a recovery that was stopped. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs"
import { afterAll, assert, beforeAll, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

const why = ["--accept-rollback", "--reason", "The guard is lost."]
let me: Operator
/** The chain that was recovered to, and in whose name records were signed after the copy was made. */
let live: string

beforeAll(async () => {
  me = operator()
  await (await me.serve({ FLYBALL_ORIGIN: "flyball.example/acme" })).stop("SIGTERM")
  copyFileSync(me.path(".flyball", "signing.key"), me.path("vault.key"))
  rmSync(me.path(".flyball", "guard"), { recursive: true })
  live = /continues as (\S+)\. Give/.exec((await me.flyball(["recover", ...why])).out)![1]!
  assert.strictEqual((await me.flyball(["backup", "--out", "bk"])).status, 0)
  const server = await me.serve()
  await server.call("POST", "/api/v1/admin/ingest-keys", { name: "agents", org_unit: "support" })
  await server.stop("SIGTERM")
}, 120_000)
afterAll(() => me.leave())

it.each([
  ["without a guard", []],
  ["with the backup's guard", ["--guard"]]
] as const)(
  "%s and a key of before: it continues under another name, never under that one",
  { timeout: 120_000 },
  async (_, guard) => {
    const host = { FLYBALL_DATA_DIR: `host${guard.length}` }
    mkdirSync(me.path(host.FLYBALL_DATA_DIR), { mode: 0o700 })
    copyFileSync(me.path("vault.key"), me.path(host.FLYBALL_DATA_DIR, "signing.key"))
    assert.strictEqual((await me.flyball(["restore", "--from", "bk", ...guard], host)).status, 0)
    for (const requested of [["serve"], ["recover", ...why]])
      assert.match(
        (await me.flyball(requested, host)).err,
        /from an older copy such as a vault's\. Run flyball restore --rename-key/
      )
    assert.strictEqual((await me.flyball(["restore", "--rename-key"], host)).status, 0)
    assert.match((await me.flyball(["serve"], host)).err, /flyball recover/)
    const { err, out } = await me.flyball(["recover", ...why], host)
    assert.match(out, /continues as flyball\.example\/acme~3-[0-9a-f]{8}\. Give/, err)
    assert.notInclude(out, `continues as ${live}`)
    assert.strictEqual(await (await me.serve(host)).stop("SIGTERM").then(({ status }) => status), 0)
  }
)
