/**
 * `node benchmarks/size/generate.ts --lines N [--first N] [--seed N] [--ids ordered|random]`: generated trace lines on
 * standard output.
 */
import { once } from "node:events"
import { parseArgs } from "node:util"
import { generateLines } from "./trace-lines.ts"

/** Characters gathered before they are written. */
const CHUNK = 256 * 1024

const { values } = parseArgs({
  options: {
    lines: { type: "string" },
    first: { type: "string", default: "0" },
    seed: { type: "string", default: "20261121" },
    ids: { type: "string", default: "ordered" }
  }
})
const lines = Number(values.lines)
const first = Number(values.first)
if (
  !Number.isSafeInteger(lines) ||
  !Number.isSafeInteger(first) ||
  (values.ids !== "ordered" && values.ids !== "random")
) {
  console.error("generate: --lines N is needed; --first N, --seed N and --ids ordered or random can be said")
  process.exit(2)
}

const source = generateLines(Number(values.seed), first, values.ids)
let chunk = ""
for (let index = 0; index < lines; index++) {
  chunk += source.next().value
  if (chunk.length < CHUNK) continue
  if (!process.stdout.write(chunk)) await once(process.stdout, "drain")
  chunk = ""
}
process.stdout.write(chunk)
