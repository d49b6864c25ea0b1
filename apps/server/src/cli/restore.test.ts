/**
 * Tests the instructions that a restore prints: each is followed word for word, from a backup that was made under load.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Manifest } from "./backup/manifest.ts"
import { operator, type Operator, type Variables } from "./testing/commands.ts"
import { startLoad } from "./testing/load.ts"

const ORIGIN = "flyball.example/acme/prod"
const patience = { timeout: 240_000 }

let me: Operator
let vkey: string
beforeAll(async () => {
  me = operator()
  const server = await me.serve({ FLYBALL_ORIGIN: ORIGIN })
  const { out: token } = await me.flyball(["token", "--role", "admin"])
  const load = await startLoad(server, "busy", token.trim())
  const acknowledged = async (count: number): Promise<void> => {
    while (load.acknowledged() < count) await new Promise((resolve) => setImmediate(resolve))
  }
  await acknowledged(30)
  const { err, status } = await me.flyball(["backup", "--out", "bk"])
  assert.strictEqual(status, 0, err)
  await acknowledged(load.acknowledged() + 30)
  await load.stop()
  assert.strictEqual((await server.stop("SIGTERM")).status, 0)
  // What an auditor took home before the folder was lost.
  assert.strictEqual((await me.flyball(["export", "--kind", "full", "--out", "before.evp"])).status, 0)
  vkey = (await me.flyball(["vkey"])).out.trim()
  renameSync(me.path(".flyball"), me.path("lost"))
}, 240_000)
afterAll(() => me.leave())

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(me.path(folder, "manifest.json"), "utf8")) as Manifest

const bringKey = (dir: string): void => cpSync(me.path("lost", "signing.key"), me.path(dir, "signing.key"))

/** The commands that a text names, as words for {@link Operator.flyball}; TEXT is a person's. */
const commandsIn = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/flyball ((?:restore|recover)(?: --?[a-z-]+| TEXT)+)/g)].map(([, words]) =>
    words!.split(" ").map((word) => (word === "TEXT" ? "the host burnt down" : word))
  )

const adviceOf = (text: string, command: string): ReadonlyArray<string> => {
  const found = commandsIn(text).find(([first]) => first === command)
  assert.isDefined(found, `${command} in: ${text}`)
  return found!
}

/** No pack of what continues from here contradicts what the auditor has. */
const assertNoSplit = async (variables: Variables): Promise<void> => {
  for (const [name, ...chain] of [["now"], ["old", "--chain", ORIGIN]] as const) {
    const pack = `${variables["FLYBALL_DATA_DIR"]}-${name}.evp`
    const exported = await me.flyball(["export", "--kind", "full", ...chain, "--out", pack], variables)
    assert.strictEqual(exported.status, 0, exported.err)
    const compared = await me.verify(pack, "--compare", "before.evp", "--json")
    assert.notInclude(compared.out, "E_SPLIT_VIEW")
  }
}

const register = async (variables: Variables, name: string): Promise<void> => {
  const server = await me.serve(variables)
  assert.strictEqual((await server.call("POST", "/api/v1/agents", { name, org_unit: "x" })).status, 201)
  assert.strictEqual((await server.stop("SIGTERM")).status, 0)
}

