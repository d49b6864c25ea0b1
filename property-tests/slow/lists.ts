/**
 * `npm run slow -- lists [--small N] [--large N]`: the first page, and one from the middle, of each list with each
 * filter, over a short and a long chain.
 *
 * A list must cost the same in both: it may not read more rows of the store, nor take more processor time, because more
 * lies there that it does not show. Filters that match nothing, or the oldest entry alone, are the worst case. Lists of
 * agents with such a filter read the registry, which has an agent for each 100 records here; docs/limits.md says so.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { CONTINUES, type Filled, fillStore, type ListCall, listCalls } from "../src/lists/filled-store.ts"
import { numbersOf } from "./options.ts"

/** Rounds of which the fastest counts: other work on the machine only adds. */
const ROUNDS = 5
/** Rows of the store that a page of 100 reads at most: each entry may need a few look-ups. */
const MOST_ROWS = 2_000
/** Rows of a page that reads all that it may, each with a look-up, and then names where to continue. */
const MOST_SEARCHED = 41_000
/** Processor time in which nobody notices a difference. Unit: milliseconds. */
const LITTLE_MS = 25
/** Growth of processor time that counts as flat. */
const FLAT = 2.5

interface Cost {
  readonly name: string
  readonly isOfRegistry: boolean
  readonly shown: number
  readonly rows: number
  readonly cpuMs: number
}

/** Runs the proof. True when every list is flat. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { large = 1_000_000, small = 10_000 } = numbersOf(args, ["large", "small"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-lists-"))
  try {
    const costs: Array<ReadonlyArray<Cost>> = []
    for (const records of [small, large]) {
      const startedAt = performance.now()
      const filled = await fillStore(join(folder, `${records}.db`), records)
      console.log(`${filled.records} records made in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
      costs.push(await costsOf(filled))
      await filled.close()
    }
    const [short, long] = costs as [ReadonlyArray<Cost>, ReadonlyArray<Cost>]
    return short.map((one, index) => isFlat(one, long[index]!)).every((holds) => holds)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const costsOf = async (filled: Filled): Promise<ReadonlyArray<Cost>> => {
  const costs: Array<Cost> = []
  for (const call of listCalls(filled)) costs.push(await costOf(filled, call))
  return costs
}

const costOf = async (filled: Filled, { ask, isOfRegistry = false, name }: ListCall): Promise<Cost> => {
  let best: Pick<Cost, "shown" | "rows" | "cpuMs"> | null = null
  for (let round = 0; round < ROUNDS; round++) {
    const rowsBefore = filled.rowsRead()
    const before = process.cpuUsage()
    const shown = await filled.count(ask)
    const { system, user } = process.cpuUsage(before)
    const cpuMs = (system + user) / 1_000
    if (best === null || cpuMs < best.cpuMs) best = { shown, rows: filled.rowsRead() - rowsBefore, cpuMs }
  }
  return { name, isOfRegistry, ...best! }
}

/** A page that searched all that it may costs the same in every longer chain. */
const hasContinued = ({ shown }: Cost): boolean => shown === CONTINUES

const isFlat = (short: Cost, long: Cost): boolean => {
  const holds = hasContinued(long)
    ? long.rows <= MOST_SEARCHED
    : long.rows <= MOST_ROWS && (long.cpuMs <= LITTLE_MS || long.cpuMs <= FLAT * short.cpuMs)
  const [before, after] = [short, long].map((one) => (hasContinued(one) ? "continues" : `${one.shown} shown`))
  const verdict = holds ? "ok  " : long.isOfRegistry ? "grows with the registry" : "FAIL"
  console.log(
    `${verdict} ${long.name}: ${before} and ${after}, ` +
      `${short.rows} and ${long.rows} rows read, ${short.cpuMs.toFixed(1)} and ${long.cpuMs.toFixed(1)} ms of ` +
      "processor time"
  )
  return holds || long.isOfRegistry
}
