/** The thread that copies the log back into the database file: reading it, writing pages and syncing them would hold up commits for milliseconds each. */
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
import { copierState } from "./copier-state.ts"

const { file, state } = workerData as { readonly file: string; readonly state: Int32Array }

/** Opened at the first copy. It reads no rows, so it needs next to no cache. */
let db: DatabaseSync | null = null
let passive: StatementSync | null = null

const become = (next: number): void => {
  Atomics.store(state, 0, next)
  Atomics.notify(state, 0)
}

parentPort!.on("message", (message: "copy" | "close") => {
  if (message === "close") {
    db?.close()
    return become(copierState.gone)
  }
  try {
    if (db === null) {
      db = new DatabaseSync(file)
      // As durable as the writer: the log may be started over once the file is synced.
      db.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -64")
      passive = db.prepare("PRAGMA wal_checkpoint(PASSIVE)")
    }
    passive!.get()
  } catch {
    // A full disk, most likely. The log stays as it is: nothing is lost, and the next commit says what is wrong.
  }
  become(copierState.idle)
})
