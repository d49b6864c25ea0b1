/**
 * The store on Postgres, for one process or many.
 *
 * The life of a commit: it is prepared on its caller's fiber, waits for its group, is sealed under the head's lock, and is durable when COMMIT answers.
 */
import type { StorageApi, StorageChoice, StorageOpenFault } from "@flyball/core/storage"
import { changeProblem, Entropy, partCount, saltBytes, Storage, StorageCorrupt, storageChoice, StorageUnavailable } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { groupCommit } from "../group-commit.ts"
import { groupCommitter } from "./group.ts"
import { leasesIn } from "./leases.ts"
import { migrate } from "./migrate.ts"
import { inSchema } from "./migrations.ts"
import { faultOf } from "./postgres-fault.ts"
import { prepare } from "./prepare.ts"
import { readsIn } from "./reads.ts"
import { inRealTime } from "./real-time.ts"
import type { PostgresOptions, Sessions } from "./sessions.ts"
import { openSessions, query } from "./sessions.ts"

/** The schema of a store that names none. */
export const defaultSchema = "flyball"

/** Bounds of a group: larger ones gain little, and hold the head and the host's thread for longer. */
const groupRecords = 500
const groupBytes = 2 * 1024 * 1024

/**
 * The store in a Postgres database, in a schema of its own.
 *
 * Any number of processes may open the same one. Opening brings the schema up to date.
 */
export const postgresStorage = (options: PostgresOptions): StorageChoice =>
  storageChoice("postgres", Layer.effect(Storage, Effect.map(open(options), Storage.of)))

const open = Effect.fnUntraced(function*(options: PostgresOptions): Effect.fn.Return<StorageApi, StorageOpenFault, Scope.Scope> {
  const schema = options.schema ?? defaultSchema
  const problem = optionsProblem(schema, options)
  if (problem !== null) return yield* new StorageUnavailable({ reason: problem, wrote: "no" })
  const entropy = yield* Entropy
  const sessions = yield* Effect.mapError(openSessions(options), (error) => faultOf(error))
  yield* Effect.mapError(inRealTime(migrate(sessions.readers, schema)), (error) => error instanceof SqlError ? faultOf(error) : error)
  yield* requireSound(sessions, schema)

  const commitGroup = groupCommitter(nodeCrypto, sessions, schema)
  const submit = yield* groupCommit({
    weigh: ({ weight }: ReturnType<typeof prepare>) => weight,
    run: (changes) => inRealTime(commitGroup(changes)),
    closed: () => new StorageUnavailable({ reason: "it is being closed", wrote: "no" }),
    maxRecords: groupRecords,
    maxBytes: groupBytes
  })
  return {
    backend: "postgres",
    commit: (change) =>
      Effect.suspend(() => {
        const unplanned = changeProblem(change)
        if (unplanned !== null) throw new Error(unplanned)
        return submit(prepare(nodeCrypto, change, entropy.bytes(partCount(change.records ?? []) * saltBytes)))
      }),
    ...readsIn(sessions.readers, schema),
    ...leasesIn(sessions.readers, schema)
  }
})

const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/

const optionsProblem = (schema: string, { maxConnections }: PostgresOptions): string | null => {
  if (!schemaPattern.test(schema)) return `the name of the schema does not match ${schemaPattern.source}; choose another`
  if (maxConnections === undefined || (Number.isInteger(maxConnections) && maxConnections >= 2)) return null
  return `maxConnections is a whole number from 2, not ${maxConnections}; one connection writes and the others read`
}

/** The head, the last record and the stored nodes must tell the same story; anything else was not done by us. */
const requireSound = Effect.fnUntraced(function*({ readers }: Sessions, schema: string): Effect.fn.Return<void, StorageOpenFault> {
  const rows = yield* Effect.mapError(query(readers, inSchema(soundness, schema)), (error) => faultOf(error))
  const [row] = rows
  if (row === undefined) return yield* new StorageCorrupt({ reason: "the head row is missing" })
  const { head, last, nodes, same } = row as { readonly head: number; readonly last: number; readonly nodes: number; readonly same: boolean }
  if (head !== last || !same) return yield* new StorageCorrupt({ reason: `the head says record ${head}, the last record is ${last}${head === last ? " with another hash" : ""}` })
  const expected = Math.floor((head + 1) / 256)
  if (nodes !== expected) return yield* new StorageCorrupt({ reason: `expected ${expected} nodes of tile level 1, saw ${nodes}` })
})

const soundness = `SELECT h.seq::float8 AS head, coalesce(r.seq, -1)::float8 AS last, h.seq = -1 OR coalesce(h.hash = r.hash, false) AS same,
  coalesce((SELECT index + 1 FROM flyball.nodes WHERE level = 1 ORDER BY index DESC LIMIT 1), 0)::float8 AS nodes
  FROM flyball.head h LEFT JOIN LATERAL (SELECT seq, hash FROM flyball.records ORDER BY seq DESC LIMIT 1) r ON true`
