/** Whether the caller of a stream is still admitted, while the stream lasts. */
import { Effect } from "effect"
import type { Call, Services } from "../request/call.ts"
import type { AdmittedCaller } from "../request/caller.ts"

/** The caller of a stream over time. */
export interface StreamAdmission {
  /** The caller as it was admitted last: what it may see may have changed. */
  readonly caller: () => AdmittedCaller
  /** How long the stream may wait for something before the next check. Unit: milliseconds, 1 or more. */
  readonly waitMs: () => number
  /**
   * Checks the caller again where that is due; false once it is no longer admitted: the key was revoked or is over, the
   * token is over, or the person has lost access. What cannot be found out now changes nothing, and is checked again.
   */
  readonly holds: () => Promise<boolean>
}

/**
 * Watches over the caller of a stream, which is checked every `server.pingMs`. Each stream checks for itself, by the
 * request that began it.
 */
export const streamAdmission = (
  call: Pick<Call<unknown, unknown, unknown>, "caller" | "readmit" | "server">
): Effect.Effect<StreamAdmission, never, Services> =>
  Effect.map(Effect.context<Services>(), (context): StreamAdmission => {
    const { pingMs } = call.server
    let caller = call.caller
    let checkedAt = performance.now()
    const leftMs = (): number => checkedAt + pingMs - performance.now()
    const readmitted = call.readmit.pipe(
      Effect.map((found): AdmittedCaller | null => found),
      Effect.catchTags({
        Unauthorized: () => Effect.succeed(null),
        Forbidden: () => Effect.succeed(null),
        KeyNotAllowed: () => Effect.succeed(null),
        IssuerUnavailable: () => Effect.succeed(caller),
        StorageUnavailable: () => Effect.succeed(caller)
      })
    )
    return {
      caller: () => caller,
      waitMs: () => Math.max(1, Math.ceil(leftMs())),
      holds: async () => {
        if (leftMs() > 0) return true
        const found = await Effect.runPromiseWith(context)(readmitted)
        checkedAt = performance.now()
        if (found !== null) caller = found
        return found !== null
      }
    }
  })
