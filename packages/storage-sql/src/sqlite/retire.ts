/**
 * Putting a SQLite file aside and starting again in its place. Decision 0010 of core.
 *
 * The new file is complete before it gets the name. `link()` gives the old one its second name, `rename()` gives its
 * first name to the new one: a process that opens the file finds the old store or the new one, whole. A crash leaves at
 * most the unfinished new file, which the next attempt throws away, or the old file under both names, which it finds
 * again by its inode.
 */
import { chmodSync, existsSync, linkSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import type { Head, ReadFault, Retirement, RetirePlan, StorageOpenFault } from "@flyball/core/storage"
import { instantMs, Storage, storageChoice, StorageUnavailable } from "@flyball/core/storage"
import { Clock, Context, Effect, Layer } from "effect"
import { syncPath } from "./durable-file.ts"
import { failOrDie } from "./try-sqlite.ts"
import { carryDocuments } from "./carry-documents.ts"
import { requireSchema } from "./migrate.ts"
import { lockForWriting, refuseHardLinked } from "./open-database.ts"
import { faultOf, StoreRefused } from "./sqlite-fault.ts"
import { errorOf, requireUsable, type SqliteOptions } from "./thread/threads.ts"

/** Steps of replacing a file; a test stops after each. */
export type RetireStep = "settled" | "built" | "linked" | "replaced"

/** Opens a store of this kind. */
type Open = (options: SqliteOptions) => Layer.Layer<Storage, ReadFault>

const defaultBusyTimeoutMs = 1000

/** Support for a recovery of a SQLite file. `after` is for tests. */
export const sqliteRetirement = (
  options: SqliteOptions,
  open: Open,
  after: (step: RetireStep) => void = () => undefined
): Retirement => ({
  retire: (plan) =>
    Effect.andThen(
      requireUsable(options),
      Effect.suspend(() =>
        options.readOnly === true ? Effect.fail(readOnly) : Effect.scoped(retire(options, open, after, plan))
      )
    ),
  retired: Effect.andThen(
    requireUsable(options),
    trying(() =>
      retiredFiles(options.file).map((file) =>
        storageChoice("sqlite", open({ file: unchanging(file), readOnly: true }))
      )
    )
  )
})

const readOnly = new StorageUnavailable({
  reason: "it was opened for reading only; open it without `readOnly`",
  wrote: "no"
})

const retire = Effect.fnUntraced(function* (
  { busyTimeoutMs = defaultBusyTimeoutMs, file }: SqliteOptions,
  open: Open,
  after: (step: RetireStep) => void,
  plan: RetirePlan
) {
  // Held to the end: the lock belongs to the name, and nobody writes either file meanwhile.
  yield* Effect.acquireRelease(
    trying(() => lockForWriting(file, busyTimeoutMs)),
    (lock) => Effect.sync(() => lock.close())
  )
  const real = yield* trying(() => realpathSync(file))
  const fresh = `${real}.recovering`
  yield* trying(() => {
    refuseHardLinked(real)
    settle(real, plan.head, busyTimeoutMs)
    after("settled")
    discard(fresh)
    carryDocuments(unchanging(real), fresh, plan.leave, busyTimeoutMs)
  })
  yield* Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(open({ file: fresh }))), (context) =>
      Effect.catchTag(
        Context.get(context, Storage).commit({ expectEmpty: true, records: [plan.genesis] }),
        "StorageConflict",
        Effect.die
      )
    )
  ).pipe(Effect.updateService(Clock.Clock, (clock) => notBefore(clock, instantMs(plan.head?.atMs ?? 0))))
  yield* trying(() => {
    after("built")
    swap(real, fresh, after)
  })
})

/**
 * A clock that does not say less than the last record put aside: what is carried rests on times up to that one, and
 * times of records never fall, also where this host's clock is behind.
 */
const notBefore = (clock: Clock.Clock, ms: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => Math.max(clock.currentTimeMillisUnsafe(), ms),
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (nowMs) => Math.max(nowMs, ms)),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/**
 * Copies the log back into the file and lets go of it, so that the file is all there is of the store. Refuses a store
 * that is not the one of the plan.
 */