describe("a restore with the backup's guard, when more was signed since", patience, () => {
  const here: Variables = { FLYBALL_DATA_DIR: "a" }

  it("prints the next steps, and nothing is signed until they are done", async () => {
    const { err, status } = await me.flyball(["restore", "--from", "bk", "--guard"], here)
    assert.strictEqual(status, 0, err)
    bringKey("a")
    const { err: refused, status: ended } = await me.flyball(["serve"], here)
    assert.strictEqual(ended, 1, "a start would contradict what others hold")
    const { guard } = manifestOf("bk")
    assert.include(refused, `The guard here is a backup's: it knows of ${guard!.size} signed records of ${ORIGIN}`)
    assert.deepEqual(adviceOf(refused, "recover"), adviceOf(err, "recover"), "both say the same")
    assert.strictEqual((await me.flyball(["rotate-key"], here)).status, 1)
    assert.strictEqual((await me.flyball(["check"], here)).status, 0, "and reading works")
    const need = await me.flyball(["recover"], here)
    assert.strictEqual(need.status, 2)
    assert.include(
      need.err,
      `the guard knows of ${guard!.size} signed records of ${ORIGIN} and may have forgotten later ones, and ` +
        `the store holds ${manifestOf("bk").tree.size}`
    )
    const recovered = await me.flyball(adviceOf(err, "recover"), here)
    assert.strictEqual(recovered.status, 0, recovered.err)
    assert.isFalse(existsSync(me.path("a/guard/from-backup")))
    await register(here, "late")
    await assertNoSplit(here)
  })

  it("is the same with a guard that was copied out of the backup by hand", async () => {
    const by: Variables = { FLYBALL_DATA_DIR: "b" }
    const { err } = await me.flyball(["restore", "--from", "bk"], by)
    assert.include(err, "take bk/guard")
    bringKey("b")
    cpSync(me.path("bk/guard"), me.path("b/guard"), { recursive: true })
    assert.include((await me.flyball(["serve"], by)).err, "The guard here is a backup's")
    assert.strictEqual((await me.flyball(adviceOf(err, "recover"), by)).status, 0)
    await register(by, "late")
    await assertNoSplit(by)
  })

  it("can be recovered with --guard-forgotten where the guard's backup marker is missing", async () => {
    const by: Variables = { FLYBALL_DATA_DIR: "c" }
    await me.flyball(["restore", "--from", "bk", "--guard"], by)
    bringKey("c")
    rmSync(me.path("c/guard/from-backup"))
    const { err, status } = await me.flyball(["recover", "--accept-rollback", "--reason", "x"], by)
    assert.deepEqual(
      [status, adviceOf(err, "recover")],
      [1, ["recover", "--accept-rollback", "--guard-forgotten", "--reason", "the host burnt down"]]
    )
    const recovered = await me.flyball(adviceOf(err, "recover"), by)
    assert.strictEqual(recovered.status, 0, recovered.err)
    await register(by, "late")
    await assertNoSplit(by)
  })

  it("is superseded by a newer copy of the guard", async () => {
    const by: Variables = { FLYBALL_DATA_DIR: "d" }
    await me.flyball(["restore", "--from", "bk", "--guard"], by)
    bringKey("d")
    for (const name of readdirSync(me.path("lost/guard"))) cpSync(me.path("lost/guard", name), me.path("d/guard", name))
    assert.match(
      (await me.flyball(["serve"], by)).err,
      /A checkpoint of \d+ records was signed for \S+, but the store holds \d+/
    )
  })
})

describe("a restore of the newest state", patience, () => {
  beforeAll(async () => {
    assert.strictEqual((await me.flyball(["backup", "--out", "last"], { FLYBALL_DATA_DIR: "lost" })).status, 0)
  })

  it("continues its chain once an operator confirms that nothing was signed since, at once or later", async () => {
    const atOnce: Variables = { FLYBALL_DATA_DIR: "e" }
    const { err, status } = await me.flyball(["restore", "--from", "last", "--guard", "--nothing-signed-since"], atOnce)
    assert.strictEqual(status, 0, err)
    bringKey("e")
    await register(atOnce, "next")
    const later: Variables = { FLYBALL_DATA_DIR: "f" }
    const { err: said } = await me.flyball(["restore", "--from", "last", "--guard"], later)
    bringKey("f")
    const accepted = await me.flyball(adviceOf(said, "restore"), later)
    assert.strictEqual(accepted.status, 0, accepted.err)
    assert.match(
      accepted.err,
      /^The guard in \S+f counts as the newest: \d+ records of \S+ were signed\. The server can be started\.\n$/
    )
    await register(later, "next")
    const again = await me.flyball(["restore", "--nothing-signed-since"], later)
    assert.strictEqual(again.status, 1)
    assert.match(
      again.err,
      /is not from a backup, or has signed since the restore: --nothing-signed-since does not apply/
    )
    assert.strictEqual(
      (await me.flyball(["restore", "--from", "last", "--nothing-signed-since"], { FLYBALL_DATA_DIR: "x" })).status,
      2
    )
  })
})

