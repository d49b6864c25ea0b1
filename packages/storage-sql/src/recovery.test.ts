import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import { recoveryCases } from "@flyball/testkit"
import { afterAll } from "vitest"
import { givenDatabase } from "./postgres/testing/given-database.ts"
import { postgresStorage } from "./postgres/postgres-choice.ts"
import { sqliteStorage } from "./sqlite/storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-recovery-"))
afterAll(() => rmSync(folder, { recursive: true }))
const database = givenDatabase()

// In the host's own thread: a case opens three or four stores, and starting a thread for each takes most of its time.
// `flyball recover` is tested with threads, in apps/server.
describe("recovery on SQLite", () => {
  recoveryCases.forEach(({ name, run }, index) => {
    it.live(name, () => run(sqliteStorage({ file: join(folder, `${index}.db`), small: true })))
  })
})

describe("recovery on Postgres", () => {
  recoveryCases.forEach(({ name, run }, index) => {
    it.live(name, () => run(postgresStorage({ url: database.url, schema: `recovery_${index}`, maxConnections: 4 })))
  })
})
