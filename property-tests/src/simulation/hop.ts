/** The way from a host to the ports that all hosts share: it takes time, it loses things, and it ends with the host. */
import type { GuardApi, SignerApi } from "@flyball/core"
import type { StorageApi } from "@flyball/core/storage"
import {
  type Around,
  aroundGuard,
  aroundSigner,
  aroundStorage,
  type FaultBoard,
  type Pick,
  underFault
} from "@flyball/testkit"
import { Clock, Effect } from "effect"

/** The ports that all hosts share. */
export interface Ports {
  readonly storage: StorageApi
  readonly guard: GuardApi
  readonly signer: SignerApi
}

/** Longest that a call hangs: four lives of a lease. */
const STALL_MS = 20_000

/** One host's way to them. */
export interface Hop {
  readonly pick: Pick
  /** Most that each direction takes. Unit: milliseconds. */
  readonly callMs: () => number
  /** Calls of a thousand that hang. */
  readonly stallsPerMille: () => number
  /** Decides the faults, and when they happen. */
  readonly board: FaultBoard
  /** The clock of what is at the other end. */
  readonly clock: Clock.Clock
  /** Gets +1 and -1 around what happens at the other end, which may be outside of the world's time. */
  readonly busy: (calls: 1 | -1) => void
  readonly note: (text: string) => void
  /** Called when a call arrives: from here on the plan is queried for this host. */
  readonly turn: () => void
}

/** Time on the way; for ever when the host ends meanwhile. Half of the calls are as quick as they can be. */
export const wayOf = ({ callMs, pick, stallsPerMille }: Hop, alive: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => {
    const most = callMs()
    const stalls = stallsPerMille()
    if (stalls > 0 && pick(1_000) < stalls) return Effect.sleep(pick(STALL_MS))
    return most === 0 || pick(2) === 0 ? Effect.yieldNow : Effect.sleep(1 + pick(most))
  }).pipe(Effect.andThen(Effect.suspend(() => (alive() ? Effect.void : Effect.never))))

/** The ports as a host reaches them, for as long as it is `alive`. */
export const hopping = ({ guard, signer, storage }: Ports, hop: Hop, alive: () => boolean): Ports => {
  const { board, busy, clock, note, turn } = hop
  const way = wayOf(hop, alive)
  const around: Around = (point, call) =>
    Effect.gen(function* () {
      yield* way
      turn()
      busy(1)
      const struck = board.struck.length
      // An interrupted caller waits for nothing any more.
      const exit = yield* Effect.exit(underFault(board, point, Effect.provideService(call, Clock.Clock, clock))).pipe(
        Effect.ensuring(Effect.sync(() => busy(-1)))
      )
      const fault = board.struck[struck]
      note(`${point} ${fault === undefined ? exit._tag : fault.kind}`)
      yield* way
      return yield* exit
    })
  return {
    storage: aroundStorage(storage, around),
    guard: aroundGuard(guard, around),
    signer: aroundSigner(signer, around)
  }
}
