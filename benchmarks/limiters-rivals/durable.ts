/**
 * `npm run durable` in this folder: requests to one limit a key, kept in SQLite and in Postgres, by
 * `rate-limiter-flexible` and by ours. Equal durability: a commit is in the log of the database and waits for no disk.
 * Prints requests a second, the median of five rounds, and their ratio. Ours takes ahead of need in the store; the last
 * two columns are each request by itself.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { layerOf, RateLimits, Storage, type StorageChoice } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Layer, type Scope } from "effect"

/** A package without types here: the project itself does not install it, or not its types. */
const installed = async <A>(name: string): Promise<A> => {
  const loaded: A = await import(name)
  return loaded
}

const REQUESTS = 20_000
const CALLERS = 64
const KEYS = 100
const ROUNDS = 5
const LIMIT = { points: 600_000, duration: 60 }
/** As many as ours has for requests of limits and evaluations. */
const CONNECTIONS = 8

type Call = (n: number) => Promise<unknown>

/** Milliseconds of all requests, by so many callers at once. */
const timed = async (call: Call): Promise<number> => {
  let next = 0
  const until = (end: number) =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (next < end) await call(next++)
      })
    )
  await until(REQUESTS / 10)
  const startedAt = performance.now()
  await until(REQUESTS + REQUESTS / 10)
  return performance.now() - startedAt
}

const rowsOf = (n: number) => [
  { subject: `key ${n % KEYS}`, policies: [{ name: "minute", limit: LIMIT.points, window: LIMIT.duration }] }
]

type World = RateLimits | Storage

const ours = (choice: StorageChoice, take: (n: number) => Effect.Effect<unknown, unknown, World>): Promise<number> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* Effect.context<World | Scope.Scope>()
        return yield* Effect.promise(() => timed((n) => Effect.runPromiseWith(world)(take(n))))
      })
    ).pipe(Effect.provide(Layer.provideMerge(RateLimits.layer, layerOf(choice)))) as Effect.Effect<number>
  )

const takes = (n: number) => RateLimits.use((limits) => limits.take({ rows: rowsOf(n), cost: 1 }))
const stored = (n: number) => Storage.use(({ limits }) => limits.take([{ rows: rowsOf(n), cost: 1, units: 0 }]))

interface Consumer {
  readonly consume: (key: string) => Promise<unknown>
}

type Limiter = new (options: object, ready: (error?: Error) => void) => Consumer
const { RateLimiterPostgres, RateLimiterSQLite } = await installed<{
  readonly RateLimiterPostgres: Limiter
  readonly RateLimiterSQLite: Limiter
}>("rate-limiter-flexible")
const { Pool } = await installed<{ readonly Pool: new (options: object) => { readonly end: () => Promise<void> } }>(
  "pg"
)

/** Theirs, once its table is there. */
const made = (Limiter: Limiter, options: object) =>
  new Promise<Consumer>((resolve, reject) => {
    const limiter = new Limiter({ ...LIMIT, ...options }, (error) =>
      error === undefined ? resolve(limiter) : reject(error)
    )
  })

const theirSqlite = async (file: string): Promise<number> => {
  const db = new DatabaseSync(file)
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  // What it expects of a client, over Node's own driver.
  const transaction = (run: () => unknown) => () => {
    db.exec("BEGIN IMMEDIATE")
    const found = run()
    db.exec("COMMIT")
    return found
  }
  const client = { exec: db.exec.bind(db), prepare: db.prepare.bind(db), transaction }
  const limiter = await made(RateLimiterSQLite, {
    storeClient: client,
    storeType: "better-sqlite3",
    tableName: "limits"
  })
  const ms = await timed((n) => limiter.consume(`key ${n % KEYS}`))
  db.close()
  return ms
}

const theirPostgres = async (url: string, tableName: string): Promise<number> => {
  const pool = new Pool({ connectionString: url, max: CONNECTIONS, options: "-c synchronous_commit=off" })
  const limiter = await made(RateLimiterPostgres, { storeClient: pool, tableName })
  const ms = await timed((n) => limiter.consume(`key ${n % KEYS}`))
  await pool.end()
  return ms
}

const median = (all: ReadonlyArray<number>): number => [...all].sort((a, b) => a - b)[all.length >> 1]!

const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
const server = await startPostgres()
const database = await freshDatabase(server.url)
let count = 0
const sqlite = () => sqliteStorage({ file: join(folder, `${count++}.db`) })
const postgres = () => postgresStorage({ url: database.url, schema: `bench_${count++}` })
const runs: {
  readonly [name: string]: readonly [() => Promise<number>, () => Promise<number>, () => Promise<number>]
} = {
  sqlite: [
    () => theirSqlite(join(folder, `theirs-${count++}.db`)),
    () => ours(sqlite(), takes),
    () => ours(sqlite(), stored)
  ],
  postgres: [
    () => theirPostgres(database.url, `theirs_${count++}`),
    () => ours(postgres(), takes),
    () => ours(postgres(), stored)
  ]
}
try {
  console.log("| store | rate-limiter-flexible | flyball RateLimits | ratio | each stored by itself | ratio |")
  console.log("|---|---|---|---|---|---|")
  for (const [name, sides] of Object.entries(runs)) {
    const found: ReadonlyArray<Array<number>> = sides.map(() => [])
    // In turn, so that a slow minute of the machine meets all of them.
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, side] of sides.entries()) found[at]!.push(REQUESTS / ((await side()) / 1_000))
    const [theirs, mine, one] = found.map(median) as [number, number, number]
    const shown = [theirs, mine, mine / theirs, one, one / theirs].map((value) => value.toPrecision(3))
    console.log(`| ${name} | ${shown.map((value) => Number(value).toLocaleString("en")).join(" | ")} |`)
  }
} finally {
  await database.drop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
