/** Checks that a caller is still admitted while its answer lasts: a stream, or a request that waits. */
import { Effect } from "effect"
import { untilDrained } from "./until-drained.ts"
import type { LostAccess } from "@flyball/core"
import type { Call, Fault, Services } from "./call.ts"
import type { AdmittedCaller } from "./caller.ts"

/** The members of a call that a check of its caller needs. */
type Lasting = Pick<Call<unknown, unknown, unknown>, "caller" | "readmit" | "server">

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

/** Finds out who the caller is by now. What cannot be found out now changes nothing. */
const readmitted = (
  { readmit }: Lasting,
  caller: AdmittedCaller
): Effect.Effect<AdmittedCaller, LostAccess | Fault, Services> =>
  Effect.catchTag(readmit, ["IssuerUnavailable", "StorageUnavailable"], () => Effect.succeed(caller))

/**
 * Watches over the caller of a stream, which is checked every `server.pingMs`. Each stream checks for itself, by the
 * request that began it.
 */
export const streamAdmission = (call: Lasting): Effect.Effect<StreamAdmission, never, Services> =>
  Effect.map(Effect.context<Services>(), (context): StreamAdmission => {
    const { pingMs } = call.server
    let caller = call.caller
    let checkedAt = performance.now()
    const leftMs = (): number => checkedAt + pingMs - performance.now()
    const check = Effect.suspend(() => readmitted(call, caller)).pipe(
      Effect.map((found): AdmittedCaller | null => found),
      Effect.catchTag(["AgentQuarantined", "Forbidden", "KeyNotAllowed", "Unauthorized"], () => Effect.succeed(null))
    )
    return {
      caller: () => caller,
      waitMs: () => Math.max(1, Math.ceil(leftMs())),
      holds: async () => {
        if (leftMs() > 0) return true
        const found = await Effect.runPromiseWith(context)(check)
        checkedAt = performance.now()
        if (found !== null) caller = found
        return found !== null
      }
    }
  })

/** How a wait ended: with what came, or null; and the caller as it is admitted by then. */
export interface Waited<A> {
  readonly found: A | null
  readonly caller: AdmittedCaller
}

/**
 * Waits for something, and checks the caller every `server.pingMs` and once more before the answer. Ends early when the
 * server drains. `wait`: one stretch of the wait, for what this caller may see; null where nothing came. Unit:
 * milliseconds.
 *
 * - Fails: with the refusal that the caller's next request would get, once it is no longer admitted.
 */
export const whileAdmitted = Effect.fnUntraced(function* <A, E, R>(
  call: Lasting,
  waitMs: number,
  wait: (caller: AdmittedCaller, stretchMs: number) => Effect.Effect<A | null, E, R>
): Effect.fn.Return<Waited<A>, E | LostAccess | Fault, R | Services> {
  const { pingMs } = call.server
  const untilMs = performance.now() + waitMs
  for (let { caller } = call; ;) {
    const leftMs = Math.max(0, untilMs - performance.now())
    const stretchMs = Math.ceil(Math.min(leftMs, pingMs))
    const found = yield* untilDrained(wait(caller, stretchMs), call.server)
    caller = yield* readmitted(call, caller)
    if (found !== null || leftMs <= pingMs || call.server.draining()) return { found, caller }
  }
})
