/**
 * `npm run slow -- monitoring [--streams N]`: alerts on streams whose chance is exactly the threshold, all of them
 * false: in mode `anytime` at most its bound, in mode `threshold` beside it. And how many inferences a second are
 * taken.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { clopperPearson } from "../../packages/statistics/src/index.ts"
import { ALPHA, nullStreams } from "../src/monitoring/null-streams.ts"
import { inferencesPerSecond } from "../src/monitoring/throughput.ts"
import { numbersOf } from "./options.ts"

/** Inferences a second that are the goal. */
const GOAL = 20_000

/** Runs the proof. True when every promise holds. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { streams = 1_000 } = numbersOf(args, ["streams"])
  const { anytime, found, threshold } = nullStreams(streams, "monitoring 2026-11-28")
  const { low } = clopperPearson(anytime, streams)
  console.log(`anytime, alpha ${ALPHA}: ${anytime} of ${streams} null streams alerted; threshold alone: ${threshold}`)
  console.log(`anytime, three times the chance: ${found} of ${streams} alerted`)
  const folder = mkdtempSync(join(tmpdir(), "flyball-monitoring-"))
  try {
    const rate = await inferencesPerSecond(join(folder, "store.db"))
    console.log(`${Math.round(rate)} inferences a second at the route, calls of 1,000, 5 monitors, SQLite`)
    return low <= ALPHA && found === streams && rate >= GOAL
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
