/**
 * `npm run slow -- kills [--rounds N] [--seed S]`: N SIGKILLs (300 unless said), half of them on SQLite and half on Postgres, at moments that the seed
 * chose, during concurrent capture, settlement, erasure and checkpoints; after each, everything acknowledged is there exactly once.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import type { StoreAt } from "../src/crash/capturing-process.ts"
import { killRounds } from "../src/crash/kill-rounds.ts"
import { numbersOf } from "./options.ts"

const ROUNDS = 300
const SEED = 20_261_121
/** Rounds on one store. A new store is begun after them: each round checks the whole chain, which grows by hundreds of records a round. */
const PER_STORE = 15

/** Kills rounds on new stores, one after the other; prints what came of them. */
const rounds = async (name: string, count: number, seed: number, store: (index: number) => Promise<{ readonly at: StoreAt; readonly drop: () => Promise<void> }>): Promise<boolean> => {
  const startedAt = performance.now()
  const total = { rounds: 0, acknowledged: 0, records: 0 }
  const folder = mkdtempSync(join(tmpdir(), "flyball-kills-"))
  try {
    for (let index = 0; total.rounds < count; index++) {
      const { at, drop } = await store(index)
      const now = Math.min(PER_STORE, count - total.rounds)
      try {
        const { acknowledged, records } = await killRounds(at, join(folder, `keys-${index}`), now, seed + index)
        total.rounds += now
        total.acknowledged += acknowledged
        total.records += records
      } finally {
        await drop()
      }
    }
    console.log(`${name}: ${total.rounds} SIGKILLs, ${total.acknowledged} acknowledged acts, ${total.records} records; none lost, none doubled, every chain verifies, documents equal the records; ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    return true
  } catch (error) {
    console.log(`${name}: FAIL after ${total.rounds} SIGKILLs: ${error instanceof Error ? error.message : String(error)}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the proof. True when nothing acknowledged was lost or doubled. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { rounds: count = ROUNDS, seed = SEED } = numbersOf(args, ["rounds", "seed"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-kills-"))
  const server = await startPostgres()
  try {
    const sqlite = await rounds("SQLite", Math.ceil(count / 2), seed, async (index) => ({ at: { sqlite: join(folder, `${index}.db`) }, drop: async () => {} }))
    const postgres = await rounds("Postgres", Math.floor(count / 2), seed, async () => {
      const { drop, url } = await freshDatabase(server.url)
      return { at: { postgres: url }, drop }
    })
    return sqlite && postgres
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
