/**
 * `npm run size -- [--records N] [--ids ordered|random] [--folder DIR] [--zst-up-to N] [--check-up-to N] [--no-write]`:
 * what a record costs from ten thousand to ten million.
 *
 * One store grows by stages; a stage's cost of import is the stage's time for the stage's records, every other command
 * goes through the whole store.
 * Finished stages are kept in the folder, and a run that was stopped goes on after the last one.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { type Growth, growthBeside, REFERENCE } from "./beside.ts"
import { type Place, storeOf } from "./commands.ts"
import { writeReport } from "./report.ts"
import { runStage, type Stage } from "./stage.ts"

const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
/** On disk for each record: its share of the database, of one plain pack, and room for what differs. */
const BYTES_PER_RECORD = 1_900 + 1_700 + 400

const fail = (sentence: string): never => {
  console.error(`size: ${sentence}`)
  process.exit(1)
}

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "10000000" },
    ids: { type: "string", default: "ordered" },
    folder: { type: "string" },
    seed: { type: "string", default: "20261121" },
    "zst-up-to": { type: "string", default: "1000000" },
    "check-up-to": { type: "string", default: "1000000" },
    "no-write": { type: "boolean", default: false }
  }
})
const most = Number(values.records)
const zstUpTo = Number(values["zst-up-to"])
const checkUpTo = Number(values["check-up-to"])
const { ids } = values
if (![most, zstUpTo, checkUpTo].every(Number.isSafeInteger) || most < 1 || (ids !== "ordered" && ids !== "random"))
  fail("--records, --zst-up-to and --check-up-to take whole numbers, --ids takes ordered or random")
if (process.platform !== "linux") fail("it reads /proc, so it runs on Linux only")

const sizes = [...SIZES.filter((size) => size < most), most]
const folder = resolve(values.folder ?? join(tmpdir(), `flyball-size-${ids}-${values.seed}`))
mkdirSync(folder, { recursive: true })
const place: Place = { folder, seed: Number(values.seed), ids: ids as Place["ids"], say: (text) => console.error(text) }
const kept = join(folder, "stages.json")
const stages: Array<Stage> = existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as Array<Stage>) : []
const done = stages.at(-1)?.size ?? 0
const { bavail, bsize } = statfsSync(folder)
const needed = (most - done) * BYTES_PER_RECORD + done * 1_700
if (bavail * bsize < needed)
  fail(
    `${folder} needs about ${Math.ceil(needed / 1e9)} GB for ${most} records and has ` +
      `${Math.floor((bavail * bsize) / 1e9)} GB. Name another with --folder, or fewer --records`
  )
if (done === 0)
  for (const name of [storeOf(place), `${storeOf(place)}-wal`, `${storeOf(place)}-shm`, join(folder, "guard")])
    rmSync(name, { recursive: true, force: true })
else place.say(`going on after ${done} records in ${folder}`)

const startedAt = performance.now()
for (const size of sizes.filter((one) => one > done)) {
  place.say(`${size} records (${Math.round((performance.now() - startedAt) / 1_000)} s so far):`)
  stages.push(
    await runStage(place, stages.at(-1)?.size ?? 0, size, { zst: size > zstUpTo, check: size > checkUpTo }).catch(
      (cause: unknown) =>
        fail(
          `${cause instanceof Error ? cause.message : String(cause)}. The finished stages are kept in ` +
            `${folder}; the same command goes on from there`
        )
    )
  )
  writeFileSync(`${kept}.new`, JSON.stringify(stages))
  renameSync(`${kept}.new`, kept)
}
const keptBeside = join(folder, `beside-${most}.json`)
let beside: Growth | null = existsSync(keptBeside) ? (JSON.parse(readFileSync(keptBeside, "utf8")) as Growth) : null
if (beside === null && most > REFERENCE) {
  place.say(`${most} records beside ${REFERENCE} (${Math.round((performance.now() - startedAt) / 1_000)} s so far):`)
  beside = await growthBeside(place, most)
  writeFileSync(keptBeside, JSON.stringify(beside))
}
const { goals, markdown } = writeReport(stages, beside, ids as Place["ids"], !values["no-write"])
console.log(markdown)
for (const { goal, met, name, value } of goals)
  console.log(`${met ? "met   " : "missed"} ${name}: ${value}  (goal ${goal})`)
if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
process.exit(goals.every(({ met }) => met) ? 0 : 1)
