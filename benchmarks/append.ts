/** Durable append in process: 1,000 decisions a transaction, against the same rows by node:sqlite. Design section 6. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { decisionsFrom } from "./decisions.ts"
import { alternate, type Benchmark, figure } from "./harness.ts"
import { insertCaptureRows, readCaptureRows } from "./raw-sqlite.ts"

const DECISIONS = 40_000
const BATCH = 1_000
const CALLERS = 4
const ROUNDS = 5

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "append",
  about: `${DECISIONS} decisions, ${BATCH} a commit, ${CALLERS} callers, SQLite with synchronous=FULL, against the same rows inserted by node:sqlite`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const batches = Array.from({ length: DECISIONS / BATCH }, (_, index) => decisionsFrom(index * BATCH, BATCH))
    let files = 0
    const subject = async (): Promise<string> => {
      const file = join(folder, `subject-${files++}.db`)
      const governor = await openGovernor({ storage: sqliteStorage({ file }), keys: dataFolder({ dir: `${file}-keys`, origin: "flyball.example/bench" }) })
      const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
      let next = 0
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: CALLERS }, async () => {
        while (next < batches.length) await governor.witness(agent.id, batches[next++]!)
      }))
      lastMs = performance.now() - startedAt
      await governor.close()
      return file
    }
    let lastMs = 0
    try {
      say("making the rows …")
      const rows = readCaptureRows(await subject(), BATCH)
      const subjectMs: Array<number> = []
      const { limitMs, ratio } = await alternate(ROUNDS, () => insertCaptureRows(join(folder, `limit-${files++}.db`), rows), async () => {
        await subject()
        subjectMs.push(lastMs)
      })
      say(`opening and closing the governor included; appending alone took ${figure(Math.min(...subjectMs))} ms at best`)
      return [{
        name: "append.sqlite", value: figure(DECISIONS / (limitMs / ratio) * 1_000), unit: "decisions/s", limit: figure(DECISIONS / limitMs * 1_000), ratio: figure(ratio), goal: "ratio >= 0.5", met: ratio >= 0.5
      }]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
