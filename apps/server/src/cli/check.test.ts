import { copyFileSync, cpSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
})
afterAll(() => me.leave())

/** A copy of the store that was changed behind the server's back, beside a copy of its data folder. */
const tampered = async (name: string, sql: string) => {
  cpSync(me.path(".flyball"), me.path(name), { recursive: true })
  const db = new DatabaseSync(me.path(name, "flyball.db"))
  db.exec(sql)
  db.close()
  return me.flyball(["check"], { FLYBALL_DATA_DIR: name })
}

describe("flyball check", () => {
  it("says what it recomputed and compared when everything agrees", async () =>
    assert.deepEqual(await me.flyball(["check"]), {
      status: 0,
      out:
        "Chain: 300 records recomputed from the stored bytes; no difference; the last checkpoint covers 300 " +
        "records.\n" +
        "Replay: 300 records folded, 3 documents compared; no difference.\n",
      err: ""
    }))

  it("names the document that no record explains, without telling what a person wrote", async () => {
    const { err, out, status } = await tampered(
      "document",
      "UPDATE document SET body = replace(body, '\"L0\"', '\"L4\"') WHERE collection = (SELECT id FROM word " +
        "WHERE text = 'agents')"
    )
    assert.deepEqual([status, err], [1, ""])
    assert.match(out, /^Chain: 300 records .*no difference/)
    assert.match(out, /\nReplay: 300 records folded, 3 documents compared; 3 differences\.\nDifferences:\n/)
    assert.match(out, / {2}agents\/agt_\w{26} \/\w+: the records say "L0", the document "L4"\n/)
  })

  it("names the record whose bytes were changed, and lists no end of findings", async () => {
    const { err, out, status } = await tampered(
      "bytes",
      "UPDATE record SET bytes = CAST(replace(bytes, '\"ok\"', '\"no\"') AS BLOB) WHERE seq >= 7"
    )
    assert.deepEqual([status, err], [1, ""])
    assert.match(
      out,
      /^Chain: 300 records recomputed from the stored bytes; at least 100 findings\.\nFindings:\n {2}E_HASH at record 7: /
    )
    assert.match(out, /\n {2}E_\w+ at record \d+: expected [^\n]+, found [^\n]+\n/)
    assert.match(out, /\n {2}and 80 more\n/)
  })

  it("refuses a store that was put back to an older copy than was signed for", async () => {
    cpSync(me.path(".flyball"), me.path("older"), { recursive: true })
    const more = operator()
    try {
      copyFileSync(me.path("older", "flyball.db"), more.path("old.db"))
      const moved = { FLYBALL_DATA_DIR: me.path("older") }
      const server = await me.serve(moved)
      assert.strictEqual(
        (await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status,
        201
      )
      assert.strictEqual((await server.stop("SIGTERM")).status, 0)
      for (const command of ["check", "serve"]) {
        const { err, out, status } = await me.flyball([command], {
          ...moved,
          FLYBALL_DATABASE_URL: `sqlite:${more.path("old.db")}`
        })
        assert.deepEqual([status, out], [1, ""])
        assert.match(
          err,
          /^flyball (check|serve): A checkpoint of 30\d records was signed for \S+, but the store holds 300\. [^\n]+\n$/
        )
      }
    } finally {
      await more.leave()
    }
  })
})
