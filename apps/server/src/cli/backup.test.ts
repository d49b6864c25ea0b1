import { spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { freshDatabase, type FreshDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Manifest } from "./backup/manifest.ts"
import { operator, type Operator, starterFile, type Variables } from "./testing/commands.ts"
import { mainFile } from "./testing/programs.ts"
import { startLoad } from "./testing/load.ts"

const serverUrl = process.env["FLYBALL_TEST_PG_URL"]

let me: Operator
const databases: Array<FreshDatabase> = []
beforeAll(async () => {
  if (serverUrl === undefined)
    throw new Error("FLYBALL_TEST_PG_URL should name a Postgres server. Run the tests with npm test, which starts one")
  me = operator()
  databases.push(await freshDatabase(serverUrl), await freshDatabase(serverUrl), await freshDatabase(serverUrl))
  const imported = await me.flyball(["import", starterFile])
  assert.strictEqual(imported.status, 0, imported.err)
})
afterAll(async () => {
  await me.leave()
  for (const database of databases) await database.drop()
})

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(me.path(folder, "manifest.json"), "utf8")) as Manifest

/**
 * The data folder of a backup's chain as an operator would have it again: the key from the vault, the guard from the
 * backup.
 */
const restored = async (from: string, to: string, dataDir: string, url: string): Promise<Variables> => {
  const variables = { FLYBALL_DATA_DIR: to, FLYBALL_DATABASE_URL: url }
  mkdirSync(me.path(to))
  cpSync(me.path(dataDir, "signing.key"), me.path(to, "signing.key"))
  const { err, status } = await me.flyball(["restore", "--from", from, "--guard", "--nothing-signed-since"], variables)
  assert.strictEqual(status, 0, err)
  return variables
}

const partials = (): ReadonlyArray<string> => readdirSync(me.folder).filter((name) => name.includes("partial"))

/** Patience for a test that starts a dozen processes beside a busy server. */
const patience = { timeout: 240_000 }

