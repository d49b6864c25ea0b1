/** The whole of it in a copy of this tree: a clone, the build, a release of what it made, and a build that fails. */
import { spawn, spawnSync } from "node:child_process"
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const here = fileURLToPath(new URL("../..", import.meta.url))
let root: string
/** Folder of an installation without sources: `bin`, `dist` and the manifest of each app. */
let release: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "flyball-build-"))
  release = join(root, "release")
  // A build that was killed leaves `dist-<pid>`.
  const ours = (path: string): boolean => !/^(?:node_modules|dist(?:-\d+)?)$/.test(basename(path))
  for (const name of ["apps", "packages", "scripts", "fixtures/traces", "package.json", "LICENSE"])
    cpSync(join(here, name), join(root, name), { recursive: true, filter: ours })
  // Others' packages as they are; ours lead into the copy.
  mkdirSync(join(root, "node_modules", "@flyball"), { recursive: true })
  for (const name of readdirSync(join(here, "node_modules")))
    if (!["@flyball", ".cache"].includes(name))
      symlinkSync(join(here, "node_modules", name), join(root, "node_modules", name))
  for (const name of readdirSync(join(root, "packages")))
    symlinkSync(join(root, "packages", name), join(root, "node_modules", "@flyball", name))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/**
 * Prints every file that Node loads, and how many functions were made from text: that is what the schemas are compiled
 * to.
 */
const listing = `data:text/javascript,${encodeURIComponent(`
import { writeSync } from "node:fs"
import { registerHooks } from "node:module"
registerHooks({ load: (url, context, next) => { writeSync(2, "LOADED " + url + "\\n"); return next(url, context) } })
let compiled = 0
globalThis.Function = new Proxy(Function, {
  apply: (target, self, args) => { compiled++; return Reflect.apply(target, self, args) }
})
process.on("exit", () => writeSync(2, "COMPILED " + compiled + "\\n"))`)}`

const environment = (data = "data") => ({
  PATH: process.env["PATH"],
  FLYBALL_DATA_DIR: join(root, data),
  FLYBALL_PORT: "0",
  FLYBALL_DRAIN_MS: "0",
  FLYBALL_LOG_LEVEL: "silent"
})
const launcher = (name: string, from = root): string =>
  join(from, "apps", name === "flyball" ? "server" : "verify", "bin", name)
const run = (name: "flyball" | "flyball-verify", ...args: ReadonlyArray<string>) => runFrom(root, name, ...args)
const runFrom = (from: string, name: "flyball" | "flyball-verify", ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(launcher(name, from), args, {
    cwd: root,
    encoding: "utf8",
    env: { ...environment(), NODE_OPTIONS: `--import=${listing}` }
  })
  const lines = stderr.split("\n").filter((line) => !line.startsWith("COMPILED "))
  return {
    status,
    out: stdout,
    err: lines.filter((line) => !line.startsWith("LOADED ")).join("\n"),
    loaded: lines.filter((line) => line.startsWith("LOADED "))
  }
}
const build = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args.length === 0 ? [join(root, "scripts/build/main.ts"), "--apps"] : args, {
    cwd: root,
    encoding: "utf8"
  })
const fromSources = (loaded: ReadonlyArray<string>): boolean => loaded.some((line) => line.endsWith(".ts"))

/** Starts a server, lets an agent record one decision, makes a backup beside it, and stops it. */
const serveOnce = async (from: string, data: string) => {
  const log = join(root, `${data}.log`)
  // A file: a pipe that nobody reads while this process is busy is full, and ends the server with EAGAIN.
  const file = openSync(log, "w")
  const server = spawn(launcher("flyball", from), ["serve"], {
    cwd: root,
    env: { ...environment(data), NODE_OPTIONS: `--import=${listing}` },
    stdio: ["ignore", "pipe", file]
  })
  closeSync(file)
  const ended = new Promise<number | null>((resolve) => server.once("close", resolve))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout!).on("line", (line) => resolve(/ is ready at (http:\S+)$/.exec(line)![1]!))
    ended.then((status) => reject(new Error(`the server ended with ${status}: ${readFileSync(log, "utf8")}`)), reject)
  })
  const call = async (key: string, path: string, body: unknown) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return (await answer.json()) as { readonly key: string; readonly id: string }
  }
  const health = (await fetch(`${url}/healthz`)).status
  const command = (...args: ReadonlyArray<string>) =>
    spawnSync(launcher("flyball", from), args, { cwd: root, encoding: "utf8", env: environment(data) })
  const { key } = await call(command("token", "--role", "admin").stdout.trim(), "/admin/ingest-keys", {
    name: "key",
    org_unit: "support"
  })
  const { id } = await call(key, "/agents", { name: "bot" })
  await call(key, `/agents/${id}/decisions`, {
    client_ref: "run/1",
    action: "refund",
    status: "ok",
    args: { order: "W100" }
  })
  await call(key, `/agents/${id}/decisions`, { action: "refund" })
  const invalidQuery = (await fetch(`${url}/api/v1/agents?name=%ff`, { headers: { authorization: `Bearer ${key}` } }))
    .status
  const backup = command("backup", "--out", join(root, `${data}-backup`))
  server.kill("SIGTERM")
  const status = await ended
  const err = readFileSync(log, "utf8")
  return {
    health,
    invalidQuery,
    backup: backup.status,
    status,
    sources: fromSources(err.split("\n")),
    compiled: Number(/COMPILED (\d+)/.exec(err)?.[1])
  }
}

