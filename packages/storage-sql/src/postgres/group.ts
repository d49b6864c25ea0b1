/**
 * One group of ChangeSets as one transaction: two round trips, whatever the group holds.
 *
 * The first: questions that need no lock, BEGIN, the head FOR UPDATE, questions that must wait for it. The second: the
 * rows, and COMMIT right behind
 * them. Between the two only hashing happens. READ COMMITTED is enough: every statement behind the lock sees all that
 * earlier holders committed.
 */
import type { PgConnection, Result } from "@effect/sql-pg/PgConnection"
import type { ReadFault } from "@flyball/core/storage"
import { StorageCorrupt } from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { Data, Effect, Exit } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AdmittedGroup, Answer } from "./admit-group.ts"
import { admitGroup } from "./admit-group.ts"
import { GroupView } from "./group-view.ts"
import { answered } from "./in-time.ts"
import { chainReplaced, lockHead, lookupsIn, readLockedHead } from "./lookups.ts"
import { newerSchema } from "./migrate.ts"
import { latestSchema } from "./migrations.ts"
import type { OpenTile } from "./open-tile.ts"
import { treeIn } from "./open-tile.ts"
import type { Answered, Query } from "./pipeline.ts"
import { pipeline } from "./pipeline.ts"
import { faultOf, isLost, mayBeOneOfMany, mayHaveCommitted } from "./postgres-fault.ts"
import type { PreparedChange } from "./prepare.ts"
import type { Sessions } from "./sessions.ts"
import { writesIn } from "./writes.ts"

const begin: Query = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", params: [], prepare: false }
const commit: Query = { sql: "COMMIT", params: [], prepare: false }

/** A group that did not become durable. `unknown`: COMMIT was on its way and was not answered. */
class GroupFailed extends Data.TaggedError("GroupFailed")<{
  readonly error: SqlError
  readonly wrote: "no" | "unknown"
}> {}

type Failure = GroupFailed | ReadFault

/**
 * Makes the function that commits groups to the store whose head is the table `home`. One call at a time: it owns the
 * writing connection.
 */
export const groupCommitter = (crypto: Crypto, sessions: Sessions, schema: string, home: number) => {
  const lookups = lookupsIn(schema)
  const lock = lockHead(schema)
  const grow = treeIn(crypto, schema)
  const writes = writesIn(schema)
  const { cut } = sessions.writer
  let open: OpenTile | null = null

  /** Sends statements; a failure to send means that nothing was written. */
  const send = (
    connection: PgConnection,
    queries: ReadonlyArray<Query>
  ): Effect.Effect<ReadonlyArray<Answered>, GroupFailed> => Effect.catch(pipeline(connection, queries, cut), unwritten)

  /** Takes the lock and learns what the group needs to know. Whatever goes wrong here, nothing was written. */
  const learn = Effect.fnUntraced(function* (
    connection: PgConnection,
    changes: ReadonlyArray<PreparedChange>,
    careful: boolean
  ) {
    const { once, state } = lookups(changes)
    const early = careful ? [] : once
    const late = careful ? [...once, ...state] : state
    const answers = yield* results(yield* send(connection, [...early, begin, lock, ...late]))
    return yield* orCorrupt(() => {
      const locked = readLockedHead(answers[early.length + 1]!.rows)
      const view = new GroupView()
      view.head = locked.head
      early.forEach(({ read }, index) => read(view, answers[index]!.rows))
      late.forEach(({ read }, index) => read(view, answers[early.length + 2 + index]!.rows))
      return { ...locked, view }
    })
  })

  const write = Effect.fnUntraced(function* (
    connection: PgConnection,
    { rows }: AdmittedGroup,
    before: GroupView["head"]
  ): Effect.fn.Return<OpenTile | null, Failure> {
    const growth = yield* Effect.catchTag(
      answered(grow(connection, before, open, rows.sealed), cut),
      "SqlError",
      unwritten
    )
    yield* committed(yield* send(connection, [...writes({ ...rows, nodes: growth.nodes }), commit]))
    return growth.open
  })

  const attempt = Effect.fnUntraced(function* (
    connection: PgConnection,
    changes: ReadonlyArray<PreparedChange>,
    careful: boolean
  ) {
    const { head, home: found, nowMs, oldestWriter, view } = yield* learn(connection, changes, careful)
    if (found !== home) return yield* chainReplaced()
    if (oldestWriter > latestSchema) return yield* newerSchema(oldestWriter)
    const group = admitGroup(crypto, view, nowMs, changes)
    if (isEmpty(group)) yield* Effect.ignore(answered(connection.query("ROLLBACK"), cut))
    else open = yield* write(connection, group, head)
    return group.answers
  })

  /** Runs one attempt on the writing connection, and leaves no transaction open on it. */
  const transact = (
    changes: ReadonlyArray<PreparedChange>,
    careful: boolean
  ): Effect.Effect<ReadonlyArray<Answer>, Failure> =>
    Effect.scoped(
      Effect.flatMap(Effect.catch(sessions.writer.get, unwritten), (connection) =>
        Effect.onExit(attempt(connection, changes, careful), (exit) => {
          if (Exit.isSuccess(exit)) return Effect.void
          open = null
          // Closing the session ends its transaction, whatever state it is in.
          return sessions.writer.invalidate(connection)
        })
      )
    )

  const refuse = (failure: Failure): ReadFault =>
    failure instanceof GroupFailed ? faultOf(failure.error, failure.wrote) : failure

  /**
   * If the group fails for a reason of its own, the idempotency keys are read again under the lock: another process may
   * have taken one. If it fails again, each ChangeSet gets its own transaction, so that only the faulty one fails.
   */
  return (changes: ReadonlyArray<PreparedChange>): Effect.Effect<ReadonlyArray<Answer>, ReadFault> =>
    transact(changes, false).pipe(
      Effect.catchIf(isStaleConnection, () => transact(changes, false)),
      Effect.catchIf(isOfGroup, () => transact(changes, true)),
      Effect.catchIf(isOfGroup, (failure) =>
        changes.length === 1
          ? Effect.fail(failure)
          : Effect.forEach(changes, (change) =>
              Effect.match(transact([change], true), {
                onFailure: (one): Answer => Exit.fail(refuse(one)),
                onSuccess: (answers) => answers[0]!
              })
            )
      ),
      Effect.mapError(refuse)
    )
}

