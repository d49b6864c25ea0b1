/** SIGTERM and SIGINT as a wish to stop, so that a command ends in order. */

/** A wish to stop. */
export interface StopSignal {
  /** Resolves with the signal. */
  readonly requested: Promise<NodeJS.Signals>
  /** Aborts with a sentence that names the signal. */
  readonly signal: AbortSignal
}

/**
 * Signals that come within this time after the first are the same wish: a terminal sends Ctrl-C to every process of the
 * group, and npm sends it on.
 *
 * - Unit: milliseconds.
 */
const SAME_WISH_MS = 1_000

/**
 * Listens for the signals from now on. A second signal ends the process at once; what was acknowledged is durable
 * anyway.
 */
export const stopSignal = (): StopSignal => {
  const controller = new AbortController()
  const requested = new Promise<NodeJS.Signals>((resolve) => {
    let firstMs: number | null = null
    for (const name of ["SIGTERM", "SIGINT"] as const) {
      process.on(name, () => {
        if (firstMs === null) {
          firstMs = performance.now()
          resolve(name)
          controller.abort(new Error(`stopped by ${name}`))
        } else if (performance.now() - firstMs > SAME_WISH_MS) process.exit(name === "SIGINT" ? 130 : 143)
      })
    }
  })
  return { requested, signal: controller.signal }
}
