/**
 * `npm run slow -- diskfull [--rounds N] [--seed S]`: every case of a full disk, N times (3 unless said), each filling
 * up twice and once at once.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fullDiskCases } from "../src/disk/cases.ts"
import { MOST_COMPLAINTS, ROOM_BYTES } from "../src/disk/full-disk.ts"
import { numbersOf } from "./options.ts"

const ROUNDS = 3
const SEED = 20_261_121
const ROOMS = [ROOM_BYTES, 0, ROOM_BYTES]

/** Runs the proof. True when every case went well. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { rounds = ROUNDS, seed = SEED } = numbersOf(args, ["rounds", "seed"])
  let failed = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, { name, run }] of fullDiskCases.entries()) {
      const folder = mkdtempSync(join(tmpdir(), "flyball-full-"))
      const startedAt = performance.now()
      try {
        const { book, complaints, refusals } = await run(folder, ROOMS, seed + round * fullDiskCases.length + index)
        if (complaints > MOST_COMPLAINTS * ROOMS.length) throw new Error(`the log complains ${complaints} times`)
        console.log(
          `ok   ${name}: ${refusals} refusals (${book.refused.size} decisions for sure not there), ` +
            `${complaints} complaints in the log, ${book.acknowledged} acknowledged acts; ` +
            `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
        )
      } catch (error) {
        failed += 1
        console.log(`FAIL ${name}, round ${round}: ${error instanceof Error ? error.message : String(error)}`)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  console.log(`${rounds} rounds of ${fullDiskCases.length} cases of a full disk: ${failed} failed`)
  return failed === 0
}
