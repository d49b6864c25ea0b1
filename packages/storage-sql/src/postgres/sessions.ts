/** The connections of one process: one that writes, and some that read. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { onlyFit, type Settings } from "./fit-session.ts"
import { AnswerTime, inTime } from "./in-time.ts"
import { Lines } from "./lines.ts"
import { inRealTime } from "./real-time.ts"

/** Address of the store, and limits on connections. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; `sslmode` as in libpq. */
  readonly url: string
  /** Default `flyball`. Made when it is missing; holds nothing but Flyball's tables. */
  readonly schema?: string | undefined
  /**
   * Connections at most, one of which writes. Default 10, at least 2; with 2 there is a third once deliveries are
   * claimed. There is one more once limits are taken from.
   */
  readonly maxConnections?: number | undefined
  /** Shown in `pg_stat_activity`. Default `flyball`. */
  readonly applicationName?: string | undefined
  /**
   * Opens for reading only: nothing is made or migrated, a role that may only SELECT will do, and `commit` and `lease`
   * are refused.
   */
  readonly readOnly?: boolean | undefined
}

/** A pool that can be cut off. A connection is made when it is needed; one that dies is replaced at its next use. */
export interface Connections extends PgPool.PgPool {
  /** Ends all connections of the pool at once: who waits for an answer on one has lost it. */
  readonly cut: () => void
}

/** Open pools. */
export interface Sessions {
  readonly writer: Connections
  readonly readers: Connections
  /** Of one connection, for one claim at a time. */
  readonly claimer: Connections
  /** Of one connection, for one group of requests to the limits at a time. */
  readonly limiter: Connections
}

/** A part of 16 MiB travels in one message of the server. Unit: bytes. */
const maxMessageBytes = 64 * 1024 * 1024

/** How long a server may take to close what was said goodbye to. Unit: milliseconds. */
const goodbyeMs = 5_000

/**
 * Every name in our SQL carries its schema; nothing else is looked up. All tables are read by index: a plan made while
 * they were small must stay right. A process that hangs with the head in its hands must not stop all others for long.
 * Times that role or database set, for all programs alike, would end our sessions in the middle of their work.
 */
const sessionSettings = {
  synchronous_commit: "on",
  search_path: "pg_catalog",
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  statement_timeout: "60s",
  lock_timeout: "30s",
  idle_in_transaction_session_timeout: "15s",
  idle_session_timeout: "0",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off"
}

const writerSettings = { ...sessionSettings, plan_cache_mode: "force_generic_plan" }

/** Settings under which the limits lose at most a second in a crash of the server. */
const limiterSettings = { ...writerSettings, synchronous_commit: "off" }

/**
 * A bitmap scan walks over everything that was ever in flight until the next vacuum; an index scan walks over it once,
 * and marks it as gone.
 */
export const claimerSettings = { ...writerSettings, enable_bitmapscan: "off" }

/**
 * Opens the pools; connections are made when they are needed.
 *
 * The writing connection and the claiming one are multiplexed: one uses it at a time, never interrupted, and what is
 * sent together travels as one write.
 * Closing the scope waits until the server has closed the connections too; those that it leaves open are cut.
 */
export const openSessions = Effect.fnUntraced(function* (
  options: PostgresOptions
): Effect.fn.Return<Sessions, SqlError, Scope.Scope> {
  const common = {
    url: Redacted.make(options.url),
    applicationName: options.applicationName ?? "flyball",
    maxMessageSize: maxMessageBytes
  } as const
  const closeMs = Math.min(goodbyeMs, yield* AnswerTime)
  const opened: Array<Lines> = []
  // Added before those of the pools, it runs when all of them have said goodbye.
  yield* Effect.addFinalizer(() =>
    Effect.forEach(opened, (lines) => lines.closed(closeMs), { concurrency: "unbounded", discard: true })
  )
  const readOnly = options.readOnly === true
  const open = (
    settings: Settings,
    config: Partial<PgPool.Config>
  ): Effect.Effect<Connections, SqlError, Scope.Scope> => {
    const lines = new Lines(options.url)
    opened.push(lines)
    return Effect.map(
      inRealTime(PgPool.make({ ...common, startupParameters: settings, ...config, stream: lines.open })),
      // What is only read may be a copy, and says so.
      (pool) => ({ ...(readOnly ? pool : onlyFit(pool, settings, lines.cut)), cut: lines.cut })
    )
  }
  const writer = yield* open(writerSettings, { maxConnections: 1, multiplex: true })
  const readers = yield* open(
    // A copy of a whole store is one transaction, and its other end may be slow.
    readOnly
      ? { ...sessionSettings, default_transaction_read_only: "on", idle_in_transaction_session_timeout: "0" }
      : sessionSettings,
    { maxConnections: Math.max(1, (options.maxConnections ?? 10) - (readOnly ? 1 : 2)) }
  )
  const claimer = yield* open(claimerSettings, { maxConnections: 1, multiplex: true, multiplexConcurrency: 1 })
  const limiter = yield* open(limiterSettings, { maxConnections: 1, multiplex: true, multiplexConcurrency: 1 })
  return { writer, readers, claimer, limiter }
})

/** Rows as they come from the driver. */
export type Row = { readonly [column: string]: unknown }

/** Runs one statement that reads, or one that is its own transaction. */
export const query = (
  readers: Connections,
  sql: string,
  params: ReadonlyArray<unknown> = []
): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
  Effect.map(
    lend(readers, (connection) => connection.query(sql, params)),
    ({ rows }) => rows
  )

/** Lends a connection to `use`, which must be over within the time for one answer. */
export const lend = <A, E>(
  readers: Connections,
  use: (connection: PgConnection) => Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> =>
  inRealTime(
    inTime((restart) =>
      readers.use((connection) => {
        restart(readers.cut)
        return use(connection)
      })
    )
  )

/**
 * Whole numbers as the text of a Postgres array. The driver infers int4 or int8 from each value; the statement's cast
 * must decide instead.
 */
export const intArray = (values: ReadonlyArray<number>): string => `{${values.join(",")}}`

/** As {@link intArray}, with nulls. */
export const nullableInts = (values: ReadonlyArray<number | null>): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`

/**
 * Texts as the text of a Postgres array: the driver would inspect and write each element by itself. Where a text needs
 * an escape it is left to the driver.
 */
export const textArray = (values: ReadonlyArray<string>): unknown => {
  const text = JSON.stringify(values)
  return text.includes("\\") ? values : `{${text.slice(1, -1)}}`
}

/**
 * As {@link textArray}, of texts that are JSON: quotes and backslashes are all that an array escapes in one, and it
 * does so as JSON does.
 */
export const jsonArray = (texts: ReadonlyArray<string>): string => `{${JSON.stringify(texts).slice(1, -1)}}`
