/**
 * The store on Postgres, for one process or many.
 *
 * The life of a commit: it is prepared on its caller's fiber, waits for its group, is sealed under the head's lock, and
 * is durable when COMMIT answers.
 */
import type { StorageApi, StorageChoice, StorageOpenFault } from "@flyball/core/storage"
import {
  changeProblem,
  Entropy,
  inSlices,
  partCount,
  readyOutbox,
  saltBytes,
  Storage,
  StorageCorrupt,
  storageChoice,
  StorageUnavailable
} from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { groupCommit } from "../group-commit.ts"
import { groupTakes } from "../group-takes.ts"
import { claimIn } from "./outbox/claims.ts"
import { groupCommitter } from "./group.ts"
import { limitsIn } from "./limits.ts"
import { leasesIn } from "./leases.ts"
import { migrate, requireSchema } from "./migrate.ts"
import { inSchema } from "./migrations.ts"
import { forgetIn } from "./outbox/outbox-forget.ts"
import { faultOf } from "./postgres-fault.ts"
import { type PreparedChange, prepareInSlices } from "./prepare.ts"
import { readsIn } from "./reads.ts"
import { inRealTime } from "./real-time.ts"
import type { PostgresOptions, Sessions } from "./sessions.ts"
import { postgresRetirement } from "./retire.ts"
import { openSessions, query } from "./sessions.ts"

/** The schema of a store that names none. */
export const defaultSchema = "flyball"

/** Bounds of a group: larger ones gain little, and hold the head and the host's thread for longer. */
const groupRecords = 500
const groupBytes = 2 * 1024 * 1024

/** Implements `postgresStorage`, once this file is loaded. */
export const loadedPostgresStorage = (options: PostgresOptions): StorageChoice =>
  storageChoice(
    "postgres",
    Layer.effect(Storage, Effect.map(open(options), Storage.of)),
    postgresRetirement(options, options.schema ?? defaultSchema, loadedPostgresStorage)
  )

const open = Effect.fnUntraced(function* (
  options: PostgresOptions
): Effect.fn.Return<StorageApi, StorageOpenFault, Scope.Scope> {
  const schema = options.schema ?? defaultSchema
  const entropy = yield* Entropy
  const sessions = yield* Effect.mapError(openSessions(options), (error) => faultOf(error))
  const ready =
    options.readOnly === true
      ? requireSchema(sessions.readers, schema)
      : Effect.asVoid(migrate(sessions.readers, sessions.writer, schema))
  yield* Effect.mapError(inRealTime(ready), (error) => (error instanceof SqlError ? faultOf(error) : error))
  const home = yield* requireSound(sessions, schema)
  if (options.readOnly !== true) yield* warnOfLoss(sessions)
  const { outbox: outboxReads, ...others } = readsIn(sessions.readers, schema, home)
  const reads = { backend: "postgres", ...others, outbox: { ...outboxReads, ...forgetIn(sessions.readers, schema) } }
  if (options.readOnly === true)
    return {
      ...reads,
      outbox: { ...reads.outbox, claim: () => Effect.fail(readOnly), forget: () => Effect.fail(readOnly) },
      commit: () => Effect.fail(readOnly),
      limits: { shared: true, take: () => Effect.fail(readOnly) },
      lease: () => Effect.fail(readOnly),
      releaseLease: () => Effect.fail(readOnly)
    }

  const commitGroup = groupCommitter(nodeCrypto, sessions, schema, home)
  const submit = yield* groupCommit({
    weigh: ({ weight }: PreparedChange) => weight,
    turn: ({ change }) => change.turn,
    run: (changes) => inRealTime(commitGroup(changes)),
    closed: () => closing,
    maxRecords: groupRecords,
    maxBytes: groupBytes
  })
  const takeGroup = limitsIn(sessions.limiter, schema)
  const take = yield* groupTakes(takeGroup, () => closing)
  return {
    ...reads,
    limits: { shared: true, take },
    outbox: { ...reads.outbox, claim: claimIn(sessions.claimer, schema, home) },
    commit: (change) =>
      Effect.suspend(() => {
        const unplanned = changeProblem(change)
        if (unplanned !== null) throw new Error(unplanned)
        const salts = entropy.bytes(partCount(change.records ?? []) * saltBytes)
        return Effect.flatMap(
          inSlices(prepareInSlices(nodeCrypto, change, salts, readyOutbox(change, entropy))),
          (prepared) => submit(() => prepared)
        )
      }),
    ...leasesIn(sessions.readers, schema)
  }
})

const closing = new StorageUnavailable({ reason: "it is being closed", wrote: "no" })
const readOnly = new StorageUnavailable({
  reason: "it was opened for reading only; open it without `readOnly` to write",
  wrote: "no"
})

/** Says what the server may lose of what it acknowledges: a session cannot ask for more than the server does. */
const warnOfLoss = ({ readers }: Sessions): Effect.Effect<void, StorageOpenFault> =>
  query(
    readers,
    "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name"
  ).pipe(
    Effect.mapError((error) => faultOf(error)),
    Effect.flatMap((rows) =>
      rows.length === 0
        ? Effect.void
        : Effect.logWarning(
            `Postgres runs with ${rows.map(({ name }) => `${String(name)} off`).join(" and ")}: ` +
              "a crash of its host may lose or damage acknowledged data. Set it to on."
          )
    )
  )

/**
 * The head, the last record and the stored nodes must tell the same story; anything else was not done by us. Answers
 * the object id of the head's table.
 */
const requireSound = Effect.fnUntraced(function* (
  { readers }: Sessions,
  schema: string
): Effect.fn.Return<number, StorageOpenFault> {
  const rows = yield* Effect.mapError(query(readers, inSchema(soundness, schema)), (error) => faultOf(error))
  const [row] = rows
  if (row === undefined) return yield* new StorageCorrupt({ reason: "the head row is missing" })
  const { head, home, last, nodes, same } = row as {
    readonly head: number
    readonly home: number
    readonly last: number
    readonly nodes: number
    readonly same: boolean
  }
  if (head !== last || !same)
    return yield* new StorageCorrupt({
      reason: `the head says record ${head}, the last record is ${last}${head === last ? " with another hash" : ""}`
    })
  const expected = Math.floor((head + 1) / 256)
  if (nodes !== expected)
    return yield* new StorageCorrupt({ reason: `expected ${expected} nodes of tile level 1, saw ${nodes}` })
  return home
})

const soundness = `SELECT h.seq::float8 AS head, h.tableoid::int8::float8 AS home, coalesce(r.seq,
  -1)::float8 AS last, h.seq = -1 OR coalesce(h.hash = r.hash, false) AS same,
  coalesce((SELECT index + 1 FROM flyball.nodes WHERE level = 1 ORDER BY index DESC LIMIT 1), 0)::float8 AS nodes
  FROM flyball.head h LEFT JOIN LATERAL (SELECT seq, hash FROM flyball.records ORDER BY seq DESC LIMIT 1) r ON true`
