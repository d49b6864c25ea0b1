/**
 * Entry of `flyball-verify`, behind `bin/start.cjs`, which answers `--version` and `--help`. `npm run build` joins it
 * with everything it imports.
 *
 * Whatever goes wrong in here is status 4: 1 must only ever mean tampering.
 */
import { writeSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { printableLines } from "./reports/printable.ts"

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  // Only in a checkout: a release is one file, and nothing may appear beside it in an auditor's folder.
  if (import.meta.url.endsWith(".ts")) {
    const { enableCompileCache } = await import("node:module")
    enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/flyball-verify", import.meta.url)))
  }
  // What a check makes dies at once, so the heap's youngest part need not grow from 2 MB to 64.
  setFlagsFromString("--semi-space-growth-factor=1")
  const { run } = await import("./run.ts")
  return run(args, {
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    nowMs: Date.now,
    isTerminal: process.stderr.isTTY === true
  })
}

const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (cause) => (cause === null || cause === undefined ? resolve() : reject(cause)))
  })

/** Ends the process with status 4, at once: nothing that runs later may give another one. */
const fail = (cause: unknown): never => {
  try {
    if ((cause as { readonly code?: unknown } | null)?.code !== "EPIPE") writeSync(2, faultText(cause))
  } catch {
    // Standard error is closed or full. The status says it.
  }
  process.exit(4)
}

const faultText = (cause: unknown): string => {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return `flyball-verify: the verifier itself failed, so nothing is said about the pack. ${printableLines(text)}\n`
}

// Node ends with 1 where nobody listens, and 1 means tampering.
process.on("uncaughtException", fail)
process.on("unhandledRejection", fail)

// A reader that stopped reading (`| head`) does not change what was found; the write's own callback reports it.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)

// Without a top-level await, so that the single executable can hold it as CommonJS.
main(process.argv.slice(2)).then((status) => {
  process.exitCode = status
}, fail)
