/**
 * The real storage worker, with a wait of 10 ms that blocks its thread inside every commit, where SQLite syncs. For the
 * benchmark `eventloop` only.
 */
import { DatabaseSync } from "node:sqlite"
import { workerData } from "node:worker_threads"

/** Data for the worker from the benchmark, beside the storage's own. */
export interface SlowWorkerData {
  readonly realUrl: string
  /** Counts the waits, so that the host can tell that they were there. */
  readonly waits: Int32Array<SharedArrayBuffer>
  readonly waitMs: number
}

const { realUrl, waitMs, waits } = workerData as SlowWorkerData

/** Blocks, as a slow disk does: nothing else runs on this thread meanwhile. */
const block = (): void => {
  Atomics.add(waits, 0, 1)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
}

const prepare = DatabaseSync.prototype.prepare
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest)
  if (sql.trim().toUpperCase() !== "COMMIT") return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    block()
    return run()
  }
  return statement
}
const exec = DatabaseSync.prototype.exec
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql) {
  if (sql.trim().toUpperCase() === "COMMIT") block()
  return exec.call(this, sql)
}

await import(realUrl)
