/** 20 SIGKILLs each on SQLite and Postgres during concurrent capture, settlement, erasure and checkpoints. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freshDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, describe, it } from "vitest"
import { killRounds } from "./kill-rounds.ts"

const ROUNDS = 20
const SEED = 20_261_121

const folder = mkdtempSync(join(tmpdir(), "flyball-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("SIGKILL during concurrent capture", () => {
  it("loses and doubles nothing on SQLite", { timeout: 300_000 }, async () => {
    const { acknowledged } = await killRounds({ sqlite: join(folder, "crash.db") }, join(folder, "sqlite-keys"), ROUNDS, SEED)
    assert.isAbove(acknowledged, ROUNDS)
  })
  it("loses and doubles nothing on Postgres", { timeout: 300_000 }, async () => {
    const database = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
    try {
      const { acknowledged } = await killRounds({ postgres: database.url }, join(folder, "postgres-keys"), ROUNDS, SEED)
      assert.isAbove(acknowledged, ROUNDS)
    } finally {
      await database.drop()
    }
  })
})