describe("npm run build", () => {
  let compiled: number

  it("is not needed: a clean clone runs its sources", async () => {
    const { out, status } = run("flyball", "--version")
    assert.deepEqual([out, status], ["0.1.0\n", 0])
    const served = await serveOnce(root, "source-data")
    compiled = served.compiled
    assert.deepInclude(served, { health: 200, invalidQuery: 422, backup: 0, status: 0, sources: true })
    assert.isAbove(compiled, 10)
  })

  it("bundles the programs with the licences of their contents, readable for any user", () => {
    const { status, stderr } = build()
    assert.deepEqual([status, stderr], [0, ""])
    for (const app of ["server", "verify"]) {
      const dist = join(root, "apps", app, "dist")
      assert.strictEqual(statSync(dist).mode & 0o777, 0o777 & ~process.umask())
      cpSync(dist, join(release, "apps", app, "dist"), { recursive: true })
      cpSync(join(root, "apps", app, "bin"), join(release, "apps", app, "bin"), { recursive: true })
      cpSync(join(root, "apps", app, "package.json"), join(release, "apps", app, "package.json"))
      assert.deepEqual(
        readdirSync(join(root, "apps", app)).filter((name) => name.startsWith("dist-")),
        []
      )
    }
    mkdirSync(join(release, "node_modules/.bin"), { recursive: true })
    symlinkSync(process.execPath, join(release, "node_modules/.bin/node"))
    const licences = readFileSync(join(root, "apps/verify/dist/LICENSES.txt"), "utf8")
    assert.match(licences, /@noble\/hashes [\d.]+ \(MIT\)[^]*Permission is hereby granted/)
    assert.deepEqual(
      [...licences.matchAll(/^(\S+) [\d.]+ \(.*\)$/gm)].map(([, name]) => name),
      ["@noble/ed25519", "@noble/hashes"]
    )
    assert.include(readFileSync(join(root, "apps/verify/dist/flyball-verify.mjs"), "utf8"), licences.trim())
  })

  it("bundles the SMTP connection of nodemailer, which is loaded with the first letter", () => {
    const dist = join(root, "apps/server/dist")
    const [chunk] = readdirSync(dist).filter((name) => /^smtp-connection-[\w-]+\.js$/.test(name))
    const loaded = build(
      "--input-type=module",
      "--eval",
      `console.log(typeof (await import("${join(dist, chunk!)}")).default)`
    )
    assert.deepEqual([loaded.stdout, loaded.status], ["function\n", 0])
    assert.match(readFileSync(join(dist, "LICENSES.txt"), "utf8"), /^nodemailer [\d.]+ \(MIT-0\)$/m)
  })

  it("does not affect a checkout, which runs its sources with every edit", () => {
    const file = join(root, "apps/server/src/version.ts")
    const text = readFileSync(file, "utf8")
    writeFileSync(file, text.replace('"0.1.0"', '"0.1.9"'))
    const edited = run("flyball", "--version")
    assert.deepEqual([edited.out, fromSources(edited.loaded)], ["0.1.9\n", true])
    writeFileSync(file, text)
    assert.isTrue(fromSources(run("flyball-verify", "--trusted-checkpoint").loaded))
  })

  it("behaves as the sources: it answers, its threads start, its schemas are compiled before use", async () => {
    assert.deepEqual(await serveOnce(release, "data"), {
      health: 200,
      invalidQuery: 422,
      backup: 0,
      status: 0,
      sources: false,
      compiled
    })
    const config = runFrom(release, "flyball", "config")
    assert.deepEqual([config.status, config.err, fromSources(config.loaded)], [0, "", false])
    const exported = runFrom(
      release,
      "flyball",
      "export",
      "--kind",
      "full",
      "--disclose",
      "all",
      "--out",
      join(root, "a.evp")
    )
    assert.deepEqual([exported.status, fromSources(exported.loaded)], [0, false], exported.err)
    const vkey = runFrom(release, "flyball", "vkey").out.trim()
    const verified = runFrom(release, "flyball-verify", join(root, "a.evp"), "--vkey", vkey, "--threads", "2")
    assert.deepEqual([verified.status, verified.err, fromSources(verified.loaded)], [0, "", false], verified.out)
    for (const flag of ["--version", "--help"]) {
      assert.deepEqual(runFrom(release, "flyball-verify", flag).out, run("flyball-verify", flag).out)
      assert.deepEqual(runFrom(release, "flyball", flag).out, run("flyball", flag).out)
    }
  })

  it("fails in one sentence, and keeps the earlier bundles", () => {
    const before = readdirSync(join(root, "apps/server"), { recursive: true }).sort()
    writeFileSync(join(root, "packages/storage-sql/src/sqlite/thread/sqlite-worker.ts"), 'import "./not-there.ts"\n')
    const failed = build()
    assert.notStrictEqual(failed.status, 0)
    assert.match(failed.stderr, /^build: .+not-there.+\n$/)
    assert.deepEqual(readdirSync(join(root, "apps/server"), { recursive: true }).sort(), before)
  })
})
