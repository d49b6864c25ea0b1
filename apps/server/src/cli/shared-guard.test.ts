/** Servers with data folders of their own, as on several hosts, on one store and one signing guard. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { type FreshDatabase, freshDatabase, givenDatabase, openDatabase } from "@flyball/testkit/postgres"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { operator, type Operator, type RunningServer, starterFile, type Variables } from "./testing/commands.ts"
import { type Gate, gateBefore } from "./testing/gate.ts"

const anyDatabase = givenDatabase({ beforeAll, afterAll })
let me: Operator
let store: FreshDatabase
let guards: FreshDatabase
beforeEach(async () => {
  me = operator()
  ;[store, guards] = [await freshDatabase(anyDatabase.url), await freshDatabase(anyDatabase.url)]
})
afterEach(async () => {
  await me.leave()
  for (const database of [store, guards]) await database.drop()
})

/** A host: its data folder, the store, and the guard. */
const host = (name: string, guard: string | null = guards.url): Variables => ({
  FLYBALL_DATA_DIR: me.path(name),
  FLYBALL_DATABASE_URL: store.url,
  ...(guard === null ? {} : { FLYBALL_GUARD_URL: guard })
})

/** Copies the keys to another host, as an operator does, and no guard. */
const copyKeys = (from: string, to: string): void => {
  mkdirSync(me.path(to), { mode: 0o700 })
  for (const key of ["signing.key", "secrets.key"]) cpSync(me.path(from, key), me.path(to, key))
}

const register = async (server: RunningServer, name: string): Promise<number> =>
  (await server.call("POST", "/api/v1/agents", { name, org_unit: "support" })).status
const records = async (server: RunningServer): Promise<number> =>
  ((await (await server.call("GET", "/api/v1/chain/head")).json()) as { tree_size: number }).tree_size
/** The second line of a checkpoint is its size. */
const signed = async (server: RunningServer): Promise<number> =>
  Number((await (await server.call("GET", "/api/v1/chain/checkpoint")).text()).split("\n")[1])

const guarded = async (): Promise<number> => {
  const { ask, close } = await openDatabase(guards.url)
  const rows = await ask("SELECT size::float8 AS size FROM flyball_guard.signed").finally(close)
  return rows[0]!["size"] as number
}

