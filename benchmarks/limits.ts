/** Requests to rate limits, and quota reservations, in process. Spec: platform sections 3 and 5. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { layerOf, Quotas, RateLimits, Storage, type StorageChoice } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { alternateTimes, type Benchmark, figure, type Line } from "./harness.ts"

const TAKES = 40_000
const RESERVATIONS = 4_000
const CALLERS = 64
const KEYS = 100
const ROUNDS = 5
const services = Layer.mergeAll(RateLimits.layer, Quotas.layer)

type World = RateLimits | Quotas | Storage

/** Runs `count` calls by so many callers at once, after a tenth of them to warm up. Answers milliseconds. */
const timedCalls = (count: number, call: (n: number) => Effect.Effect<unknown, unknown, World>) =>
  Effect.gen(function* () {
    let next = 0
    const until = (end: number) =>
      Effect.forEach(
        Array.from({ length: CALLERS }),
        () => Effect.whileLoop({ while: () => next < end, body: () => call(next++), step: () => undefined }),
        { concurrency: "unbounded", discard: true }
      )
    yield* until(count / 10)
    const startedAt = performance.now()
    yield* until(count + count / 10)
    return performance.now() - startedAt
  })

const inWorld = <A>(choice: StorageChoice, run: Effect.Effect<A, unknown, World>): Promise<A> =>
  Effect.runPromise(Effect.provide(run, Layer.provideMerge(services, layerOf(choice))))

const rowsOf = (n: number) => [
  {
    subject: `key ${n % KEYS}`,
    policies: [
      { name: "minute", limit: 600_000, window: 60 },
      { name: "day", limit: 50_000_000, window: "day" as const }
    ]
  }
]
const take = (n: number) => RateLimits.use((limits) => limits.take({ rows: rowsOf(n), cost: 1 }))
const takeStored = (n: number) => Storage.use(({ limits }) => limits.take([{ rows: rowsOf(n), cost: 1, units: 0 }]))
const tokens = { unit: "bench", resource: "tokens", amount: 10, limit: 1_000_000_000 }
const reserve = () => Quotas.use((quotas) => quotas.reserve(tokens, 60_000))
/** The same as one document, at its version. */
const reserveAtVersion = (): Effect.Effect<unknown, unknown, Storage> =>
  Storage.use((storage) =>
    Effect.flatMap(storage.get("quota", "bench"), (found) =>
      storage.commit({
        puts: [
          {
            collection: "quota",
            id: "bench",
            expectedVersion: found?.version ?? 0,
            body: { used: (found?.version ?? 0) * 10 }
          }
        ]
      })
    )
  ).pipe(Effect.catchTag("StorageConflict", () => Effect.suspend(reserveAtVersion)))

/** One row a request, each in a transaction that does not wait for the disk. */
const bareTakes = (file: string): Promise<number> => {
  const db = new DatabaseSync(file)
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE r (k TEXT PRIMARY KEY, s TEXT) STRICT")
  const put = db.prepare("INSERT INTO r VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET s = excluded.s")
  const startedAt = performance.now()
  for (let n = 0; n < TAKES; n++) put.run(`key ${n % KEYS}`, `{"minute":[${n},1],"day":[${n},1]}`)
  const ms = performance.now() - startedAt
  db.close()
  return Promise.resolve(ms)
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "limits",
  about:
    `${TAKES} requests to the limits of ${KEYS} keys and ${RESERVATIONS} quota reservations by ${CALLERS} callers, ` +
    "on SQLite and on Postgres",
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const server = await startPostgres()
    const database = await freshDatabase(server.url)
    let made = 0
    const sqlite = (): StorageChoice => sqliteStorage({ file: join(folder, `${made++}.db`) })
    const postgres = (): StorageChoice => postgresStorage({ url: database.url, schema: `bench_${made++}` })
    const line = async (
      name: string,
      unit: string,
      count: number,
      limit: () => Promise<number>,
      subject: () => Promise<number>
    ): Promise<Line> => {
      const { limitMs, ratio } = await alternateTimes(ROUNDS, limit, subject)
      return {
        name,
        value: figure((count / (limitMs / ratio)) * 1_000),
        unit,
        limit: figure((count / limitMs) * 1_000),
        ratio: figure(ratio),
        goal: "none",
        met: true
      }
    }
    try {
      const lines: Array<Line> = []
      for (const [name, choose] of [
        ["sqlite", sqlite],
        ["postgres", postgres]
      ] as const) {
        const stored = () => inWorld(choose(), timedCalls(TAKES, takeStored))
        lines.push(
          // From memory and from the store, against each request by itself.
          await line(`limits.${name}`, "takes/s", TAKES, stored, () => inWorld(choose(), timedCalls(TAKES, take))),
          await line(
            `quotas.${name}`,
            "reservations/s",
            RESERVATIONS,
            () => inWorld(choose(), timedCalls(RESERVATIONS / 10, reserveAtVersion)).then((ms) => ms * 10),
            () => inWorld(choose(), timedCalls(RESERVATIONS, reserve))
          )
        )
      }
      const bare = () => bareTakes(join(folder, `bare-${made++}.db`))
      const stored = () => inWorld(sqlite(), timedCalls(TAKES, takeStored))
      return [...lines, await line("limits.sqlite.stored", "takes/s", TAKES, bare, stored)]
    } finally {
      await database.drop()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
