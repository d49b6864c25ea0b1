/**
 * Reads breakers by itself: those of an agent after each commit about it, and all of them on a tick, since silence
 * makes no commit. The tick also finds what a crash or another process left.
 */
import { toHex } from "@flyball/evidence"
import { BREAKERS } from "@flyball/rules"
import { Cause, Effect, Layer, Queue, Stream } from "effect"
import { Entropy } from "../../foundation/entropy.ts"
import { CommitFeed } from "../../storage/commit-feed.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { Breakers } from "./service.ts"
import { storedBreaker } from "./stored-breaker.ts"
import { isWatching } from "@flyball/rules"

/** How often all breakers are read. Unit: milliseconds. */
export const TICK_MS = 10_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 15_000
const LEASE = "breaker_watch"
/** Agents that are noted at most. Past it the next tick finds the rest. */
const MAX_NOTED = 100_000
/** Kinds of records after which no breaker is read: a new agent has none, and the others change no value. */
const silentKinds: ReadonlySet<string> = new Set(["agent.registered", "breaker.tripped", "part.erased"])

/**
 * Trips the due breakers of all agents, and answers how many tripped. A breaker that cannot be read blocks no other.
 */
export const tripAllDue: Effect.Effect<number, ReadFault, Breakers | Storage> = Effect.gen(function* () {
  const storage = yield* Storage
  const agents = new Set<string>()
  yield* Stream.runForEach(documentPages(storage, BREAKERS), (page) =>
    Effect.sync(() => {
      for (const { body } of page.map(storedBreaker)) if (isWatching(body)) agents.add(body.agentId)
    })
  )
  return yield* tripEach(agents)
})

const tripEach = Effect.fnUntraced(function* (agents: Iterable<string>) {
  const breakers = yield* Breakers
  let tripped = 0
  let failed: { readonly agentId: string; readonly cause: Cause.Cause<ReadFault>; more: number } | null = null
  for (const agentId of agents)
    tripped += yield* Effect.catchCause(breakers.tripDue(agentId), (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      if (failed === null) failed = { agentId, cause, more: 0 }
      else failed.more++
      return Effect.succeed(0)
    })
  const first = failed as { readonly agentId: string; readonly cause: Cause.Cause<ReadFault>; more: number } | null
  if (first !== null)
    yield* Effect.logError(
      `The breakers of ${first.more + 1} agents could not be read, ${first.agentId} first; they are read again.`,
      first.cause
    )
  return tripped
})

/** Watches while its scope is open. */
export const breakerWatch: Layer.Layer<never, never, Breakers | CommitFeed | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* Storage
    const feed = yield* CommitFeed
    const holder = toHex((yield* Entropy).bytes(16))
    const wake = yield* Queue.sliding<void>(1)
    let noted = new Set<string>()
    yield* Effect.addFinalizer(() => Effect.ignore(storage.releaseLease(LEASE, holder)))
    yield* feed.subscribe(({ records = [] }) => {
      for (const { agentId, kind } of records)
        if (agentId !== null && !silentKinds.has(kind) && noted.size < MAX_NOTED) noted.add(agentId)
      if (noted.size > 0) Queue.offerUnsafe(wake, undefined)
    })
    const takeNoted = (): Iterable<string> => {
      const taken = noted
      noted = new Set()
      return taken
    }
    yield* Queue.take(wake).pipe(
      Effect.andThen(Effect.suspend(() => tripEach(takeNoted()))),
      Effect.forever,
      Effect.forkScoped
    )
    yield* Effect.sleep(TICK_MS).pipe(
      Effect.andThen(storage.lease(LEASE, holder, LEASE_MS)),
      Effect.flatMap((holds) => (holds ? tripAllDue : Effect.void)),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.logError("Breakers could not be read on the tick; they are read again.", cause)
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
