/** Durable append in process: 1,000 decisions a transaction, against the same rows by node:sqlite. Design section 6. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { decisionsFrom } from "./decisions.ts"
import { alternateTimes, type Benchmark, figure, median } from "./harness.ts"
import { rawInserter } from "./raw-sqlite-thread.ts"

const DECISIONS = 200_000
/**
 * Decisions of each round before its clock starts, here and in the limit: each has new threads, which compile for half
 * a second of processor time, and the limit's thread is warm from the round before.
 */
const WARM_UP = 32_000
const BATCH = 1_000
const CALLERS = 4
const ROUNDS = 5

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "append",
  about:
    `${DECISIONS} decisions, ${BATCH} a commit, ${CALLERS} callers, SQLite with synchronous=FULL, after ` +
    `${WARM_UP} to warm up, against the same rows inserted by node:sqlite`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const batches = Array.from({ length: (WARM_UP + DECISIONS) / BATCH }, (_, index) =>
      decisionsFrom(index * BATCH, BATCH)
    )
    let files = 0
    const cpuUs: Array<number> = []
    const appendMs: Array<number> = []
    /**
     * From the first decision behind those to warm up until the governor is closed: by then the last checkpoint is
     * signed and the log copied back, as the limit's is. Opening has a benchmark of its own.
     */
    const subject = async (file: string): Promise<number> => {
      const governor = await openGovernor({
        storage: sqliteStorage({ file }),
        keys: dataFolder({ dir: `${file}-keys`, origin: "flyball.example/bench" })
      })
      const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
      let next = 0
      const appendTo = (end: number) =>
        Promise.all(
          Array.from({ length: CALLERS }, async () => {
            while (next < end) await governor.witness(agent.id, batches[next++]!)
          })
        )
      await appendTo(WARM_UP / BATCH)
      const cpu = process.threadCpuUsage()
      const startedAt = performance.now()
      await appendTo(batches.length)
      appendMs.push(performance.now() - startedAt)
      const { system, user } = process.threadCpuUsage(cpu)
      cpuUs.push((system + user) / DECISIONS)
      await governor.close()
      return performance.now() - startedAt
    }
    const newFile = (name: string): string => join(folder, `${name}-${files++}.db`)
    try {
      say("making the rows …")
      const filled = newFile("rows")
      await subject(filled)
      const insert = await rawInserter(filled, BATCH, WARM_UP / BATCH)
      const { limitMs, ratio, subjectMs } = await alternateTimes(
        ROUNDS,
        () => insert(newFile("limit")),
        () => subject(newFile("subject"))
      )
      say(
        `${figure(median(appendMs))} ms until the last answer, ${figure(subjectMs)} ms until closed; ` +
          `${figure(median(cpuUs))} us of the host's thread per decision`
      )
      return [
        {
          name: "append.sqlite",
          value: figure((DECISIONS / (limitMs / ratio)) * 1_000),
          unit: "decisions/s",
          limit: figure((DECISIONS / limitMs) * 1_000),
          ratio: figure(ratio),
          goal: "ratio >= 0.4",
          met: ratio >= 0.4
        }
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
