import { spawn } from "node:child_process"
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, zstdDecompressSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"
import { mainFile } from "./testing/programs.ts"

let me: Operator
let vkey: string

beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
  vkey = (await me.flyball(["vkey"])).out.trim()
})
afterAll(() => me.leave())

const exports = (...args: ReadonlyArray<string>) => me.flyball(["export", ...args])
const tags = (pack: Uint8Array, tag: string): number =>
  Buffer.from(pack)
    .toString()
    .split("\n")
    .filter((line) => line.startsWith(`${tag} `)).length

describe("flyball export", () => {
  it("writes plain, gzip and zstd packs of the same records, which verify", async () => {
    const unpack: { readonly [name: string]: (bytes: Uint8Array) => Uint8Array } = {
      "a.evp": (bytes) => bytes,
      "a.evp.gz": gunzipSync,
      "a.evp.zst": zstdDecompressSync
    }
    for (const [name, open] of Object.entries(unpack)) {
      const { err, out, status } = await exports("--kind", "full", "--disclose", "args,result", "--out", name)
      assert.deepEqual(
        [status, out, err],
        [0, "", `Wrote 300 records to ${name}. Check it with: flyball-verify ${name} --vkey "$(flyball vkey)"\n`]
      )
      const pack = open(readFileSync(me.path(name)))
      assert.strictEqual(tags(pack, "R"), 300)
      assert.isAbove(tags(pack, "D"), 300)
      assert.strictEqual((await me.verify(name, "--vkey", vkey, "--quiet")).status, 0, name)
    }
  })

  it("covers every record with --checkpoint-now, without a server and beside one", async () => {
    const other = operator()
    const server = await other.serve()
    const busy = { now: true }
    try {
      await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })
      // Records that come meanwhile need not be covered.
      const writing = (async () => {
        for (let i = 0; busy.now; i++)
          await server.call("POST", "/api/v1/agents", { name: `busy ${i}`, org_unit: "support" })
      })()
      const beside = await other.flyball(["export", "--kind", "full", "--checkpoint-now", "--out", "beside.evp"])
      busy.now = false
      await writing
      assert.strictEqual(beside.status, 0, beside.err)
      assert.include(readFileSync(other.path("beside.evp"), "utf8"), "agent.registered")
      // Else it waited for the server's next checkpoint.
      assert.match(server.err(), /"message":"done by the host over the control socket","command":"checkpoint"/)
      await server.call("POST", "/api/v1/agents", { name: "bot 2", org_unit: "support" })
      await server.stop("SIGKILL")
      const alone = await other.flyball(["export", "--kind", "full", "--checkpoint-now", "--out", "alone.evp"])
      assert.deepEqual([alone.status, alone.err.includes("The store has")], [0, false], alone.err)
      assert.isAbove(
        tags(readFileSync(other.path("alone.evp")), "R"),
        tags(readFileSync(other.path("beside.evp")), "R")
      )
    } finally {
      busy.now = false
      await other.leave()
    }
    const retired = await exports("--kind", "full", "--chain", "a.example/b", "--checkpoint-now", "--out", "no.evp")
    assert.deepEqual([retired.status, retired.err.includes("--checkpoint-now is for the current chain")], [2, true])
  })

  it("writes ranges and selections, and says when nothing matches", async () => {
    assert.include(
      (await exports("--kind", "range", "--from", "5", "--to", "9", "--out", "range.evp")).err,
      "Wrote 5 records to range.evp."
    )
    assert.include(
      (await exports("--kind", "range", "--since", "2020-01-01T00:00:00Z", "--to", "3", "--out", "since.evp")).err,
      "Wrote 4 records to since.evp."
    )
    assert.include(
      (await exports("--kind", "sparse", "--record-kind", "agent.registered", "--out", "agents.evp")).err,
      "Wrote 3 records to agents.evp."
    )
    assert.strictEqual(tags(readFileSync(me.path("agents.evp")), "D"), 0)
    const none = await exports("--kind", "sparse", "--run", "no-such-run", "--out", "none.evp")
    assert.deepEqual(
      [none.status, none.err.split("\n")[1]],
      [0, "No record matches the request. The pack is empty, and proves nothing about other records."]
    )
  })

  it.each<[ReadonlyArray<string>, number, string]>([
    [
      ["--kind", "range", "--from", "5", "--to", "9999"],
      2,
      "--to: Expected a seq up to 299. flyball export --help says how."
    ],
    [
      ["--kind", "range", "--from", "9", "--to", "5"],
      2,
      "--from: Expected a seq up to 5. flyball export --help says how."
    ],
    [["--kind", "full", "--from", "5"], 2, "--from: Leave it out: a full pack cannot be filtered."],
    [
      ["--kind", "sparse", "--agent", "agt_00000000000000000000000000"],
      1,
      "--agent agt_00000000000000000000000000: there is no such agent in this store."
    ]
  ])("%j is refused, and leaves no file", async (args, expected, sentence) => {
    const { err, out, status } = await exports(...args, "--out", "refused.evp")
    assert.deepEqual([status, out, err.split("\n").length], [expected, "", 2], err)
    assert.include(err, `flyball export: ${sentence}`)
    assert.deepEqual(
      readdirSync(me.folder).filter((name) => name.includes("refused")),
      []
    )
  })

  it("replaces a file only with --force and a whole pack, and leaves nothing after a full disk", async () => {
    mkdirSync(me.path("out"))
    writeFileSync(me.path("out", "a.evp"), "the pack of yesterday")
    const refused = await exports("--kind", "full", "--out", "out/a.evp")
    assert.deepEqual(
      [refused.status, refused.err],
      [2, "flyball export: --out out/a.evp exists already; --force replaces it. flyball export --help says how.\n"]
    )
    const full = await limited(me.folder, [
      "export",
      "--kind",
      "full",
      "--disclose",
      "all",
      "--out",
      "out/a.evp",
      "--force"
    ])
    assert.deepEqual(
      [full.status, full.err],
      [
        1,
        "flyball export: out/a.evp cannot be written: the file is too large for the file system (EFBIG). Nothing is " +
          "left of the attempt.\n"
      ]
    )
    assert.deepEqual(
      [readdirSync(me.path("out")), readFileSync(me.path("out", "a.evp"), "utf8")],
      [["a.evp"], "the pack of yesterday"]
    )
    assert.strictEqual((await exports("--kind", "full", "--out", "out/a.evp", "--force")).status, 0)
    assert.deepEqual([readdirSync(me.path("out")), tags(readFileSync(me.path("out", "a.evp")), "R")], [["a.evp"], 300])
  })

  it("never writes to the store, the keys or the guard, by whatever name, with --force or without", async () => {
    const data = me.path(".flyball")
    symlinkSync(".flyball", me.path("link"))
    symlinkSync(".flyball/signing.key", me.path("soft.evp"))
    linkSync(me.path(".flyball", "flyball.db"), me.path("hard.evp"))
    const before = contentsOf(data)
    const own = [
      "flyball.db",
      "flyball.db-wal",
      "flyball.db-shm",
      "signing.key",
      "secrets.key",
      "vkey",
      "guard/0000000000000009"
    ]
    const names = [
      ...own.map((name) => `.flyball/${name}`),
      "link/flyball.db",
      "out/../.flyball/signing.key",
      me.path(".flyball/flyball.db"),
      "soft.evp",
      "hard.evp"
    ]
    for (const name of names) {
      for (const force of [[], ["--force"]]) {
        const { err, out, status } = await exports("--kind", "full", "--out", name, ...force)
        assert.deepEqual([status, out], [2, ""], name)
        assert.match(err, /^flyball export: --out \S+ belongs to the (?:store|data folder); name another place\./)
      }
    }
    assert.deepEqual(contentsOf(data), before)
    // A store with a second name is refused.
    rmSync(me.path("hard.evp"))
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("before the first checkpoint says how to get one", async () => {
    const other = operator()
    try {
      const server = await other.serve()
      await server.stop("SIGKILL")
      const { err, out, status } = await other.flyball(["export", "--kind", "full", "--out", "a.evp"])
      assert.deepEqual([status, out], [1, ""])
      assert.match(err, /^flyball export: [^\n]*no checkpoint is signed yet\. Start the server[^\n]+\n$/)
      assert.deepEqual(readdirSync(other.folder), [".flyball"])
    } finally {
      await other.leave()
    }
  })
})

/** The files of a folder, but for those that SQLite makes and takes away as it reads. */
const contentsOf = (folder: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-(?:wal|shm)$/.test(entry.name))
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name)).toString("base64")])

/** Runs `flyball` where no file may grow past 128 KiB: a full disk, without one. */
const limited = (
  folder: string,
  args: ReadonlyArray<string>
): Promise<{ readonly status: number | null; readonly err: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", 'ulimit -f 256; exec "$@"', "sh", process.execPath, mainFile, ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"]
    })
    let err = ""
    child.stderr.on("data", (chunk) => (err += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, err }))
  })
