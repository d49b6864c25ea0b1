/** The writer's end of the thread that copies the log back while it goes on writing. */
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { Worker } from "node:worker_threads"
import { copierState } from "./copier-state.ts"
import { threadBootstrap } from "./thread-bootstrap.ts"

/** How long the writer waits for one copy to end, or for the thread to let go of the file. */
const patienceMs = 10_000

/** Copies the log back beside the writer. */
export interface Copier {
  /** Starts a copy, unless one is running. */
  readonly copy: () => void
  /** Waits until none is running: while one is, the log can be neither emptied nor started over. */
  readonly settle: () => void
  /** Ends the thread, so that the writer's connection is the last one. */
  readonly close: () => void
}

/** Whether this source runs as it stands or was built. */
const threadUrl = new URL(import.meta.url.endsWith(".ts") ? "./copier-thread.ts" : "./copier-thread.js", import.meta.url).href

/** The copier of a file. Its thread is started by the first copy: a store that is not written for long at a time never needs it. */
export const copierOf = (file: string): Copier => {
  const state = new Int32Array(new SharedArrayBuffer(4))
  let thread: Worker | null = null

  const start = (): Worker => {
    const cache = getCompileCacheDir()
    const started = new Worker(threadBootstrap, {
      eval: true,
      execArgv: ["--disable-warning=ExperimentalWarning"],
      name: "flyball-storage-copier",
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
      workerData: { url: threadUrl, cache: cache === undefined ? null : dirname(cache), file, state }
    })
    started.unref()
    // Without it the log is copied back past its bound and in pauses, by the writer.
    const gone = (): void => {
      Atomics.store(state, 0, copierState.gone)
      Atomics.notify(state, 0)
    }
    started.on("error", gone)
    started.on("exit", gone)
    return started
  }

  const settle = (): void => {
    Atomics.wait(state, 0, copierState.copying, patienceMs)
  }

  return {
    copy: () => {
      if (Atomics.compareExchange(state, 0, copierState.idle, copierState.copying) !== copierState.idle) return
      thread ??= start()
      thread.postMessage("copy", [])
    },
    settle,
    close: () => {
      if (thread === null) return
      settle()
      if (Atomics.compareExchange(state, 0, copierState.idle, copierState.closing) === copierState.idle) {
        thread.postMessage("close", [])
        Atomics.wait(state, 0, copierState.closing, patienceMs)
      }
      void thread.terminate()
      thread = null
    }
  }
}