const settle = (file: string, head: Head | null, busyTimeoutMs: number): void => {
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    requireSchema(db)
    const last = db.prepare("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1").get()
    if (
      (last?.["seq"] ?? -1) !== (head?.seq ?? -1) ||
      (head !== null && Buffer.compare(last!["hash"] as Uint8Array, head.hash) !== 0)
    ) {
      throw new StoreRefused("it was written to since the recovery was planned; recover again")
    }
    if (db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()!["busy"] !== 0) throw new StoreRefused(OPEN_ELSEWHERE)
  } finally {
    db.close()
  }
  // The last connection takes them away; what is left belongs to somebody who reads.
  if (logs(file).some((log) => existsSync(log))) throw new StoreRefused(OPEN_ELSEWHERE)
}

const OPEN_ELSEWHERE = "another process has the file open for reading; end it, and recover again"

const swap = (file: string, fresh: string, after: (step: RetireStep) => void): void => {
  const folder = dirname(file)
  const { linked, name } = retiredName(file)
  chmodSync(fresh, statSync(file).mode & 0o777)
  syncPath(fresh)
  if (!linked) linkSync(file, name)
  syncPath(folder)
  after("linked")
  renameSync(fresh, file)
  syncPath(folder)
  after("replaced")
  // A reader that came between the two held the old file under this name; its log must not be taken for the new file's.
  for (const log of logs(file)) rmSync(log, { force: true })
  // Only now: until the rename it was the same file under both names.
  chmodSync(name, 0o400)
  discard(fresh)
}

const logs = (file: string): ReadonlyArray<string> => [`${file}-wal`, `${file}-shm`]

const discard = (fresh: string): void => {
  for (const file of [fresh, ...logs(fresh), `${fresh}-journal`, `${fresh}.lock`]) rmSync(file, { force: true })
}

/**
 * The retired files beside this one, oldest first. One that still is the file itself, because an attempt stopped
 * between its two steps, is none yet.
 */
const retiredFiles = (file: string): ReadonlyArray<string> => {
  if (!existsSync(file)) return []
  const real = realpathSync(file)
  return numbered(real)
    .map(({ name }) => name)
    .filter((name) => !isSameFile(name, real))
}

/** The name of the retired file; `linked` when it has it already. */
const retiredName = (file: string): { readonly name: string; readonly linked: boolean } => {
  const all = numbered(file)
  const begun = all.find(({ name }) => isSameFile(name, file))
  return begun === undefined
    ? { name: `${file}.retired-${(all.at(-1)?.number ?? 0) + 1}`, linked: false }
    : { name: begun.name, linked: true }
}

const numbered = (file: string): ReadonlyArray<{ readonly name: string; readonly number: number }> => {
  const prefix = `${basename(file)}.retired-`
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(prefix) && /^[1-9][0-9]{0,8}$/.test(name.slice(prefix.length)))
    .map((name) => ({ name: join(dirname(file), name), number: Number(name.slice(prefix.length)) }))
    .sort((a, b) => a.number - b.number)
}

const isSameFile = (a: string, b: string): boolean => {
  const [one, other] = [statSync(a, { bigint: true }), statSync(b, { bigint: true })]
  return one.ino === other.ino && one.dev === other.dev
}

/** A name under which SQLite takes no lock and makes no log beside a file that nobody changes any more. */
const unchanging = (file: string): string => `${pathToFileURL(file).href}?immutable=1`

/** Runs what happens at once, and says the errors of SQLite and of the file system as the port does. */
const trying = <A>(run: () => A): Effect.Effect<A, StorageOpenFault> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return isSystemError(error)
        ? Effect.fail(new StorageUnavailable({ reason: fileReason(error), wrote: "unknown", cause: error }))
        : failOrDie(errorOf(faultOf(error)))
    }
  })

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "syscall" in error

const fileReason = ({ code, syscall }: NodeJS.ErrnoException): string =>
  syscall === "link" && code !== "ENOSPC" && code !== "EACCES"
    ? `the file system gives a file no second name (${code}), which putting a store aside needs; move the ` +
      "store to a local disk with hard links"
    : `a file could not be put in its place (${syscall} ${code}); check the folder's permissions and its free ` +
      "space, and recover again"
