/** The verifier as one executable: this host's Node with the program inside, for an auditor who installs nothing. */
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { programs } from "../build/programs.ts"

/** Marker that Node searches for in its own file. Fixed by Node. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"

/**
 * Writes `flyball-verify-V-<platform>-<arch>.gz` to `out`, and returns its name. The executable is for the platform
 * that it is made on.
 *
 * - Fails: throws with the report of the step that failed.
 */
export const makeExecutable = async (root: string, out: string): Promise<string> => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
  const name = `flyball-verify-${version}-${process.platform}-${process.arch}`
  const work = mkdtempSync(join(tmpdir(), "flyball-executable-"))
  try {
    const entry = Object.values(programs.find(({ app }) => app === "apps/verify")!.entries)[0]!
    // Node runs CommonJS from inside an executable, and no modules.
    const bundle = await rolldown({
      cwd: root,
      input: join(root, entry),
      platform: "node",
      moduleTypes: { ".txt": "text" }
    })
    await bundle.write({ file: join(work, "verify.cjs"), format: "cjs", codeSplitting: false })
    await bundle.close()
    const config = { main: "verify.cjs", output: "verify.blob", disableExperimentalSEAWarning: true }
    writeFileSync(join(work, "sea.json"), JSON.stringify(config))
    step(process.execPath, ["--experimental-sea-config", "sea.json"], work)
    const file = join(work, name)
    cpSync(process.execPath, file, { dereference: true })
    const injector = join(root, "node_modules", "postject", "dist", "cli.js")
    step(process.execPath, [injector, file, "NODE_SEA_BLOB", "verify.blob", "--sentinel-fuse", FUSE], work)
    chmodSync(file, 0o755)
    writeFileSync(join(out, `${name}.gz`), gzipSync(readFileSync(file)))
    // Node's own licences belong to its file.
    const licence = join(dirname(dirname(process.execPath)), "LICENSE")
    if (existsSync(licence)) cpSync(licence, join(out, "NODE-LICENSE.txt"))
    return `${name}.gz`
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const step = (program: string, args: ReadonlyArray<string>, cwd: string): void => {
  const { error, status, stderr, stdout } = spawnSync(program, args, { cwd, encoding: "utf8" })
  if (error !== undefined || status !== 0)
    throw new Error(`${args[0]} failed while the executable was made: ${error?.message ?? `${stdout}${stderr}`}`)
}
