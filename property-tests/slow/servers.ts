/**
 * `npm run slow -- servers [--kills N] [--seed S]`: three servers on one Postgres, N SIGKILLs (60 unless said), twelve
 * callers; then the store is audited.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { killedServers } from "../src/servers/killed-servers.ts"
import { numbersOf } from "./options.ts"

const KILLS = 60
const SEED = 20_261_121
/** Kills on one store: a token lasts a quarter of an hour. */
const PER_STORE = 30

/** Runs the proof. True when nothing acknowledged was lost or doubled. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { kills = KILLS, seed = SEED } = numbersOf(args, ["kills", "seed"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-servers-"))
  const server = await startPostgres()
  const startedAt = performance.now()
  const total = { kills: 0, acknowledged: 0, records: 0, checkpoints: 0, again: 0, guardStates: 0 }
  try {
    for (let index = 0; total.kills < kills; index++) {
      const { drop, url } = await freshDatabase(server.url)
      const now = Math.min(PER_STORE, kills - total.kills)
      const came = await killedServers({
        databaseUrl: url,
        dataDir: join(folder, String(index)),
        servers: 3,
        callers: 12,
        kills: now,
        seed: seed + index,
        tell: (line) => console.log(line)
      })
      await drop()
      total.kills += now
      for (const member of ["acknowledged", "records", "checkpoints", "again", "guardStates"] as const)
        total[member] += came[member]
    }
    console.log(
      `3 servers, ${total.kills} SIGKILLs: ${total.acknowledged} acknowledged acts, ${total.again} put again ` +
        `to another server, ${total.records} records, ${total.checkpoints} checkpoints, ${total.guardStates} ` +
        "states of the guard; none lost, none doubled, one root for one size, every chain and pack verifies; " +
        `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
    )
    return true
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
