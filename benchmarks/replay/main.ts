/**
 * `flyball-verify --replay` over a chain of evaluations: processor time and highest resident memory, beside the same
 * without replay. One thread.
 *
 *     node benchmarks/replay/main.ts --evaluations 1200000 [--agents 50] [--step-ms 100] [--folder DIR]
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { measured } from "../size/measured-process.ts"
import { begin, evaluationsAfter } from "./chain.ts"
import { salted, type SaltedRecord, writePack } from "./pack-file.ts"

const { values } = parseArgs({
  options: {
    evaluations: { type: "string", default: "100000" },
    agents: { type: "string", default: "50" },
    "step-ms": { type: "string", default: "100" },
    folder: { type: "string" }
  }
})
const shape = {
  evaluations: Number(values.evaluations),
  agents: Number(values.agents),
  stepMs: Number(values["step-ms"])
}
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "flyball-replay-"))
const file = join(folder, "replay.evp")
const verify = fileURLToPath(new URL("../../apps/verify/src/main.ts", import.meta.url))

try {
  if (existsSync(file)) throw new Error(`${file} exists already. Name another folder.`)
  const begun = await begin(shape.agents)
  const { records, vkey } = await writePack(file, begun.pack.origin, begun.pack.header, recordsOf(begun))
  console.log(`${shape.evaluations} evaluations of ${shape.agents} agents, ${records} records`)
  for (const more of [[], ["--replay"]]) {
    const { cpuMs, peakRssMb, wallMs } = await measured(
      "verify",
      process.execPath,
      [verify, file, "--vkey", vkey, "--quiet", "--threads", "1", ...more],
      process.env
    )
    console.log(
      `verify ${more.join(" ").padEnd(8)} ${((cpuMs / shape.evaluations) * 1_000).toFixed(1)} us of CPU an ` +
        `evaluation, ${(wallMs / 1_000).toFixed(1)} s, ${Math.round(peakRssMb)} MB at most`
    )
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
}

function* recordsOf(begun: Awaited<ReturnType<typeof begin>>): Generator<SaltedRecord> {
  for (const record of begun.pack.records)
    yield { ...record, parts: record.parts.map(({ disclosed, name }) => ({ name, ...disclosed! })) }
  for (const record of evaluationsAfter(begun, shape)) yield salted(record)
}
