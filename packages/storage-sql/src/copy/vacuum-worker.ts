/**
 * The thread that copies a SQLite store.
 *
 * `VACUUM INTO` reads in one snapshot, writes only rows that are alive (nothing that was erased comes along, whatever a
 * page still held), and leaves one file
 * without a log. The backup API takes as long, copies free pages too, and restarts at every commit of the writer
 * unless a snapshot is held as well.
 */
import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
import type { Fault } from "../sqlite/answers.ts"
import { openForReading } from "../sqlite/open-database.ts"
import { faultOf } from "../sqlite/sqlite-fault.ts"
import { syncPath } from "../sqlite/durable-file.ts"

/** The task of the thread. */
export interface VacuumTask {
  readonly file: string
  /** A name that nothing has. */
  readonly to: string
}

/** How long to wait for another process that holds the file for a moment. Unit: milliseconds. */
const busyTimeoutMs = 10_000

const copy = ({ file, to }: VacuumTask): void => {
  const source = openForReading(file, busyTimeoutMs)
  try {
    source.prepare("VACUUM INTO ?").run(to)
  } finally {
    source.close()
  }
  // Leases and limits say who works now, and nobody works on a copy.
  const made = new DatabaseSync(to)
  try {
    made.exec("PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON; DELETE FROM lease; DELETE FROM limit_row")
  } finally {
    made.close()
  }
  syncPath(to)
}

/** Null, or what went wrong. */
const outcome = (): Fault | null => {
  try {
    copy(workerData as VacuumTask)
    return null
  } catch (error) {
    return faultOf(error)
  }
}

parentPort!.postMessage(outcome(), [])
