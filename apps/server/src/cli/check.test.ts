import { createHash } from "node:crypto"
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
        "Replay: 300 records folded, 3 documents compared; no difference.\n" +
        "Idempotency: 296 keys compared with the records that took them; no difference.\n" +
        "Not compared:\n" +
        "  working state: events and deliveries, secrets and letters of webhooks, checkpoints, windows of meters\n" +
        "  working state: latches, leases, requests for packs, last use of keys, settings\n" +
        "  look-up keys of documents that several may share\n" +
        "  documents and idempotency keys of retired chains\n" +
        "  digests of idempotency keys whose record misses a part\n",
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

  it("names the record whose bytes were changed, and limits the list of findings", async () => {
    const { err, out, status } = await tampered(
      "bytes",
      "UPDATE record SET bytes = CAST(replace(bytes, '\"ok\"', '\"no\"') AS BLOB) WHERE seq >= 7"
    )
    assert.deepEqual([status, err], [1, ""])
    assert.match(
      out,
      new RegExp(
        /^Chain: 300 records recomputed from the stored bytes; at least 100 /.source +
          /findings\.\nFindings:\n {2}E_HASH at record 7: /.source
      )
    )
    assert.match(out, /\n {2}E_\w+ at record \d+: expected [^\n]+, found [^\n]+\n/)
    assert.match(out, /\n {2}and 80 more\n/)
  })

  it("names the records whose idempotency keys were changed", async () => {
    const { err, out, status } = await tampered(
      "once",
      `
      DELETE FROM once WHERE seq = 10;
      UPDATE once SET digest = x'${"00".repeat(32)}' WHERE seq = 11;
      UPDATE once SET digest = x'' WHERE seq = 12;
      UPDATE once SET seq = 14 WHERE seq = 13;
      INSERT INTO once (scope, key, seq, digest) SELECT scope, 'never sent', seq, digest FROM once WHERE seq = 15;`
    )
    assert.deepEqual([status, err], [1, ""])
    assert.match(out, /\nReplay: 300 records folded, 3 documents compared; no difference\.\n/)
    assert.include(
      out,
      "\nIdempotency: 296 keys compared with the records that took them; 5 differences.\nDifferences:\n" +
        "  record 10: the records say an idempotency key, the table no row\n" +
        "  record 11 /digest: the records say the digest of the request, the table another digest\n" +
        "  record 12 /digest: the records say the digest of the request, the table none\n" +
        "  record 13 /seq: the records say 13, the table 14\n" +
        "  record 15: the records say no row of this key, the table a row\n"
    )
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

describe("a store with a record of a time past the year 9999", () => {
  let past: Operator
  beforeAll(async () => {
    past = operator()
    assert.strictEqual((await past.flyball(["import", starterFile])).status, 0)
    appendPastRecord(past.path(".flyball", "flyball.db"))
  })
  afterAll(() => past.leave())

  it("is started, answers what is read, and refuses what is written with what to do", async () => {
    const server = await past.serve()
    const list = await server.call("GET", "/api/v1/agents")
    assert.deepEqual([list.status, ((await list.json()) as ReadonlyArray<unknown>).length], [200, 3])
    const refused = await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })
    assert.deepEqual(
      [refused.status, ((await refused.json()) as { readonly code: string }).code],
      [503, "storage_unavailable"]
    )
    assert.include(server.err(), "restore a backup from before the clock was wrong")
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 1)
    assert.include(err, "no checkpoint can be signed before an operator intervenes")
  })

  it("is reported by the check", async () => {
    const { out, status } = await past.flyball(["check"])
    assert.strictEqual(status, 1)
    assert.match(out, /^Chain: 301 records recomputed from the stored bytes; \d findings?\.\n/)
    assert.match(out, /\n {2}E_\w+ at record 300: /)
  })
})

/** Appends a record that no writer seals: its time is past the year 9999. */
const appendPastRecord = (file: string): void => {
  const db = new DatabaseSync(file)
  const last = db.prepare("SELECT seq, kind, agent, hash FROM record ORDER BY seq DESC LIMIT 1").get()!
  const seq = Number(last["seq"]) + 1
  const prev = Buffer.from(last["hash"] as Uint8Array).toString("hex")
  const bytes = Buffer.from(
    `{"at":"+010000-01-01T00:00:00.000Z","body":{},"kind":"decision.witnessed","parts":[],` +
      `"prev":"${prev}","seq":${seq},"v":1}`
  )
  const hash = createHash("sha256")
    .update(Buffer.concat([Buffer.of(0), bytes]))
    .digest()
  db.prepare("INSERT INTO record (seq, kind, agent, at_ms, hash, bytes) VALUES (?, ?, ?, ?, ?, ?)").run(
    seq,
    last["kind"]!,
    last["agent"]!,
    Date.UTC(10_000, 0, 1),
    hash,
    bytes
  )
  db.close()
}
