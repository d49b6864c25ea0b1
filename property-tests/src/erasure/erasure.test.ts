/** What was erased over HTTP is in no file any more: database, log, temporary folder, data folder, output of the server, and the folder of Postgres. */
import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { type RunningPostgres, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Operator, operator, type RunningServer, type Variables } from "../../../apps/server/src/cli/testing/commands.ts"
import { callerOf, eraseAll, scatter } from "./person.ts"
import { filesWith, formsOf, type TextForm } from "./text-forms.ts"

let me: Operator
beforeEach(() => {
  me = operator()
  mkdirSync(me.path("tmp"))
})
afterEach(() => me.leave())

/** Nobody else's text, and one that every encoding writes in its own way. */
const newMarker = (): string => `Zoë-${randomBytes(9).toString("hex")}-Ω`

const start = async (variables: Variables) => {
  const all = { TMPDIR: me.path("tmp"), ...variables }
  const server = await me.serve(all)
  const { out } = await me.flyball(["token", "--role", "admin"], all)
  return { server, call: callerOf(server, out.trim()), variables: all }
}

/** What the server printed so far, as a file among the others. */
const keepOutput = (server: RunningServer): void => writeFileSync(me.path("output.txt"), server.out() + server.err())

/** Salts and digests of the records that are about to be erased: what would let somebody try words until one fits. */
const secretsOf = (file: string, seqs: ReadonlyArray<number>): ReadonlyArray<TextForm> => {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = seqs.flatMap((seq) => [
    ...db.prepare("SELECT salt AS secret FROM part WHERE id BETWEEN ? AND ?").all(seq * 32, seq * 32 + 31),
    ...db.prepare("SELECT digest AS secret FROM once WHERE seq = ?").all(seq)
  ])
  db.close()
  return rows.map(({ secret }, n) => ({ name: `secret ${n}`, bytes: Buffer.from(secret as Uint8Array) }))
}

const names = (found: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(found.map((line) => line.split(": ")[0]!))].sort()

/** Many processes and a whole Postgres, read byte by byte: half a minute on two idle cores. */
const patience = { timeout: 240_000 }

describe("a person's text", patience, () => {
  it("that was erased is in no file of a server on SQLite, while it runs and after it ended", async () => {
    const marker = newMarker()
    const { call, server, variables } = await start({})
    const seqs = await scatter(call, marker)
    const secrets = secretsOf(me.path(".flyball", "flyball.db"), seqs)
    expect(secrets.length).toBeGreaterThanOrEqual(12)
    const forms = [...formsOf(marker), ...secrets]
    const before = names(filesWith([me.folder], forms))
    expect(before.some((name) => name.startsWith("flyball.db")), "it was there").toBe(true)
    expect(await eraseAll(call, seqs)).toBeGreaterThanOrEqual(12)
    keepOutput(server)
    expect(filesWith([me.folder], forms)).toEqual([])
    expect((await server.stop("SIGTERM")).status).toBe(0)
    keepOutput(server)
    expect(filesWith([me.folder], forms)).toEqual([])
    const check = await me.flyball(["check"], variables)
    expect(check.status, check.out).toBe(0)
    expect((await me.flyball(["backup", "--out", "backup"], variables)).status).toBe(0)
    expect(filesWith([me.folder], forms)).toEqual([])
  })

  describe("on Postgres", () => {
    let postgres: RunningPostgres
    beforeEach(async () => {
      // One of its own: its whole folder is read, and its log is switched.
      vi.stubEnv("FLYBALL_TEST_PG_URL", "")
      postgres = await startPostgres()
    })
    afterEach(async () => {
      vi.unstubAllEnvs()
      await postgres.stop()
    })

    const ask = (sql: string): Promise<ReadonlyArray<PgConnection.Row>> =>
      Effect.runPromise(Effect.scoped(Effect.flatMap(PgConnection.make({ url: Redacted.make(postgres.url) }), (connection) => Effect.map(connection.query(sql, [], false), ({ rows }) => rows))))

    /** As the README says: rewrite the tables, then let the write-ahead log go round. */
    const rewrite = ["parts", "once", "documents", "document_keys"].map((table) => `VACUUM (FULL) flyball.${table}`)

    it("that was erased is out of the tables after a rewrite, and out of the write-ahead log after it has gone round", async () => {
      const marker = newMarker()
      const { call, server, variables } = await start({ FLYBALL_DATABASE_URL: postgres.url })
      const forms = formsOf(marker)
      const [row] = await ask("SHOW data_directory")
      const data = String(row!["data_directory"])
      const tables = [join(data, "base"), join(data, "global"), join(data, "pg_xact"), join(data, "pg_stat")]
      const seqs = await scatter(call, marker)
      await ask("CHECKPOINT")
      expect(names(filesWith(tables, forms)).length, "it was there").toBeGreaterThan(0)
      expect(filesWith([join(data, "pg_wal")], forms).length).toBeGreaterThan(0)
      await eraseAll(call, seqs)
      keepOutput(server)
      expect(filesWith([me.folder], forms), "the server's own files never had it").toEqual([])
      for (const sql of [...rewrite, "CHECKPOINT"]) await ask(sql)
      expect(filesWith(tables, forms)).toEqual([])
      // Each switch fills a file of the log to its end; a checkpoint lets those before it be used again. There are some five of 16 MiB.
      let rounds = 0
      while (filesWith([join(data, "pg_wal")], forms).length > 0 && rounds < 40) {
        await ask("SELECT pg_logical_emit_message(true, 'flyball', 'x')::text")
        await ask("SELECT pg_switch_wal()::text")
        await ask("CHECKPOINT")
        rounds += 1
      }
      expect(filesWith([data], forms), `after ${rounds} switches`).toEqual([])
      const check = await me.flyball(["check"], variables)
      expect(check.status, check.out).toBe(0)
      expect((await server.stop("SIGTERM")).status).toBe(0)
      keepOutput(server)
      expect(filesWith([me.folder, data], forms)).toEqual([])
    })
  })
})
