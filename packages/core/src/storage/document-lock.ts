/**
 * Queues per document of an open store: a change waits until the one before it is done.
 *
 * Without them each commit on a document makes all others under way plan again, some of them without end. Between
 * processes the store decides. Each governor has queues of its own, so that one whose store does not answer holds up no
 * other.
 */
import { Cause, Effect, Exit } from "effect"
import { StorageUnavailable } from "./faults.ts"
import type { StorageApi } from "./port.ts"

/** A document that acts wait for. */
export interface DocumentName {
  readonly collection: string
  readonly id: string
}

/** One waiting act. */
interface Ticket {
  /** True when it is its turn. */
  isCalled: boolean
  call: () => void
}

/** Waiting acts of one document, in order. */
interface Queue {
  readonly name: string
  readonly waiting: Set<Ticket>
  /** The running act: one, or several after a fault. */
  readonly called: Set<Ticket>
}

/** Queues of an open store, by name. */
type Queues = Map<string, Queue>

const queuesOf = new WeakMap<StorageApi, Queues>()

/** The name of a document's queue. */
export const lockName = ({ collection, id }: DocumentName): string => `${collection}/${id}`

/**
 * Does `work` when it is its turn.
 *
 * - A store that cannot be reached releases all waiting acts at once: each finds out for itself, and none waits for the
 *   time limits of those before it.
 */
export const withDocumentLock = <A, E, R>(
  storage: StorageApi,
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) => {
    const queues = queuesOf.get(storage) ?? newQueues(storage)
    const queue = queues.get(name) ?? newQueue(queues, name)
    const ticket: Ticket = { isCalled: queue.called.size === 0, call: () => undefined }
    const side = ticket.isCalled ? queue.called : queue.waiting
    side.add(ticket)
    const whenCalled = ticket.isCalled ? work : Effect.andThen(called(ticket), work)
    return Effect.onExit(restore(whenCalled), (exit) => Effect.sync(() => leave(queues, queue, ticket, isOutage(exit))))
  })

const newQueues = (storage: StorageApi): Queues => {
  const queues: Queues = new Map()
  queuesOf.set(storage, queues)
  return queues
}

const newQueue = (queues: Queues, name: string): Queue => {
  const queue: Queue = { name, waiting: new Set(), called: new Set() }
  queues.set(name, queue)
  return queue
}

/** Waits for the turn. An act that is interrupted meanwhile leaves the queue as every other does. */
const called = (ticket: Ticket): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (ticket.isCalled) resume(Effect.void)
    else ticket.call = () => resume(Effect.void)
  })

const leave = (queues: Queues, queue: Queue, ticket: Ticket, outage: boolean): void => {
  queue.called.delete(ticket)
  queue.waiting.delete(ticket)
  for (const next of queue.waiting) {
    if (!outage && queue.called.size > 0) return
    queue.waiting.delete(next)
    queue.called.add(next)
    next.isCalled = true
    next.call()
  }
  if (queue.called.size === 0) queues.delete(queue.name)
}

/** Reports whether the store did not answer. An act that lost to others too often does not say that. */
const isOutage = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) && reason.error instanceof StorageUnavailable && reason.error.contended !== true
  )
