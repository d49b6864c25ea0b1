/** The command as a process: what it loads, what it answers at once, and that a fault of its own is never status 1. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const main = fileURLToPath(new URL("../bin/start.cjs", import.meta.url))
const sources = fileURLToPath(new URL("./main.ts", import.meta.url))
const pack = fileURLToPath(new URL("../../../fixtures/vectors/flyball-format/valid-full-5.evp", import.meta.url))
const call = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/** Prints every module that the program loads, then runs it. */
const listing = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module"
registerHooks({
  load: (url, context, next) => { process.stderr.write("LOADED " + url + "\\n"); return next(url, context) }
})`)}`
const loaded = (program: string, ...args: ReadonlyArray<string>): ReadonlyArray<string> =>
  call("--import", listing, program, ...args)
    .stderr.split("\n")
    .filter((line) => line.startsWith("LOADED file:"))
    .map((line) => line.slice(7))

describe("flyball-verify", () => {
  it("answers --version and --help without loading a module of ours", () => {
    expect(call(main, "--version")).toMatchObject({ status: 0, stderr: "", stdout: "flyball-verify 0.1.0\n" })
    const help = call(main, "--help").stdout
    expect(help).toMatch(/^flyball-verify checks an evidence pack offline/)
    expect(help).toContain("Exit status")
    for (const flag of ["--version", "--help"])
      expect(loaded(main, flag).filter((url) => url.endsWith(".ts"))).toEqual([])
  })

  it("loads no Effect, and of our packages only evidence", () => {
    const urls = loaded(sources, pack)
    expect(urls.length).toBeGreaterThan(20)
    expect(urls.filter((url) => /node_modules\/(?!@noble\/)/.test(url))).toEqual([])
    expect(urls.filter((url) => /\/packages\/(?!evidence\/)/.test(url))).toEqual([])
  })

  it("runs as a process, with the status of its report", () => {
    const { status, stderr, stdout } = call(main, pack)
    expect({ status, stderr }).toEqual({ status: 2, stderr: "" })
    expect(stdout).toContain("INTACT, BUT NOT ENOUGH")
  })

  it("says 4 for a pipe, and waits for nobody to write to it", () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-verify-pipe-"))
    try {
      const pipe = join(folder, "pipe")
      spawnSync("mkfifo", [pipe])
      for (const args of [[pipe], [pack, "--compare", pipe]]) {
        // A process that waits for a pipe cannot be stopped from within: only a bound from outside lets this fail.
        const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
          encoding: "utf8",
          timeout: 20_000,
          killSignal: "SIGKILL"
        })
        expect({ status, stderr }).toEqual({
          status: 4,
          stderr: "flyball-verify: This is not a plain file. Save the pack to one: it may have to be read twice.\n"
        })
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 60_000)

  it("says 4 for a table that a full disk cuts off, and leaves none", () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-verify-full-"))
    try {
      const table = join(folder, "table.csv")
      const [shell, many] = ['ulimit -f 1; exec "$@"', pack.replace("-5.evp", "-12.evp.gz")]
      const { status, stderr } = spawnSync(
        "bash",
        ["-c", shell, "bash", process.execPath, main, many, "--csv", table, "--quiet"],
        { encoding: "utf8", env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" } }
      )
      expect(status).toBe(4)
      expect(stderr).toContain(`flyball-verify: --csv ${table} cannot be written (EFBIG). Name a file`)
      expect(readdirSync(folder)).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("says 4 when it fails itself", () => {
    const source = 'JSON.stringify = () => { throw new Error("a fault of ours") }'
    const failing = `data:text/javascript,${encodeURIComponent(source)}`
    const { status, stderr } = call("--import", failing, main, pack, "--json")
    expect(status).toBe(4)
    expect(stderr).toContain("the verifier itself failed")
  })

  it("says 4 for what nobody catches, also after the report", () => {
    for (const fault of [
      "Promise.reject(new Error('a fault\\u202e\\u009b of ours'))",
      "Promise.reject(null)",
      "setImmediate(() => { throw new Error('a fault of ours') })"
    ]) {
      const preload = `data:text/javascript,${encodeURIComponent(`const stringify = JSON.stringify
        JSON.stringify = (...args) => { ${fault}; return stringify(...args) }`)}`
      for (const program of [main, sources]) {
        const { status, stderr } = call("--import", preload, program, pack, "--json")
        expect(status).toBe(4)
        expect(stderr).toContain("the verifier itself failed")
        expect(stderr).not.toMatch(/[\u202e\u009b]/)
      }
    }
  })
})
