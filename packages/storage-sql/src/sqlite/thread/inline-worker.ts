/**
 * A storage worker without a thread, for a host that has nothing else to do while its store writes: a thread takes 15
 * MB.
 */
import type { Posted, Reply } from "./protocol.ts"
import type { RequestServer } from "./serve.ts"

/** A worker as the host uses it: a thread's, or the one below. */
export interface StorageWorker {
  readonly postMessage: (posted: ReadonlyArray<Posted>, transfer: readonly []) => void
  /** A host with a request under way stays alive for it, and not for a worker that waits. */
  readonly ref: () => void
  readonly unref: () => void
  readonly terminate: () => Promise<unknown>
}

/** Events that a worker sends to its host. */
export interface WorkerEvents {
  readonly answered: (replies: ReadonlyArray<Reply>) => void
  /** It ended, and sends nothing more. */
  readonly died: (why: string) => void
}

/**
 * Serves requests in turns of the host's event loop, in the order they were posted.
 *
 * Values change hands without being copied: nobody may change one that was sent.
 */
export const inlineWorker = ({ answered, died }: WorkerEvents): StorageWorker => {
  let ended = false
  const end = (why: string, server: RequestServer): void => {
    if (ended) return
    ended = true
    try {
      // A transaction that could not be rolled back ends with its connection.
      server.close()
    } catch {
      // What is wrong with the connection is what `why` says already.
    }
    died(why)
  }
  // Loaded when there is one: a host with threads has no use for it.
  const loaded = import("./serve.ts").then(
    ({ RequestServer }) =>
      // In a turn of its own, as a message is: what callers do with their answers is not done in the middle of serving.
      new RequestServer(
        (replies) =>
          void setImmediate(() => {
            if (!ended) answered(replies)
          })
      )
  )
  loaded.catch((cause: unknown) => died(String(cause)))
  return {
    postMessage: (posted) =>
      void loaded.then(
        (server) =>
          setImmediate(() => {
            if (ended) return
            try {
              server.serve(posted)
            } catch (cause) {
              end(cause instanceof Error ? cause.message : String(cause), server)
            }
          }),
        () => undefined
      ),
    ref: () => undefined,
    unref: () => undefined,
    terminate: () =>
      loaded.then(
        (server) => end("it stopped", server),
        () => undefined
      )
  }
}
