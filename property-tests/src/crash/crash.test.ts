/**
 * SIGKILLs on SQLite and Postgres, anywhere from the start of a process to its end, during concurrent capture,
 * settlement, erasure and checkpoints.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, describe, it } from "vitest"
import { killRounds } from "./kill-rounds.ts"
import { runs } from "../runs.ts"

const KILLS = runs(3, 8)
const SEED = 20_261_121

const folder = mkdtempSync(join(tmpdir(), "flyball-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("SIGKILL during concurrent capture", () => {
  it("neither loses nor duplicates records on SQLite", { timeout: 600_000 }, async () => {
    const { acknowledged, stages } = await killRounds(
      { sqlite: join(folder, "crash.db") },
      join(folder, "sqlite-keys"),
      KILLS,
      SEED
    )
    assert.isAbove(acknowledged, runs(0, KILLS))
    assert.isAbove(stages.size, runs(0, 2))
  })
  it("neither loses nor duplicates records on Postgres", { timeout: 600_000 }, async () => {
    const database = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
    try {
      const { acknowledged, stages } = await killRounds(
        { postgres: database.url },
        join(folder, "postgres-keys"),
        KILLS,
        SEED
      )
      assert.isAbove(acknowledged, runs(0, KILLS))
      assert.isAbove(stages.size, runs(0, 2))
    } finally {
      await database.drop()
    }
  })
})
