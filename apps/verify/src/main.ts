/**
 * Entry of `flyball-verify`. It answers `--version` and `--help` before anything heavy is loaded.
 *
 * Whatever goes wrong in here is status 4: 1 must only ever mean tampering.
 */
import { readFileSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"
import { helpText } from "./help.ts"

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  if (args.includes("--version")) {
    process.stdout.write(`flyball-verify ${version()}\n`)
    return 0
  }
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(helpText)
    return 0
  }
  // Beside the program, never in a shared temporary folder: what is loaded from there is run.
  enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/flyball-verify", import.meta.url)))
  const { run } = await import("./run.ts")
  return run(args, {
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    nowMs: Date.now,
    isTerminal: process.stderr.isTTY === true
  })
}

const version = (): string => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string }
  return version
}

const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (cause) => cause === null || cause === undefined ? resolve() : reject(cause))
  })

// A reader that stopped reading (`| head`) does not change what was found; the write's own callback reports it.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (cause) {
  process.exitCode = 4
  if ((cause as { readonly code?: unknown }).code !== "EPIPE") {
    process.stderr.write(`flyball-verify: the verifier itself failed, so nothing is said about the pack. ${cause instanceof Error ? cause.stack ?? cause.message : String(cause)}\n`)
  }
}
