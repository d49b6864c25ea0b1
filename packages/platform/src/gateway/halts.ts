/** Follows the kill state of agents and models: one loop for each, shared by the answers that pass. */
import { Kill, type OperationFault, type TaggedStatus } from "@flyball/core"
import { Deferred, Effect, type Fiber } from "effect"

/** The target of a halt. */
export interface Halt {
  readonly target: "agent" | "model"
  readonly activation: string | null
}
type Target = { readonly type: Halt["target"]; readonly id: string }

/** Halts of the targets of one answer. */
export interface HaltWatch {
  /** The halt that holds now; null for none. */
  readonly halt: () => Halt | null
  /** Called once, as soon as one is halted. */
  readonly onHalt: (listener: (halt: Halt) => void) => void
  readonly close: () => void
}

interface Follower {
  halt: Halt | null
  readonly listeners: Set<(halt: Halt) => void>
  readonly ready: Deferred.Deferred<void, OperationFault>
  fiber: Fiber.Fiber<unknown, unknown> | null
  uses: number
}

/** Longest wait for a change, after which the status is read again; pause after a fault. Unit: milliseconds. */
const STRETCH_MS = 15_000
const PAUSE_MS = 250

/** Makes the watch of this process. */
export const haltFollower = Effect.gen(function* () {
  const kill = yield* Kill
  const scope = yield* Effect.scope
  const followers = new Map<string, Follower>()

  const follow = Effect.fnUntraced(function* (target: Target, follower: Follower) {
    for (let tag: string | null = null; ;) {
      const found: TaggedStatus | OperationFault | null = yield* kill
        .statusAfter(target, tag, tag === null ? 0 : STRETCH_MS)
        .pipe(
          // A target that does not exist is halted by nothing.
          Effect.catchTags({
            AgentNotFound: () => Effect.succeed(null),
            ModelNotFound: () => Effect.succeed(null),
            InvalidInput: () => Effect.succeed(null)
          }),
          Effect.catch((fault) => Effect.as(Deferred.fail(follower.ready, fault), fault))
        )
      if (found !== null && "status" in found) {
        tag = found.tag
        const { activation_event: activation, halted } = found.status
        follower.halt = halted ? { target: target.type, activation } : null
        if (follower.halt !== null) for (const listener of follower.listeners) listener(follower.halt)
      } else if (found !== null || tag === null) yield* Effect.sleep(PAUSE_MS)
      yield* Deferred.succeed(follower.ready, undefined)
    }
  })

  const join = Effect.fnUntraced(function* (target: Target) {
    const name = `${target.type} ${target.id}`
    let follower = followers.get(name)
    if (follower === undefined) {
      follower = { halt: null, listeners: new Set(), ready: Deferred.makeUnsafe(), fiber: null, uses: 0 }
      followers.set(name, follower)
      follower.fiber = yield* Effect.forkIn(follow(target, follower), scope)
    }
    follower.uses++
    const joined = follower
    const leave = (): void => {
      if (--joined.uses > 0) return
      followers.delete(name)
      joined.fiber?.interruptUnsafe()
    }
    yield* Effect.onExit(Deferred.await(joined.ready), (exit) =>
      exit._tag === "Failure" ? Effect.sync(leave) : Effect.void
    )
    return { follower: joined, leave }
  })

  /** Watches targets. Close it when the answer is over. */
  return Effect.fnUntraced(function* (targets: ReadonlyArray<Target>): Effect.fn.Return<HaltWatch, OperationFault> {
    const joined: Array<Effect.Success<ReturnType<typeof join>>> = []
    const leaveAll = (): void => joined.splice(0).forEach(({ leave }) => leave())
    yield* Effect.onExit(
      Effect.forEach(targets, (target) => Effect.map(join(target), (one) => joined.push(one)), { discard: true }),
      (exit) => (exit._tag === "Failure" ? Effect.sync(leaveAll) : Effect.void)
    )
    const mine = new Set<(halt: Halt) => void>()
    return {
      halt: () => joined.find(({ follower }) => follower.halt !== null)?.follower.halt ?? null,
      onHalt: (listener) => {
        mine.add(listener)
        for (const { follower } of joined) follower.listeners.add(listener)
      },
      close: () => {
        for (const { follower } of joined) for (const listener of mine) follower.listeners.delete(listener)
        leaveAll()
      }
    }
  })
})
