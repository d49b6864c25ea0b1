/**
 * `npm run slow -- idempotency`: kills a process (SIGKILL) at each statement of a request with an `Idempotency-Key`, on
 * SQLite and on Postgres, and sends the request again. Prints what each kill left, as a table.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import type { StoreAt } from "../src/crash/store-at.ts"
import { type Crash, crashes } from "../src/idempotency/crashes.ts"
import { numbersOf } from "./options.ts"

/** A commit is also cut off while it is under way, so many milliseconds after it began. */
const moments = (statement: string): ReadonlyArray<string> =>
  statement.startsWith("commit ") ? ["before", "during 0", "during 1", "during 3", "after"] : ["before", "after"]

const table = (name: string, found: ReadonlyArray<Crash>): void => {
  console.log(`${name}: ${found.length} SIGKILLs; no effect came twice, and none was lost`)
  const byStatement = Map.groupBy(found, ({ act, index, statement }) => `${act}, statement ${index}: ${statement}`)
  for (const [statement, all] of byStatement)
    console.log(`  ${statement}: ${all.map(({ moment, outcome }) => `${moment} → ${outcome}`).join("; ")}`)
  for (const act of ["order", "agent", "refused"] as const) {
    const outcomes = Map.groupBy(
      found.filter((one) => one.act === act),
      ({ outcome }) => outcome
    )
    console.log(`  ${act}: ${[...outcomes].map(([outcome, all]) => `${all.length} ${outcome}`).join(", ")}`)
  }
}

/** Runs the proof. True when every request took effect once, and every answer was kept or its loss said. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  numbersOf(args, [])
  const folder = mkdtempSync(join(tmpdir(), "flyball-idempotency-"))
  const server = await startPostgres()
  const { drop, url } = await freshDatabase(server.url)
  const places: ReadonlyArray<readonly [string, StoreAt]> = [
    ["SQLite", { sqlite: join(folder, "store.db") }],
    ["Postgres", { postgres: url }]
  ]
  try {
    for (const [name, at] of places)
      table(name, await crashes({ at, dir: join(folder, name), acts: ["order", "agent", "refused"], moments }))
    return true
  } finally {
    await drop()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
