/** A restore that fails halfway leaves nothing, so that it can be given again. The kernel refuses the writes. */
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { retiredLocations } from "@flyball/storage-sql/operations"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"
import { mainFile } from "./testing/programs.ts"

const BLOCK_BYTES = 512

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
  const small = await me.serve({ FLYBALL_DATA_DIR: "small" })
  await small.stop("SIGTERM")
  cpSync(me.path("small/flyball.db"), me.path(".flyball/flyball.db.retired-1"))
  const { err, status } = await me.flyball(["backup", "--out", "bk"])
  assert.strictEqual(status, 0, err)
}, 120_000)
afterAll(async () => {
  await me.leave()
})

/** Runs `flyball` where no file may become larger than this. */
const limited = (
  bytes: number,
  dataDir: string,
  ...args: ReadonlyArray<string>
): Promise<{ readonly status: number | null; readonly err: string }> => {
  const child = spawn(
    "sh",
    [
      "-c",
      `trap '' XFSZ; ulimit -f ${Math.floor(bytes / BLOCK_BYTES)}; exec "$0" "$@"`,
      process.execPath,
      mainFile,
      ...args
    ],
    {
      cwd: me.folder,
      env: { ...process.env, FLYBALL_DATA_DIR: dataDir },
      stdio: ["ignore", "ignore", "pipe"]
    }
  )
  let err = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, err })))
}

describe("a restore that fails halfway", { timeout: 120_000 }, () => {
  it("on a full disk removes what it wrote, the guard included, and can be repeated", async () => {
    const sizes = {
      retired: statSync(me.path("bk/store.db.retired-1")).size,
      store: statSync(me.path("bk/store.db")).size
    }
    assert.isBelow(
      sizes.retired,
      sizes.store - 4096,
      "the premise: the retired store is written, and the other one is not"
    )
    const { err, status } = await limited(sizes.store - 4096, "full", "restore", "--from", "bk", "--guard")
    assert.strictEqual(status, 1)
    assert.match(
      err,
      new RegExp(
        /^flyball restore: The store is unavailable: \S+flyball\.db cannot be written /.source +
          /\(EFBIG\); [^\n]+ Nothing was written\.\n$/.source
      )
    )
    assert.deepEqual(readdirSync(me.path("full"), { recursive: true }), ["guard"], "an empty folder is all")
    const again = await me.flyball(["restore", "--from", "bk", "--guard"], { FLYBALL_DATA_DIR: "full" })
    assert.strictEqual(again.status, 0, again.err)
    assert.isTrue(existsSync(me.path("full/flyball.db.retired-1")))
  })

  it("after a kill continues from the retired store; another file of that name is refused", async () => {
    mkdirSync(me.path("killed"))
    cpSync(me.path("bk/store.db.retired-1"), me.path("killed/flyball.db.retired-1"))
    const again = await me.flyball(["restore", "--from", "bk"], { FLYBALL_DATA_DIR: "killed" })
    assert.strictEqual(again.status, 0, again.err)
    rmSync(me.path("killed/flyball.db"))
    cpSync(me.path("bk/store.db"), me.path("killed/flyball.db.retired-1"))
    const other = await me.flyball(["restore", "--from", "bk"], { FLYBALL_DATA_DIR: "killed" })
    assert.match(other.err, /flyball\.db\.retired-1 exists already; move it away first/)
    assert.deepEqual(readdirSync(me.path("killed")), ["flyball.db.retired-1"])
  })

  it("has an empty file in its place replaced, but not beside a log", async () => {
    mkdirSync(me.path("empty"))
    writeFileSync(me.path("empty/flyball.db"), "")
    writeFileSync(me.path("empty/flyball.db-wal"), "what is left of another store")
    const beside = await me.flyball(["restore", "--from", "bk"], { FLYBALL_DATA_DIR: "empty" })
    assert.match(beside.err, /flyball\.db-wal exists already; move it away first/)
    rmSync(me.path("empty/flyball.db-wal"))
    const again = await me.flyball(["restore", "--from", "bk"], { FLYBALL_DATA_DIR: "empty" })
    assert.strictEqual(again.status, 0, again.err)
    assert.strictEqual(statSync(me.path("empty/flyball.db")).size, statSync(me.path("bk/store.db")).size)
  })

  it("in a database that holds a store leaves no retired one beside it", async () => {
    const url = { FLYBALL_DATABASE_URL: database.url }
    assert.strictEqual((await me.flyball(["import", starterFile], { ...url, FLYBALL_DATA_DIR: "theirs" })).status, 0)
    const { err, status } = await me.flyball(["restore", "--from", "bk"], { ...url, FLYBALL_DATA_DIR: "empty" })
    assert.strictEqual(status, 1)
    assert.match(err, /the database's schema flyball holds a store already/)
    assert.deepEqual(await Effect.runPromise(retiredLocations({ kind: "postgres", url: database.url })), [])
  })
})
