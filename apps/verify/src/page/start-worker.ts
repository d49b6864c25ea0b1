/** Starts the worker whose program stands in the page itself: one file, and nothing is loaded. */
import type { FromWorker } from "./messages.ts"

/** `onFault` takes a sentence: the worker could not be started, or ended by itself. */
export const startWorker = (onMessage: (message: FromWorker) => void, onFault: (sentence: string) => void): Worker => {
  const program = document.getElementById("worker")?.textContent ?? ""
  const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }))
  const worker = new Worker(trusted(url) as string)
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => onMessage(data))
  worker.addEventListener("error", ({ message }) => {
    onFault(`The verifier itself failed, so nothing is said about the pack. ${message}`)
  })
  // The worker has its program once it answers; a revoked address is not loaded again by anybody.
  worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true })
  return worker
}

/** The page's policy allows no script address but those of this one: browsers that know Trusted Types enforce it. */
const policy = (
  globalThis as {
    readonly trustedTypes?: {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (url: string) => string }
      ) => { readonly createScriptURL: (url: string) => unknown }
    }
  }
).trustedTypes?.createPolicy("flyball-worker", { createScriptURL: (url) => url })

const trusted = (url: string): unknown => policy?.createScriptURL(url) ?? url
