/** The whole of it in a copy of this tree: a clone without the build, the build, what runs then, and what an edit does. */
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const here = fileURLToPath(new URL("../..", import.meta.url))
let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "flyball-build-"))
  const ours = (path: string): boolean => !["node_modules", "dist"].includes(basename(path))
  for (const name of ["apps", "packages", "scripts", "fixtures/traces", "package.json", "LICENSE"]) cpSync(join(here, name), join(root, name), { recursive: true, filter: ours })
  // Others' packages as they are; ours lead into the copy.
  mkdirSync(join(root, "node_modules", "@flyball"), { recursive: true })
  for (const name of readdirSync(join(here, "node_modules"))) if (!["@flyball", ".cache"].includes(name)) symlinkSync(join(here, "node_modules", name), join(root, "node_modules", name))
  for (const name of readdirSync(join(root, "packages"))) symlinkSync(join(root, "packages", name), join(root, "node_modules", "@flyball", name))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Prints every file that Node loads, and how many functions were made from text: that is what the schemas are compiled to. */
const listing = `data:text/javascript,${encodeURIComponent(`
import { writeSync } from "node:fs"
import { registerHooks } from "node:module"
registerHooks({ load: (url, context, next) => { writeSync(2, "LOADED " + url + "\\n"); return next(url, context) } })
let compiled = 0
globalThis.Function = new Proxy(Function, { apply: (target, self, args) => { compiled++; return Reflect.apply(target, self, args) } })
process.on("exit", () => writeSync(2, "COMPILED " + compiled + "\\n"))`)}`

const environment = (data = "data") => ({ PATH: process.env["PATH"], FLYBALL_DATA_DIR: join(root, data), FLYBALL_PORT: "0", FLYBALL_DRAIN_MS: "0", FLYBALL_LOG_LEVEL: "silent" })
const launcher = (name: string): string => join(root, "apps", name === "flyball" ? "server" : "verify", "bin", name)
const run = (name: "flyball" | "flyball-verify", ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(launcher(name), args, { cwd: root, encoding: "utf8", env: { ...environment(), NODE_OPTIONS: `--import=${listing}` } })
  const lines = stderr.split("\n").filter((line) => !line.startsWith("COMPILED "))
  return { status, out: stdout, err: lines.filter((line) => !line.startsWith("LOADED ")).join("\n"), loaded: lines.filter((line) => line.startsWith("LOADED ")) }
}
const build = (...args: ReadonlyArray<string>) => spawnSync(process.execPath, args.length === 0 ? [join(root, "scripts/build/main.ts")] : args, { cwd: root, encoding: "utf8" })
const fromSources = (loaded: ReadonlyArray<string>): boolean => loaded.some((line) => line.endsWith(".ts"))

/** Starts a server, lets an agent record one decision, makes a backup beside it, and stops it. */
const serveOnce = async (data: string) => {
  const server = spawn(launcher("flyball"), ["serve"], { cwd: root, env: { ...environment(data), NODE_OPTIONS: `--import=${listing}` }, stdio: ["ignore", "pipe", "pipe"] })
  let err = ""
  server.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
  const ended = new Promise<number | null>((resolve) => server.once("close", resolve))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on("line", (line) => resolve(/ is ready at (http:\S+)$/.exec(line)![1]!))
    ended.then((status) => reject(new Error(`the server ended with ${status}: ${err}`)), reject)
  })
  const call = async (key: string, path: string, body: unknown) => {
    const answer = await fetch(`${url}/api/v1${path}`, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body) })
    return await answer.json() as { readonly key: string; readonly id: string }
  }
  const health = (await fetch(`${url}/healthz`)).status
  const command = (...args: ReadonlyArray<string>) => spawnSync(launcher("flyball"), args, { cwd: root, encoding: "utf8", env: environment(data) })
  const { key } = await call(command("token", "--role", "admin").stdout.trim(), "/admin/ingest-keys", { name: "key", org_unit: "support" })
  const { id } = await call(key, "/agents", { name: "bot" })
  await call(key, `/agents/${id}/decisions`, { client_ref: "run/1", action: "refund", status: "ok", args: { order: "W100" } })
  await call(key, `/agents/${id}/decisions`, { action: "refund" })
  const oddQuery = (await fetch(`${url}/api/v1/agents?name=%ff`, { headers: { authorization: `Bearer ${key}` } })).status
  const backup = command("backup", "--out", join(root, `${data}-backup`))
  server.kill("SIGTERM")
  const status = await ended
  return { health, oddQuery, backup: backup.status, status, sources: fromSources(err.split("\n")), compiled: Number(/COMPILED (\d+)/.exec(err)?.[1]) }
}

