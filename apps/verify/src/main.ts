/**
 * Entry of `flyball-verify`, behind `bin/start.cjs`, which answers `--version` and `--help`. `npm run build` joins it with everything it imports.
 *
 * Whatever goes wrong in here is status 4: 1 must only ever mean tampering.
 */
import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  // Beside the program, never in a shared temporary folder: what is loaded from there is run.
  const cache = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../node_modules/.cache/flyball-verify" : ".cache", import.meta.url))
  enableCompileCache(cache)
  // For the threads: without it each strips the types again, which takes 10 MB.
  process.env["NODE_COMPILE_CACHE"] = cache
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
