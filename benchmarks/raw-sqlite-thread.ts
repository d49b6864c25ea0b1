/**
 * The thread in which the limit of writing runs: its rows, by the hundred thousand, would make every garbage collection
 * of the subject's host longer.
 */
import { parentPort, Worker, workerData } from "node:worker_threads"
import { type CaptureRows, insertCaptureRows, readCaptureRows } from "./raw-sqlite.ts"

/** Inserts the rows into this new file; answers how long it took, in milliseconds. */
export type RawInsert = (file: string) => Promise<number>

/**
 * Reads the capture rows of a filled store, and inserts them as often as requested; the first `warmUp` groups are not
 * counted.
 */
export const rawInserter = async (filled: string, groupSize: number, warmUp: number): Promise<RawInsert> => {
  const thread = new Worker(new URL(import.meta.url), { workerData: { rawInserter: true, filled, groupSize, warmUp } })
  thread.unref()
  const next = (): Promise<number> =>
    new Promise((resolve, reject) => {
      thread
        .once("message", (ms: number) => {
          thread.off("error", reject)
          resolve(ms)
        })
        .once("error", reject)
    })
  await next()
  return (file) => {
    thread.postMessage(file, [])
    return next()
  }
}

const serve = (rows: CaptureRows): void => {
  parentPort!.on("message", (file: string) =>
    parentPort!.postMessage(insertCaptureRows(file, rows, workerData.warmUp), [])
  )
  parentPort!.postMessage(0, [])
}

if (workerData?.rawInserter === true) serve(readCaptureRows(workerData.filled, workerData.groupSize))