describe("npm run build", () => {
  let compiled: number

  it("is not needed: a clean clone runs its sources", async () => {
    const { out, status } = run("flyball", "--version")
    assert.deepEqual([out, status], ["0.1.0\n", 0])
    const served = await serveOnce("source-data")
    compiled = served.compiled
    assert.deepInclude(served, { health: 200, oddQuery: 422, backup: 0, status: 0, sources: true })
    assert.isAbove(compiled, 10)
  })

  it("joins the programs, which then load no source, with the licences of what is in them", () => {
    const { status, stderr } = build()
    assert.deepEqual([status, stderr], [0, ""])
    const config = run("flyball", "config")
    assert.deepEqual([config.status, config.err, fromSources(config.loaded)], [0, "", false])
    const list = JSON.parse(readFileSync(join(root, "apps/verify/dist/built.json"), "utf8")) as { readonly folder: string; readonly files: ReadonlyArray<{ readonly path: string }> }
    assert.deepEqual(list.files.filter(({ path }) => /node_modules\/(?!@noble\/|\.package-lock)|apps\/server/.test(path)), [])
    assert.match(readFileSync(join(root, "apps/verify/dist", list.folder, "LICENSES.txt"), "utf8"), /@noble\/hashes [\d.]+ \(MIT\)[^]*Permission is hereby granted/)
  })

  it("joins the SMTP connection of nodemailer, which is loaded with the first letter", () => {
    const { folder } = JSON.parse(readFileSync(join(root, "apps/server/dist/built.json"), "utf8")) as { readonly folder: string }
    const made = join(root, "apps/server/dist", folder)
    const [chunk] = readdirSync(made).filter((name) => /^smtp-connection-[\w-]+\.js$/.test(name))
    const loaded = build("--input-type=module", "--eval", `console.log(typeof (await import("${join(made, chunk!)}")).default)`)
    assert.deepEqual([loaded.stdout, loaded.status], ["function\n", 0])
    assert.match(readFileSync(join(made, "LICENSES.txt"), "utf8"), /^nodemailer [\d.]+ \(MIT-0\)$/m)
  })

  it("leaves the server what it was: it answers, its threads start, its schemas are compiled before they are used", async () => {
    assert.deepEqual(await serveOnce("data"), { health: 200, oddQuery: 422, backup: 0, status: 0, sources: false, compiled })
    const exported = run("flyball", "export", "--kind", "full", "--disclose", "all", "--out", join(root, "a.evp"))
    assert.deepEqual([exported.status, fromSources(exported.loaded)], [0, false], exported.err)
    const verified = run("flyball-verify", join(root, "a.evp"), "--vkey", run("flyball", "vkey").out.trim(), "--threads", "2")
    assert.deepEqual([verified.status, verified.err, fromSources(verified.loaded)], [0, "", false], verified.out)
  })

  it("is not used after an edit, whatever the edited file's size and time; nor after it is taken back, is it made anew", () => {
    const file = join(root, "apps/server/src/cli/help.ts")
    const text = readFileSync(file, "utf8")
    const { atime, mtime } = statSync(file)
    writeFileSync(file, text.replace("\"0.1.0\"", "\"0.1.9\""))
    utimesSync(file, atime, mtime)
    const edited = run("flyball", "--version")
    assert.deepEqual([edited.out, fromSources(edited.loaded)], ["0.1.9\n", true])
    writeFileSync(file, text)
    const back = run("flyball", "--version")
    assert.deepEqual([back.out, fromSources(back.loaded)], ["0.1.0\n", false])
  })

  it("fails without failing the install, and what was joined before is not used for other sources", () => {
    writeFileSync(join(root, "packages/storage-sql/src/sqlite/worker.ts"), "import \"./not-there.ts\"\n")
    assert.notStrictEqual(build().status, 0)
    const install = build(join(root, "scripts/build/after-install.cjs"))
    assert.strictEqual(install.status, 0)
    assert.match(install.stderr, /^flyball: the programs were not joined \(.+not-there.+\), so they run from their sources and start slower\. npm run build tries again\.\n$/)
    assert.isTrue(fromSources(run("flyball", "--version").loaded))
    assert.isTrue(existsSync(join(root, "apps/server/dist/built.json")))
  })
})
