/**
 * Checks that text erased over HTTP is in no file any more: database, log, temporary folder, data folder, output of the
 * server, and the folder of Postgres.
 */
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { type RunningPostgres, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import {
  type Operator,
  operator,
  type RunningServer,
  type Variables
} from "../../../apps/server/src/cli/testing/commands.ts"
import { allPlaces, eraseAll, partsOfChain, type PlacedPart, placesWithoutText } from "./parts.ts"
import { callerOf, type Marker, scatter } from "./person.ts"
import { failingReceiver } from "./failing-receiver.ts"
import { filesWith, formsOf, type TextForm } from "./text-forms.ts"

let me: Operator
beforeEach(() => {
  me = operator()
  mkdirSync(me.path("tmp"))
})
afterEach(() => me.leave())

/** Nobody else's text, and one that every encoding writes in its own way. */
const newMarker = (): Marker => {
  const plain = randomBytes(9).toString("hex")
  return { text: `Zoë-${plain}-Ω`, plain }
}

/** The mail server is one that nobody runs, so letters stay where they wait. */
const start = async (variables: Variables, marker: Marker) => {
  const all = {
    TMPDIR: me.path("tmp"),
    FLYBALL_EGRESS_ALLOW: "127.0.0.1",
    FLYBALL_EGRESS_HTTP: "1",
    FLYBALL_SMTP_URL: "smtp://127.0.0.1:1",
    FLYBALL_MAIL_FROM: "flyball@example.com",
    ...variables
  }
  const server = await me.serve(all)
  const callerNamed = async (subject: string) =>
    callerOf(server, (await me.flyball(["token", "--role", "admin", "--sub", subject], all)).out.trim())
  return { server, person: await callerNamed(marker.text), other: await callerNamed("somebody else"), variables: all }
}

/** Scatters the text, and expects that every part that records may have was reached. Answers the parts that hold it. */
const scattered = async (
  { other, person }: Pick<Awaited<ReturnType<typeof start>>, "other" | "person">,
  marker: Marker
): Promise<ReadonlyArray<PlacedPart>> => {
  const receiver = await failingReceiver()
  await scatter({ person, other }, marker, receiver.url)
  await receiver.close()
  const parts = await partsOfChain(other, marker)
  const holding = parts.filter(({ holdsMarker }) => holdsMarker)
  // A new part in the catalogue needs a call here that puts a person's text there.
  expect([...new Set(holding.map(({ place }) => place))].sort()).toEqual(
    allPlaces.filter((place) => !placesWithoutText.has(place)).sort()
  )
  expect(allPlaces, "what is no place any more").toEqual(expect.arrayContaining([...placesWithoutText.keys()]))
  return holding
}

/** Writes the server's output so far to a file, which is searched with the others. */
const keepOutput = (server: RunningServer): void => writeFileSync(me.path("output.txt"), server.out() + server.err())

/**
 * Places whose record's idempotency key has a digest that stays: of ids alone, or that of a document, which the body of
 * its extraction has for good.
 */
const keptDigests = [
  "eval.recorded/suite",
  "extraction.completed/document",
  "extraction.completed/fields",
  "kill.activated/reason",
  "kill.released/reason",
  "mcp.manifest_changed/texts",
  "mcp.manifest_seen/manifest",
  "meter.voided/reason"
]

/** Salts and digests of the records that are about to be erased: what would let somebody try words until one fits. */
const secretsOf = (file: string, parts: ReadonlyArray<PlacedPart>): ReadonlyArray<TextForm> => {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = parts.flatMap(({ name, place, seq }) => [
    ...db
      .prepare(
        "SELECT salt AS secret FROM part WHERE id BETWEEN ? AND ? AND name = (SELECT id FROM word WHERE text = ?)"
      )
      .all(seq * 32, seq * 32 + 31, name),
    ...(keptDigests.includes(place) ? [] : db.prepare("SELECT digest AS secret FROM once WHERE seq = ?").all(seq))
  ])
  db.close()
  return rows.map(({ secret }, n) => ({ name: `secret ${n}`, bytes: Buffer.from(secret as Uint8Array) }))
}

const formsOfMarker = ({ plain, text }: Marker): ReadonlyArray<TextForm> => [
  ...formsOf(text),
  ...formsOf(plain).map(({ bytes, name }) => ({ name: `plain ${name}`, bytes }))
]

const names = (found: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(found.map((line) => line.split(": ")[0]!))].sort()

/** Many processes and a whole Postgres, read byte by byte: half a minute on two idle cores. */
const patience = { timeout: 240_000 }

describe("a person's text", patience, () => {
  it("is in no file of a server on SQLite after its erasure, while the server runs and after it ended", async () => {
    const marker = newMarker()
    const { other, person, server, variables } = await start({}, marker)
    const parts = await scattered({ other, person }, marker)
    const secrets = secretsOf(me.path(".flyball", "flyball.db"), parts)
    expect(secrets.length).toBeGreaterThan(parts.length)
    const forms = [...formsOfMarker(marker), ...secrets]
    const before = names(filesWith([me.folder], forms))
    expect(
      before.some((name) => name.startsWith("flyball.db")),
      "it was there"
    ).toBe(true)
    await eraseAll(other, parts)
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

  it("that gives the reason of a recovery is in no file after its erasure", async () => {
    const marker = newMarker()
    const early = await me.serve()
    expect((await early.stop("SIGTERM")).status).toBe(0)
    const store = me.path(".flyball", "flyball.db")
    copyFileSync(store, me.path("early.db"))
    const lost = await start({}, marker)
    expect((await lost.other("POST", "/agents", { name: "lost", org_unit: "support" })).status).toBe(201)
    expect((await lost.server.stop("SIGTERM")).status).toBe(0)
    copyFileSync(me.path("early.db"), store)
    for (const log of ["-wal", "-shm"]) rmSync(`${store}${log}`, { force: true })
    const recovered = await me.flyball(["recover", "--accept-rollback", "--reason", marker.text])
    expect(recovered.status, recovered.err).toBe(0)
    const { other, server } = await start({}, marker)
    const parts = await partsOfChain(other, marker)
    expect(parts.filter(({ holdsMarker }) => holdsMarker).map(({ place }) => place)).toEqual(["chain.genesis/reason"])
    const forms = formsOfMarker(marker)
    expect(filesWith([me.folder], forms), "it was there").not.toEqual([])
    await eraseAll(
      other,
      parts.filter(({ holdsMarker }) => holdsMarker)
    )
    keepOutput(server)
    expect(filesWith([me.folder], forms)).toEqual([])
    expect((await server.stop("SIGTERM")).status).toBe(0)
    keepOutput(server)
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
      Effect.runPromise(
        Effect.scoped(
          Effect.flatMap(PgConnection.make({ url: Redacted.make(postgres.url) }), (connection) =>
            Effect.map(connection.query(sql, [], false), ({ rows }) => rows)
          )
        )
      )

    /** As the README says: rewrite the tables, then let the write-ahead log go round. */
    const rewrite = ["parts", "once", "documents", "document_keys", "attempts"].map(
      (table) => `VACUUM (FULL) flyball.${table}`
    )

    it("leaves the tables after a rewrite, and the log after it wrapped", async () => {
      const marker = newMarker()
      const { other, person, server, variables } = await start({ FLYBALL_DATABASE_URL: postgres.url }, marker)
      const forms = formsOfMarker(marker)
      const [row] = await ask("SHOW data_directory")
      const data = String(row!["data_directory"])
      const tables = [join(data, "base"), join(data, "global"), join(data, "pg_xact"), join(data, "pg_stat")]
      const parts = await scattered({ other, person }, marker)
      // As autovacuum does on its own: what it samples would stay in pg_statistic.
      await ask("ANALYZE")
      await ask("CHECKPOINT")
      expect(names(filesWith(tables, forms)).length, "it was there").toBeGreaterThan(0)
      expect(filesWith([join(data, "pg_wal")], forms).length).toBeGreaterThan(0)
      await eraseAll(other, parts)
      keepOutput(server)
      expect(filesWith([me.folder], forms), "the server's own files never had it").toEqual([])
      for (const sql of [...rewrite, "CHECKPOINT"]) await ask(sql)
      expect(filesWith(tables, forms)).toEqual([])
      // Each switch fills a file of the log to its end; a checkpoint lets those before it be used again. There are some
      // five of 16 MiB.
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
