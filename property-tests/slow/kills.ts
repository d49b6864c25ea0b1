/**
 * `npm run slow -- kills [--rounds N] [--seed S]`: N SIGKILLs (300 unless said), half of them on SQLite and half on
 * Postgres, at moments that the seed
 * chose: while a process starts, opens, works, signs and closes, during concurrent capture, settlement, erasure and
 * checkpoints. After each, the store is audited.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { killRounds } from "../src/crash/kill-rounds.ts"
import type { StoreAt } from "../src/crash/store-at.ts"
import { numbersOf } from "./options.ts"

const ROUNDS = 300
const SEED = 20_261_121
/**
 * Kills on one store. A new store is begun after them: each round checks the whole chain, which grows by hundreds of
 * records a round.
 */
const PER_STORE = 15

/** Kills processes on new stores, one after the other; prints what came of them. */
const rounds = async (
  name: string,
  count: number,
  seed: number,
  store: (index: number) => Promise<{ readonly at: StoreAt; readonly drop: () => Promise<void> }>
): Promise<boolean> => {
  const startedAt = performance.now()
  const total = { kills: 0, acknowledged: 0, records: 0, checkpoints: 0 }
  const stages = new Map<string, number>()
  const folder = mkdtempSync(join(tmpdir(), "flyball-kills-"))
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1)
  try {
    for (let index = 0; total.kills < count; index++) {
      const { at, drop } = await store(index)
      try {
        const killed = await killRounds(
          at,
          join(folder, `keys-${index}`),
          Math.min(PER_STORE, count - total.kills),
          seed + index
        )
        for (const member of ["kills", "acknowledged", "records", "checkpoints"] as const)
          total[member] += killed[member]
        for (const [stage, times] of killed.stages) stages.set(stage, (stages.get(stage) ?? 0) + times)
      } finally {
        await drop()
      }
      console.log(`${name}: ${total.kills} of ${count}, ${seconds()} s`)
    }
    const where = [...stages].map(([stage, times]) => `${times} ${stage}`).join(", ")
    console.log(
      `${name}: ${total.kills} SIGKILLs (last seen: ${where}), ${total.acknowledged} acknowledged acts, ` +
        `${total.records} records, ${total.checkpoints} checkpoints; none lost, none doubled, erased stays ` +
        `erased, one root for one size, every chain and pack verifies; ${seconds()} s`
    )
    return true
  } catch (error) {
    console.log(
      `${name}: FAIL after ${total.kills} SIGKILLs: ${error instanceof Error ? error.message : String(error)}`
    )
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
    // Side by side: much of the time is spent waiting for the lease of a process that was killed while it signed.
    const passed = await Promise.all([
      rounds("SQLite", Math.ceil(count / 2), seed, async (index) => ({
        at: { sqlite: join(folder, `${index}.db`) },
        drop: async () => {}
      })),
      rounds("Postgres", Math.floor(count / 2), seed, async () => {
        const { drop, url } = await freshDatabase(server.url)
        return { at: { postgres: url }, drop }
      })
    ])
    return passed.every(Boolean)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
