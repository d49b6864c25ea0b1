/**
 * The limit of `verify` on both cores at once: what two threads of this machine can hash, where nothing else is done.
 * Most virtual cores are halves of one.
 */
import { hash } from "node:crypto"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { timed } from "./harness.ts"

/** As many calls of OpenSSL as a full pack of records with these lengths takes. */
const hashAll = (lengths: Uint32Array): void => {
  const bytes = new Uint8Array(Math.max(65, ...new Set(lengths))).fill(1)
  for (const length of lengths) hash("sha256", bytes.subarray(0, length), "binary")
  for (let count = 1; count < lengths.length; count++) hash("sha256", bytes.subarray(0, 65), "binary")
}

/**
 * How much more two threads at once hash than one, in the same time: 2 where they are in nobody's way. The best of some
 * rounds.
 */
export const bothCores = async (lengths: Uint32Array, rounds: number): Promise<number> => {
  const thread = new Worker(new URL(import.meta.url), { workerData: lengths })
  const answer = (): Promise<void> =>
    new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject))
  const beside = (): Promise<void> => {
    thread.postMessage(null, [])
    return answer()
  }
  await answer()
  let best = 0
  for (let round = 0; round < rounds; round++) {
    const aloneMs = await timed(() => hashAll(lengths))
    const bothMs = await timed(async () => {
      const theirs = beside()
      hashAll(lengths)
      await theirs
    })
    best = Math.max(best, (2 * aloneMs) / bothMs)
  }
  await thread.terminate()
  return best
}

if (!isMainThread) {
  const lengths = workerData as Uint32Array
  const again = (): void => {
    hashAll(lengths)
    parentPort!.postMessage(null, [])
  }
  parentPort!.on("message", again)
  again()
}
