/** `npm run build`: joins the server and the verifier, so that they start in a third of the time. Without it, and after any change, the sources run. */
import { globSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { LIST_VERSION } from "./built.cjs"
import { Inputs } from "./inputs.ts"
import { installProgram, makingFolder } from "./install.ts"
import { joinProgram } from "./join.ts"
import { type Program, programs } from "./programs.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** Makes a program; answers what puts it in its place. */
const make = async (program: Program): Promise<() => Promise<void>> => {
  const startedAt = performance.now()
  const inputs = new Inputs(root, Date.now)
  // What decides how it is joined, and which version of a package a name stands for.
  for (const name of [...globSync("scripts/build/*.{ts,cjs}", { cwd: root, exclude: ["**/*.test.ts"] }), ...globSync("node_modules/.package-lock.json", { cwd: root })]) inputs.read(inputs.path(name))
  const dist = inputs.path(`${program.app}/dist`)
  const making = makingFolder(dist)
  await joinProgram(program, making, root, inputs).catch((cause: unknown) => {
    rmSync(making, { recursive: true })
    throw cause
  })
  console.log(`${program.app}: ${inputs.all().length} files joined (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  return async () => {
    await inputs.settle(setTimeout)
    installProgram(dist, making, inputs.digest().slice(0, 16), { v: LIST_VERSION, files: inputs.all() }, Date.now())
  }
}

try {
  const made: Array<() => Promise<void>> = []
  for (const program of programs) made.push(await make(program))
  await Promise.all(made.map((install) => install()))
} catch (cause) {
  // The bundler draws a picture of the line below its sentence.
  const sentence = stripVTControlCharacters(cause instanceof Error ? cause.message : String(cause)).split("╭")[0]!.trim().replaceAll(/\s+/g, " ")
  console.error(`build: ${sentence}`)
  process.exitCode = 1
}
