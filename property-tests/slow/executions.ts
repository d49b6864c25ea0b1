/**
 * `npm run slow -- executions [--decisions N]`: N executions (10,000 unless said) on SQLite that two people answer at
 * once: one answer counts, and no step runs twice. Then three processes run 300 executions on Postgres, and one is
 * killed in their midst. Then it kills a process (SIGKILL) before, within and after each
 * commit of an execution that calls an agent, waits for a person and calls it again, on SQLite and on Postgres. Another
 * process goes on. Prints what each kill left, as a table.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import type { StoreAt } from "../src/crash/store-at.ts"
import { decisionsUnderLoad } from "../src/workflows/decisions.ts"
import { killOneOfThree } from "../src/workflows/three-hosts.ts"
import { differencesIn, type RunCrash, runCrashes } from "../src/workflows/crashes.ts"
import { numbersOf } from "./options.ts"

const DECISIONS = 10_000
const OF_THREE_HOSTS = 300

const moments = () => ["before", "during 0", "during 1", "after"]

const table = (name: string, found: ReadonlyArray<RunCrash>): void => {
  console.log(`${name}: ${found.length} SIGKILLs; no execution was lost, and no agent did a step twice`)
  for (const [statement, all] of Map.groupBy(found, (one) => one.statement)) {
    const left = all.map(({ calls, ended, left: status, moment }) => {
      const repeated = calls.filter(([, times]) => times > 1).map(([step]) => step)
      const again = repeated.length === 0 ? "" : `, ${repeated.join(" and ")} sent again`
      return `${moment} → ${status}${ended === null ? "" : `, ${ended}`}${again}`
    })
    console.log(`  ${statement}: ${left.join("; ")}`)
  }
}

/** Runs the proof. True when every execution ended as it should, and replay finds no difference. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { decisions = DECISIONS } = numbersOf(args, ["decisions"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-executions-"))
  const server = await startPostgres()
  const { drop, url } = await freshDatabase(server.url)
  const places: ReadonlyArray<readonly [string, StoreAt]> = [
    ["SQLite", { sqlite: join(folder, "store.db") }],
    ["Postgres", { postgres: url }]
  ]
  try {
    const loaded = join(folder, "loaded.db")
    const { completed, seconds } = await decisionsUnderLoad({ sqlite: loaded }, join(folder, "loaded"), decisions)
    console.log(
      `${decisions} executions, each answered twice at once: ${completed} yes, ${decisions - completed} no, each on ` +
        `record once, and no step ran twice; ${seconds.toFixed(1)} s`
    )
    const shared = await freshDatabase(server.url)
    const of = { at: { postgres: shared.url }, dir: join(folder, "hosts"), moments }
    const three = await killOneOfThree(of.at, of.dir, OF_THREE_HOSTS)
    console.log(
      `Three hosts on Postgres, one killed after ${three.overBefore} of ${three.executions} executions: all ` +
        `completed, ${three.again} requests were sent again with the key of the first; ${three.seconds.toFixed(1)} s`
    )
    let differences = (await differencesIn(of)).length
    await shared.drop()
    for (const [name, at] of places) {
      const of = { at, dir: join(folder, name), moments }
      table(name, await runCrashes(of))
      const found = await differencesIn(of)
      if (found.length > 0) console.log(`  replay: ${JSON.stringify(found)}`)
      differences += found.length
    }
    return differences === 0
  } finally {
    await drop()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
