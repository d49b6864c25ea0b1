"use strict"
/**
 * What the launcher runs: the sources where they are, so that no edit is ever missed; else the bundle (decision 0014).
 *
 * Plain JavaScript that requires nothing of ours, so that `--version` and `--help` are answered before Node loads what
 * it needs to run TypeScript: half of the time that the answer took.
 *
 * Whatever goes wrong in here is status 4: 1 must only ever mean tampering.
 */
const { existsSync, readFileSync } = require("node:fs")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

const app = join(__dirname, "..")
const hasSources = existsSync(join(app, "src", "main.ts"))
const read = (file) => readFileSync(join(app, file), "utf8")
const args = process.argv.slice(2)

process.exitCode = 4
start().catch((cause) => {
  process.exitCode = 4
  process.stderr.write(
    `flyball-verify: the verifier cannot be loaded, so nothing is said about the pack. ${cause.stack}\n`
  )
})

async function start() {
  if (args.includes("--version")) answer(`flyball-verify ${JSON.parse(read("package.json")).version}\n`)
  else if (hasSources && (args.includes("--help") || args.includes("-h"))) answer(read("src/help.txt"))
  else await import(pathToFileURL(join(app, hasSources ? "src/main.ts" : "dist/flyball-verify.mjs")).href)
}

function answer(text) {
  // A reader that stopped reading (`| head`) is no fault.
  process.stdout.on("error", () => undefined)
  process.stdout.write(text)
  process.exitCode = 0
}
