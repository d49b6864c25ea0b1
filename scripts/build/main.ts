/**
 * `npm run build`: joins the server and the verifier into `dist` of each app, and makes the packages that are published
 * in `dist/packages`. `npm run build -- --apps` makes the programs only.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { joinProgram } from "./join.ts"
import { type Program, programs } from "./programs.ts"
import { stagePackages } from "../publish/stage.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** Makes a program beside `dist`, and then puts it in its place: a build that fails leaves the one before. */
const make = async (program: Program): Promise<void> => {
  const startedAt = performance.now()
  const app = join(root, program.app)
  const made = join(app, `dist-${process.pid}`)
  // Not a temporary folder of mode 0700: the image runs the program as another user.
  mkdirSync(made)
  try {
    await joinProgram(program, made, root)
    const before = `${made}-before`
    if (existsSync(join(app, "dist"))) renameSync(join(app, "dist"), before)
    renameSync(made, join(app, "dist"))
    rmSync(before, { recursive: true, force: true })
  } catch (cause) {
    rmSync(made, { recursive: true, force: true })
    throw cause
  }
  console.log(`${program.app}/dist: joined (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
}

try {
  for (const program of programs) await make(program)
  if (!process.argv.includes("--apps")) {
    const startedAt = performance.now()
    const folders = await stagePackages(root, join(root, "dist", "packages"))
    console.log(`dist/packages: ${folders.length} packages (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  }
} catch (cause) {
  // The bundler draws a picture of the line below its sentence.
  const message = stripVTControlCharacters(cause instanceof Error ? cause.message : String(cause))
  console.error(`build: ${message.split("╭")[0]!.trim().replaceAll(/\s+/g, " ")}`)
  process.exitCode = 1
}
