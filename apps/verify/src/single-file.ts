/**
 * Entry of `flyball-verify.mjs`, the verifier as one file. Refuses a Node that is too old, answers `--version` and
 * `--help` at once, and loads the rest for everything else. `npm run build` joins it; a checkout runs `main.ts`.
 */
import { requireNode } from "./required-node.ts"
import manifest from "../package.json" with { type: "json" }
import help from "./help.txt"

// Whatever goes wrong before a verdict is status 4: 1 must only ever mean tampering.
process.exitCode = 4
const args = process.argv.slice(2)
const answer = (text: string): void => {
  // A reader that stopped reading (`| head`) is no fault.
  process.stdout.on("error", () => undefined)
  process.stdout.write(text)
  process.exitCode = 0
}

const tooOld = requireNode(process.versions.node)
if (tooOld !== null) process.stderr.write(`flyball-verify: ${tooOld}\n`)
else if (args.includes("--version")) answer(`flyball-verify ${manifest.version}\n`)
else if (args.includes("--help") || args.includes("-h")) answer(help)
else {
  import("./main.ts").catch((cause: unknown) => {
    process.exitCode = 4
    const text = cause instanceof Error ? cause.stack : String(cause)
    process.stderr.write(`flyball-verify: the verifier cannot be loaded, so nothing is said about the pack. ${text}\n`)
  })
}