describe.each([
  ["SQLite", 0],
  ["Postgres", 1]
])("a backup on %s", patience, (name, which) => {
  const dataDir = `data-${which}`
  const variables = (): Variables => ({
    FLYBALL_DATA_DIR: dataDir,
    ...(name === "SQLite" ? {} : { FLYBALL_DATABASE_URL: databases[0]!.url })
  })
  const made = [`backup-${which}-0`, `backup-${which}-1`]

  it("is made beside a server that is written to and signs all the time", async () => {
    const server = await me.serve(variables())
    const { out: token } = await me.flyball(["token", "--role", "admin"], variables())
    const load = await startLoad(server, `busy-${which}`, token.trim())
    for (const out of made) {
      const before = load.acknowledged()
      const { err, status } = await me.flyball(["backup", "--out", out], variables())
      assert.strictEqual(status, 0, err)
      assert.match(
        err,
        new RegExp(
          /^Backed up \d+ records to backup-\d-\d; the last checkpoint in it covers /.source +
            /\d+\. The copy was opened and checked\. .*vault\.\n$/.source
        )
      )
      const manifest = manifestOf(out)
      assert.isAtLeast(manifest.tree.size, before + 2, "what was acknowledged before it began is in it")
      assert.deepEqual([manifest.backend, manifest.schema], [name.toLowerCase(), 1])
      assert.isAtLeast(manifest.guard!.size, manifest.checkpoint!.size)
      assert.isAtMost(manifest.guard!.size, manifest.tree.size)
      assert.deepEqual(readdirSync(me.path(out)).sort(), ["guard", "manifest.json", "origin", "store.db", "vkey"])
    }
    const { acknowledged, checkpoints, failures } = await load.stop()
    assert.deepEqual(failures, [], "the server answered throughout")
    assert.isAbove(checkpoints, 5)
    assert.isAbove(acknowledged.length, 20)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    const check = await me.flyball(["check"], variables())
    assert.strictEqual(check.status, 0, "the server lost nothing: its own store is sound")
  })

  it.each([
    ["SQLite", 0],
    ["Postgres", 1]
  ])("fits its guard, checks clean and is exported after it was restored into %s", async (_target, other) => {
    const out = made[other]!
    const place = await restored(
      out,
      `place-${which}-${other}`,
      dataDir,
      other === 0 ? `sqlite:restored-${which}.db` : databases[1 + which]!.url
    )
    const check = await me.flyball(["check"], place)
    assert.strictEqual(check.status, 0, check.out + check.err)
    assert.include(
      check.out,
      `Chain: ${manifestOf(out).tree.size} records recomputed from the stored bytes; no difference`
    )
    const pack = `pack-${which}-${other}.evp`
    assert.strictEqual(
      (await me.flyball(["export", "--kind", "full", "--disclose", "all", "--out", pack], place)).status,
      0
    )
    assert.strictEqual((await me.verify(pack, "--vkey", manifestOf(out).vkey, "--quiet")).status, 0)
    const { err, status } = await me.flyball(["import", starterFile], place)
    assert.deepEqual([status, err], [0, ""], "and the chain goes on")
  })

  it("that is killed leaves no backup, and the next one is made", async () => {
    const out = `killed-${which}`
    const child = spawn(process.execPath, [mainFile, "backup", "--out", out], {
      cwd: me.folder,
      env: { ...process.env, ...variables() },
      stdio: "ignore"
    })
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
    while (partials().length === 0 && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
    child.kill("SIGKILL")
    await ended
    assert.isFalse(existsSync(me.path(out)))
    assert.strictEqual(partials().length, 1, "what is left says by its name that it is not one")
    for (const left of partials()) rmSync(me.path(left), { recursive: true })
    assert.strictEqual((await me.flyball(["backup", "--out", out], variables())).status, 0)
  })
})

describe("a backup is refused", () => {
  it("into an existing folder, or where nothing can be written", async () => {
    mkdirSync(me.path("there"))
    const there = await me.flyball(["backup", "--out", "there"])
    assert.deepEqual(
      [there.status, there.err],
      [
        2,
        "flyball backup: --out there exists already; a backup is always a new folder. flyball backup --help " +
          "says how.\n"
      ]
    )
    assert.strictEqual((await me.flyball(["backup", "--out", "no/such/folder"])).status, 2)
    assert.strictEqual((await me.flyball(["backup"])).status, 2)
    const own = await me.flyball(["backup", "--out", ".flyball/guard/monday"])
    assert.deepEqual(
      [own.status, own.err],
      [
        2,
        "flyball backup: --out .flyball/guard/monday belongs to the data folder; name another place. flyball " +
          "backup --help says how.\n"
      ]
    )
    const unnameable = await me.flyball(["backup", "--out", "x".repeat(250)])
    assert.deepEqual([unnameable.status, unnameable.out], [1, ""])
    assert.match(
      unnameable.err,
      new RegExp(
        /^flyball backup: \S+ cannot be written: the name is too long /.source +
          /\(ENAMETOOLONG\)\. Nothing is left of the attempt\.\n$/.source
      )
    )
    if (process.getuid?.() !== 0) {
      mkdirSync(me.path("closed"), { mode: 0o500 })
      const closed = await me.flyball(["backup", "--out", "closed/b"])
      assert.match(closed.err, /^flyball backup: \S+ cannot be written: permission denied \(EACCES\)/)
    }
    chmodSync(me.path("there"), 0o700)
    const memory = await me.flyball(["backup", "--out", "m"], { FLYBALL_DATABASE_URL: "sqlite::memory:" })
    assert.deepEqual([memory.status, existsSync(me.path("m"))], [1, false])
  })

  it("of a store that is damaged at its end, or whose guard was lost", async () => {
    cpSync(me.path(".flyball"), me.path("damaged"), { recursive: true })
    const variables = { FLYBALL_DATA_DIR: "damaged" }
    const db = new DatabaseSync(me.path("damaged/flyball.db"))
    db.exec(
      "UPDATE record SET bytes = CAST(replace(bytes, 'args', 'argz') AS BLOB) WHERE seq = (SELECT max(seq) - 2 " +
        "FROM record)"
    )
    db.close()
    const damaged = await me.flyball(["backup", "--out", "d"], variables)
    assert.strictEqual(damaged.status, 1)
    assert.match(damaged.err, /^flyball backup: the copy is not valid: E_\w+ at record \d+, [^\n]+\n$/)
    cpSync(me.path(".flyball"), me.path("lost"), { recursive: true })
    rmSync(me.path("lost/guard"), { recursive: true })
    const lost = await me.flyball(["backup", "--out", "d"], { FLYBALL_DATA_DIR: "lost" })
    assert.deepEqual([lost.status, existsSync(me.path("d")), partials()], [1, false, []])
    assert.match(lost.err, /the store holds a checkpoint of \d+ records, but the guard in \S+ knows of 0/)
  })
})

describe("a restore", () => {
  beforeAll(async () => {
    assert.strictEqual((await me.flyball(["backup", "--out", "good"])).status, 0)
  })

  it("lists what to bring to a new host, and the server starts with it", async () => {
    const variables = { FLYBALL_DATA_DIR: "new-host" }
    const { err, status } = await me.flyball(["restore", "--from", "good"], variables)
    assert.strictEqual(status, 0, err)
    assert.match(
      err,
      new RegExp(
        /^Restored \d+ records of flyball\.local\/\w+, as they were at 20[^\n]+\n/.source +
          /Bring signing\.key back into [^\n]+\n/.source +
          /Bring the newest copy of the folder guard back [^\n]+\n/.source +
          /With that one the server does not start [^\n]+\n/.source +
          /[^\n]+flyball restore --nothing-signed-since\n/.source +
          /[^\n]+flyball recover[^\n]+\n$/.source
      )
    )
    assert.deepEqual(readdirSync(me.path("new-host")), ["flyball.db"])
    for (const name of ["signing.key", "guard"])
      cpSync(me.path(".flyball", name), me.path("new-host", name), { recursive: true })
    assert.strictEqual((await me.flyball(["check"], variables)).status, 0)
  })

  it("leaves an existing guard unchanged, and a store older than it does not start", async () => {
    cpSync(me.path(".flyball"), me.path("ahead"), { recursive: true })
    const variables = { FLYBALL_DATA_DIR: "ahead" }
    const server = await me.serve(variables)
    await server.call("POST", "/api/v1/agents", { name: "late", org_unit: "x" })
    await server.stop("SIGTERM")
    const guard = readdirSync(me.path("ahead/guard"))
    rmSync(me.path("ahead/flyball.db"))
    const inTheWay = await me.flyball(["restore", "--from", "good", "--guard"], variables)
    assert.match(inTheWay.err, /has a guard, which knows what was signed last; it is never replaced/)
    const { err, status } = await me.flyball(["restore", "--from", "good"], variables)
    assert.strictEqual(status, 0, err)
    assert.match(err, /has signed for \d+ records, and the backup holds \d+: the server will not start on it/)
    assert.deepEqual(readdirSync(me.path("ahead/guard")), guard)
    const start = await me.flyball(["serve"], variables)
    assert.strictEqual(start.status, 1)
    assert.match(start.err, /A checkpoint of \d+ records was signed/)
  })

  it("is refused over a store or its log, for another chain, and from a folder that is no backup", async () => {
    const taken = await me.flyball(["restore", "--from", "good"])
    assert.match(taken.err, /^flyball restore: a store exists at \S+\. Move it away first[^\n]+\n$/)
    mkdirSync(me.path("log"))
    writeFileSync(me.path("log/flyball.db-wal"), "what is left of another store")
    assert.match(
      (await me.flyball(["restore", "--from", "good"], { FLYBALL_DATA_DIR: "log" })).err,
      /flyball\.db-wal exists already; move it away/
    )
    assert.match(
      (
        await me.flyball(["restore", "--from", "good"], {
          FLYBALL_DATA_DIR: "x",
          FLYBALL_ORIGIN: "flyball.example/other"
        })
      ).err,
      /FLYBALL_ORIGIN names flyball\.example\/other/
    )
    assert.strictEqual((await me.flyball(["restore", "--from", "nowhere"], { FLYBALL_DATA_DIR: "x" })).status, 2)
    assert.match(
      (await me.flyball(["restore", "--from", "log"], { FLYBALL_DATA_DIR: "x" })).err,
      /is not a backup: manifest\.json cannot be read: it does not exist/
    )
    assert.isFalse(existsSync(me.path("x")))
  })

  it.each<[string, (folder: string) => void, RegExp]>([
    [
      "a file that was changed",
      (folder) => writeFileSync(`${folder}/origin`, "flyball.example/other\n"),
      /origin is not the file that was backed up: expected \d+ bytes/
    ],
    ["a file that is missing", (folder) => rmSync(`${folder}/store.db`), /store\.db cannot be read: it does not exist/],
    [
      "a list that names files elsewhere",
      (folder) =>
        writeFileSync(
          `${folder}/manifest.json`,
          readFileSync(`${folder}/manifest.json`, "utf8").replace('"store.db"', '"../store.db"')
        ),
      /is not the list of a backup/
    ],
    [
      "a newer format",
      (folder) =>
        writeFileSync(
          `${folder}/manifest.json`,
          readFileSync(`${folder}/manifest.json`, "utf8").replace("backup/v1", "backup/v2")
        ),
      /restore it with that version/
    ]
  ])("finds %s, and writes nothing", async (_name, damage, words) => {
    cpSync(me.path("good"), me.path("bad"), { recursive: true })
    damage(me.path("bad"))
    const { err, status } = await me.flyball(["restore", "--from", "bad"], { FLYBALL_DATA_DIR: "y" })
    rmSync(me.path("bad"), { recursive: true })
    assert.strictEqual(status, 1)
    assert.match(err, words)
    assert.isFalse(existsSync(me.path("y")))
  })

  it("restores the stores that a recovery retired, too", async () => {
    cpSync(me.path(".flyball"), me.path("retired"), { recursive: true })
    cpSync(me.path("good/store.db"), me.path("retired/flyball.db.retired-1"))
    assert.strictEqual(
      (await me.flyball(["backup", "--out", "with-retired"], { FLYBALL_DATA_DIR: "retired" })).status,
      0
    )
    assert.include(readdirSync(me.path("with-retired")), "store.db.retired-1")
    assert.strictEqual(
      (await me.flyball(["restore", "--from", "with-retired"], { FLYBALL_DATA_DIR: "retired-again" })).status,
      0
    )
    assert.deepEqual(readdirSync(me.path("retired-again")).sort(), ["flyball.db", "flyball.db.retired-1"])
  })
})