/** True for a group that writes nothing: each of its lists of rows is empty. */
const isEmpty = ({ rows: { atMs: _, outbox, ...lists } }: AdmittedGroup): boolean =>
  outbox.isEmpty && Object.values(lists).every((rows) => ("size" in rows ? rows.size : rows.length) === 0)

const unwritten = (error: SqlError): Effect.Effect<never, GroupFailed> =>
  Effect.fail(new GroupFailed({ error, wrote: "no" }))

/** The server went away while we were idle, and we notice now: nothing was written, so one more try costs nothing. */
const isStaleConnection = (failure: Failure): failure is GroupFailed =>
  failure instanceof GroupFailed && failure.wrote === "no" && isLost(failure.error)

const isOfGroup = (failure: Failure): failure is GroupFailed =>
  failure instanceof GroupFailed && failure.wrote === "no" && mayBeOneOfMany(failure.error)

/** All answers, or the first failure. */
const results = (exits: ReadonlyArray<Answered>): Effect.Effect<ReadonlyArray<Result>, GroupFailed> =>
  Effect.catch(Effect.all(exits), unwritten)

/**
 * Says whether the last of these answers is that of a COMMIT that committed.
 *
 * Only the server's own word means "no": a transaction that failed answers ROLLBACK to COMMIT, or an error. No answer
 * means that nobody knows.
 */
const committed = (exits: ReadonlyArray<Answered>): Effect.Effect<void, GroupFailed> =>
  Effect.matchEffect(exits.at(-1)!, {
    onSuccess: ({ command }) =>
      command === "COMMIT"
        ? Effect.void
        : Effect.flatMap(results(exits), () =>
            Effect.die(new Error(`COMMIT answered ${command} though no statement failed.`))
          ),
    onFailure: (error) => Effect.fail(new GroupFailed({ error, wrote: mayHaveCommitted(error) ? "unknown" : "no" }))
  })

/** Runs a reader of rows that throws `StorageCorrupt`. */
const orCorrupt = <A>(read: () => A): Effect.Effect<A, StorageCorrupt> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return error instanceof StorageCorrupt ? Effect.fail(error) : Effect.die(error)
    }
  })
