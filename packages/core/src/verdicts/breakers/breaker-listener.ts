/** Which agents had something recorded by this process, for the job that reads their breakers. */
import { Context, Effect, Layer } from "effect"
import { type ChangeSet, Storage } from "../../storage/port.ts"

/** Agents that are noted at most. Past it the job's next tick finds the rest. */
const MAX_NOTED = 100_000

/** Operations of {@link BreakerListener}. */
export interface BreakerListenerApi {
  /** Notes agents whose records are committed. */
  readonly note: (agents: ReadonlyArray<string>) => void
  /** Takes what was noted since the last call, in the order in which it was. */
  readonly take: () => ReadonlyArray<string>
  /** Calls `callback` when something is noted that was not before, until the answer is called. */
  readonly listen: (callback: () => void) => () => void
}

/** Service that wakes the job of breakers when a commit has records of agents. Spec: decision 0044. */
export class BreakerListener extends Context.Service<BreakerListener, BreakerListenerApi>()(
  "flyball/core/BreakerListener"
) {
  static readonly layer: Layer.Layer<BreakerListener> = Layer.sync(BreakerListener, () => {
    let noted = new Set<string>()
    const listeners = new Set<() => void>()
    return BreakerListener.of({
      note: (agents) => {
        // Nobody takes what nobody waits for.
        if (listeners.size === 0) return
        const before = noted.size
        for (const agent of agents) if (noted.size < MAX_NOTED) noted.add(agent)
        if (before === 0 && noted.size > 0) listeners.forEach((callback) => callback())
      },
      take: () => {
        const taken = [...noted]
        noted = new Set()
        return taken
      },
      listen: (callback) => {
        listeners.add(callback)
        return () => void listeners.delete(callback)
      }
    })
  })
}

/** The store underneath, whose commits are noted by the agents that they are about. */
export const breakerNotifyingStorage: Layer.Layer<Storage, never, Storage | BreakerListener> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const listener = yield* BreakerListener
    return Storage.of({
      ...storage,
      commit: (change) => {
        const agents = agentsOf(change)
        return agents.length === 0
          ? storage.commit(change)
          : Effect.map(storage.commit(change), (receipt) => {
              listener.note(agents)
              return receipt
            })
      }
    })
  })
)

const none: ReadonlyArray<string> = []

/** Kinds of records after which no breaker is read: a new agent has none, and a trip changes no value. */
const silentKinds: ReadonlySet<string> = new Set(["agent.registered", "breaker.tripped"])

/** Agents of the records: neighbours nearly always have the same. */
const agentsOf = ({ records }: ChangeSet): ReadonlyArray<string> => {
  if (records === undefined || records.length === 0) return none
  const agents: Array<string> = []
  for (const { agentId, kind } of records)
    if (agentId !== null && agentId !== agents.at(-1) && !silentKinds.has(kind)) agents.push(agentId)
  return agents
}