describe("a backup whose list tells of another guard", patience, () => {
  it("is refused before anything is written: manifest and guard file must agree", async () => {
    cpSync(me.path("bk"), me.path("lying"), { recursive: true })
    const { guard, ...rest } = manifestOf("bk")
    writeFileSync(
      me.path("lying/manifest.json"),
      JSON.stringify({ ...rest, guard: { ...guard, size: guard!.size - 1 } })
    )
    const { err, status } = await me.flyball(["restore", "--from", "lying", "--guard"], { FLYBALL_DATA_DIR: "g" })
    assert.strictEqual(status, 1)
    assert.match(
      err,
      new RegExp(
        /^flyball restore: manifest\.json in lying lists \d+ signed records of \S+ /.source +
          /with root [0-9a-f]{64}, and the folder guard beside it has \d+ signed records /.source +
          /of [^\n]+ Use another copy of this backup\.\n$/.source
      )
    )
    assert.isFalse(existsSync(me.path("g")))
  })
})

describe("a restored store without its signing key", patience, () => {
  it("can be checked, with its key named, and no file is created in the folder", async () => {
    const here: Variables = { FLYBALL_DATA_DIR: "h" }
    const { err, status } = await me.flyball(["restore", "--from", "bk", "--guard"], here)
    assert.strictEqual(status, 0)
    assert.include(
      err,
      "Without it flyball check and flyball vkey work; packs cannot be made, and the chain cannot continue."
    )
    const before = readdirSync(me.path("h")).sort()
    const check = await me.flyball(["check"], here)
    assert.deepEqual(
      [check.status, check.err],
      [
        0,
        `flyball: there is no signing.key in ${me.path("h")}; signatures are checked with the keys that the records ` +
          `name.\n`
      ],
      check.out
    )
    assert.deepEqual(await me.flyball(["vkey"], here), {
      status: 0,
      out: `${vkey}\n`,
      err: `flyball: there is no signing.key in ${me.path("h")}; this is the last key that the store's records name.\n`
    })
    const pack = await me.flyball(["export", "--kind", "full", "--out", "h.evp"], here)
    assert.deepEqual([pack.status, existsSync(me.path("h.evp"))], [1, false])
    assert.include(pack.err, "there is no signing key in")
    assert.deepEqual(readdirSync(me.path("h")).sort(), before)
  })

  it("can be checked without a guard too, and the check reports that it had none to compare with", async () => {
    const here: Variables = { FLYBALL_DATA_DIR: "i" }
    await me.flyball(["restore", "--from", "bk"], here)
    const check = await me.flyball(["check"], here)
    assert.strictEqual(check.status, 0, check.err)
    assert.include(
      check.err,
      "There is no guard either, so it is unknown whether more records were signed than the store has."
    )
  })

  it("is not given a new chain by a server with the wrong data folder, which refuses before it writes", async () => {
    mkdirSync(me.path("j"))
    cpSync(me.path("bk/store.db"), me.path("j/flyball.db"))
    for (const [command, dir] of [
      ["serve", "j"],
      ["serve", "elsewhere"],
      ["rotate-key", "j"]
    ] as const) {
      const { err, status } = await me.flyball([command], {
        FLYBALL_DATA_DIR: dir,
        FLYBALL_DATABASE_URL: "sqlite:j/flyball.db"
      })
      assert.strictEqual(status, 1)
      assert.match(
        err,
        /^flyball (serve|rotate-key): [^\n]*there is no signing key in [^\n]+\n$/,
        "and no word of a key that was made"
      )
    }
    assert.deepEqual([readdirSync(me.path("j")), existsSync(me.path("elsewhere"))], [["flyball.db"], false])
  })
})

describe("a guard that is garbled, with no copy anywhere", patience, () => {
  it("prints a way to recover, and that way works", async () => {
    const here: Variables = { FLYBALL_DATA_DIR: "k" }
    cpSync(me.path("lost"), me.path("k"), { recursive: true })
    const newest = readdirSync(me.path("k/guard")).sort().at(-1)!
    writeFileSync(me.path("k/guard", newest), "flyball-guard/v1\n")
    const { err, status } = await me.flyball(["serve"], here)
    assert.strictEqual(status, 1)
    assert.include(err, "Only when there is no copy anywhere: move the whole folder away, then flyball recover")
    renameSync(me.path("k/guard"), me.path("k-guard-garbled"))
    const recovered = await me.flyball(adviceOf(err, "recover"), here)
    assert.strictEqual(recovered.status, 0, recovered.err)
    await register(here, "late")
    await assertNoSplit(here)
  })
})