describe("two servers in separate folders", () => {
  it("sign one history with one guard, and each continues when the other is killed", { timeout: 180_000 }, async () => {
    const first = await me.serve(host("a"))
    copyKeys("a", "b")
    const second = await me.serve(host("b"))
    assert.deepEqual([await register(first, "one"), await register(second, "two")], [201, 201])
    const packs = await Promise.all(
      [first, second].map((server) => server.call("POST", "/api/v1/evidence/packs", { kind: "full" }))
    )
    assert.deepEqual(
      packs.map(({ status }) => status),
      [201, 201]
    )
    assert.isAtLeast(await guarded(), 3)
    assert.deepEqual([readdirSync(me.path("a", "guard")), readdirSync(me.path("b", "guard"))], [[], []])
    await first.stop("SIGKILL")
    assert.strictEqual(await register(second, "three"), 201)
    assert.strictEqual((await second.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    assert.strictEqual(await signed(second), await records(second))
    assert.strictEqual((await second.stop("SIGTERM")).status, 0)
    const exported = await me.flyball(["export", "--kind", "full", "--out", "all.evp"], host("b"))
    assert.strictEqual(exported.status, 0, exported.err)
    const vkey = (await me.flyball(["vkey"], host("b"))).out.trim()
    assert.strictEqual((await me.verify(me.path("all.evp"), "--vkey", vkey, "--quiet")).status, 0)
    const check = await me.flyball(["check"], host("a"))
    assert.deepEqual([check.status, check.err], [0, ""], check.out)
  })

  it("are refused with another signing key, guard or secrets key", { timeout: 180_000 }, async () => {
    const server = await me.serve(host("a"))
    await register(server, "one")
    await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })
    const refused = async (name: string, variables: Variables): Promise<string> => {
      const { err, out, status } = await me.flyball(["serve"], variables)
      assert.deepEqual([status, out], [1, ""], name)
      return err
    }
    copyKeys("a", "own-guard")
    assert.match(await refused("a guard of its own", host("own-guard", null)), /but the guard here knows of 0\./)
    const empty = await freshDatabase(anyDatabase.url)
    try {
      assert.match(await refused("another database", host("own-guard", empty.url)), /but the guard here knows of 0\./)
    } finally {
      await empty.drop()
    }
    assert.match(await refused("no key", host("no-key")), /there is no signing key in/)
    mkdirSync(me.path("other-key"), { mode: 0o700 })
    await me.flyball(["vkey"], { FLYBALL_DATA_DIR: me.path("other-key") })
    cpSync(me.path("a", "secrets.key"), me.path("other-key", "secrets.key"))
    assert.match(await refused("another key", host("other-key")), /The keys belong to flyball\.local/)
    copyKeys("a", "other-secrets")
    writeFileSync(me.path("other-secrets", "secrets.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`)
    assert.match(
      await refused("another secrets key", host("other-secrets")),
      /the key that encrypts webhooks' secrets in this/
    )
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
  })

  it("follow a rotation once they have the new key", { timeout: 180_000 }, async () => {
    await (await me.serve(host("a"))).stop("SIGTERM")
    copyKeys("a", "b")
    assert.strictEqual((await me.flyball(["rotate-key"], host("a"))).status, 0)
    const old = await me.flyball(["serve"], host("b"))
    assert.deepEqual([old.status, old.out], [1, ""])
    assert.match(old.err, /Record \d+ of \S+ rotates the signing key to /)
    cpSync(me.path("a", "signing.key"), me.path("b", "signing.key"))
    cpSync(me.path("a", "vkey"), me.path("b", "vkey"))
    assert.strictEqual((await (await me.serve(host("b"))).stop("SIGTERM")).status, 0)
  })
})

describe("a guard whose database is away", () => {
  let gate: Gate
  beforeEach(async () => {
    gate = await gateBefore(guards.url)
  })
  afterEach(() => gate.close().catch(() => undefined))

  it("stops signatures only, and signing resumes by itself", { timeout: 180_000 }, async () => {
    const server = await me.serve(host("a", gate.url))
    await register(server, "before")
    assert.strictEqual((await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    await gate.close()
    const before = await signed(server)
    assert.strictEqual(await register(server, "meanwhile"), 201)
    // A key is signed for at once, and not after ten seconds.
    const minted = await server.call("POST", "/api/v1/admin/ingest-keys", { name: "k", org_unit: "support" })
    assert.strictEqual(minted.status, 201)
    const pack = await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })
    assert.deepEqual([pack.status, ((await pack.json()) as { code: string }).code], [503, "storage_unavailable"])
    const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text()
    assert.match(await metrics(), /^flyball_checkpoints_total\{outcome="failed"\} [1-9]/m)
    assert.strictEqual((await fetch(`${server.url}/healthz`)).status, 200)
    for (let reads = 0; !server.err().includes("No checkpoint could be made"); reads++) {
      assert.isBelow(reads, 10_000, server.err())
      await metrics()
    }
    const line = server
      .err()
      .split("\n")
      .find((text) => text.includes("No checkpoint could be made"))!
    assert.include(line, "the signing guard in the schema flyball_guard of the database")
    assert.include(line, "ECONNREFUSED")
    const { password } = new URL(guards.url)
    if (password !== "") assert.notInclude(server.err(), password)
    const startsNow = await me.flyball(["serve"], host("a", gate.url))
    assert.deepEqual([startsNow.status, startsNow.out], [1, ""])
    assert.match(startsNow.err, /^flyball serve: [^\n]*the signing guard in [^\n]*ECONNREFUSED[^\n]*\n$/)
    await gate.open()
    while ((await signed(server)) === before) assert.strictEqual(server.err().includes("intervenes"), false)
    assert.strictEqual(await signed(server), await records(server))
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
  })
})

describe("backup, restore and recovery with a shared guard", () => {
  it(
    "a backup has the guard's state, and a restored store that is behind it is recovered",
    { timeout: 180_000 },
    async () => {
      const all = host("a")
      assert.strictEqual((await me.flyball(["import", starterFile], all)).status, 0)
      const backup = await me.flyball(["backup", "--out", "monday"], all)
      assert.strictEqual(backup.status, 0, backup.err)
      const manifest = JSON.parse(readFileSync(me.path("monday", "manifest.json"), "utf8")) as {
        guard: { size: number }
      }
      assert.strictEqual(manifest.guard.size, await guarded())
      const server = await me.serve(all)
      await register(server, "after")
      await server.stop("SIGTERM")
      copyKeys("a", "b")
      const other = await freshDatabase(anyDatabase.url)
      try {
        const restored = { ...all, FLYBALL_DATABASE_URL: other.url }
        const restore = await me.flyball(["restore", "--from", "monday"], restored)
        assert.strictEqual(restore.status, 0, restore.err)
        assert.match(
          restore.err,
          /The guard in the schema flyball_guard of the database \w+ at \S+ has signed for 3\d\d/
        )
        const taken = await me.flyball(["restore", "--from", "monday", "--guard"], restored)
        assert.match(taken.err, /of the database \w+ at \S+ has a guard, which knows what was signed last/)
        assert.match((await me.flyball(["serve"], restored)).err, /A checkpoint of 3\d\d records was signed for/)
        const recovered = await me.flyball(["recover", "--accept-rollback", "--reason", "lost"], restored)
        assert.strictEqual(recovered.status, 0, recovered.err)
        const again = await me.serve(restored)
        await register(again, "goes on")
        await again.stop("SIGTERM")
        const onB = { ...restored, FLYBALL_DATA_DIR: me.path("b") }
        assert.match((await me.flyball(["serve"], onB)).err, /Run flyball restore --rename-key/)
        assert.strictEqual((await me.flyball(["restore", "--rename-key"], onB)).status, 0)
        assert.strictEqual((await (await me.serve(onB)).stop("SIGTERM")).status, 0)
      } finally {
        await other.drop()
      }
    }
  )

  it("a lost guard is installed from a backup, and waits for a decision", { timeout: 180_000 }, async () => {
    assert.strictEqual((await me.flyball(["import", starterFile], host("a"))).status, 0)
    assert.strictEqual((await me.flyball(["backup", "--out", "monday"], host("a"))).status, 0)
    const [other, lost] = [await freshDatabase(anyDatabase.url), await freshDatabase(anyDatabase.url)]
    try {
      const restored = { ...host("a", lost.url), FLYBALL_DATABASE_URL: other.url }
      const restore = await me.flyball(["restore", "--from", "monday", "--guard"], restored)
      assert.strictEqual(restore.status, 0, restore.err)
      assert.match(restore.err, /The guard in the schema flyball_guard of the database \w+ at \S+ is a backup's/)
      assert.match((await me.flyball(["serve"], restored)).err, /The guard here is a backup's/)
      const accepted = await me.flyball(["restore", "--nothing-signed-since"], restored)
      assert.match(accepted.err, /^The guard in the schema flyball_guard of [^\n]+ counts as the newest/)
      assert.strictEqual((await (await me.serve(restored)).stop("SIGTERM")).status, 0)
    } finally {
      await other.drop()
      await lost.drop()
    }
  })

  it("a server that had its guard in its folder takes it along", { timeout: 180_000 }, async () => {
    assert.strictEqual((await me.flyball(["import", starterFile], host("a", null))).status, 0)
    assert.isNotEmpty(readdirSync(me.path("a", "guard")))
    const server = await me.serve(host("a"))
    await register(server, "moved")
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    assert.deepEqual(readdirSync(me.path("a", "guard")), [])
    assert.isAbove(await guarded(), 296)
  })
})
