/**
 * Queues per document of an open store: a change waits until the one before it is done.
 *
 * Without them each commit on a document makes all others under way plan again, and who is unlucky does so without end.
 * Between processes it is the store
 * that decides. Each governor has lines of its own, so that one whose store has fallen silent holds up no other.
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
  /** Whether it is its turn. */
  isCalled: boolean
  call: () => void
}

/** Waiting acts of one document, in order. */
interface Line {
  readonly name: string
  readonly waiting: Set<Ticket>
  /** The running act: one, or several after a fault. */
  readonly called: Set<Ticket>
}

/** Queues of an open store, by name. */
type Lines = Map<string, Line>

const linesOf = new WeakMap<StorageApi, Lines>()

/** The name of a document's queue. */
export const lockName = ({ collection, id }: DocumentName): string => `${collection}/${id}`

/**
 * Does `work` when it is its turn.
 *
 * - A store that cannot be reached lets all go at once who wait: each finds out for itself, and none waits as often as
 *   others waited before it.
 */
export const withDocumentLock = <A, E, R>(
  storage: StorageApi,
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) => {
    const lines = linesOf.get(storage) ?? newLines(storage)
    const line = lines.get(name) ?? newLine(lines, name)
    const ticket: Ticket = { isCalled: line.called.size === 0, call: () => undefined }
    const side = ticket.isCalled ? line.called : line.waiting
    side.add(ticket)
    const whenCalled = ticket.isCalled ? work : Effect.andThen(called(ticket), work)
    return Effect.onExit(restore(whenCalled), (exit) => Effect.sync(() => leave(lines, line, ticket, isOutage(exit))))
  })

const newLines = (storage: StorageApi): Lines => {
  const lines: Lines = new Map()
  linesOf.set(storage, lines)
  return lines
}

const newLine = (lines: Lines, name: string): Line => {
  const line: Line = { name, waiting: new Set(), called: new Set() }
  lines.set(name, line)
  return line
}

/** Waits for the turn. Who is interrupted meanwhile leaves by the exit of all. */
const called = (ticket: Ticket): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (ticket.isCalled) resume(Effect.void)
    else ticket.call = () => resume(Effect.void)
  })

const leave = (lines: Lines, line: Line, ticket: Ticket, outage: boolean): void => {
  line.called.delete(ticket)
  line.waiting.delete(ticket)
  for (const next of line.waiting) {
    if (!outage && line.called.size > 0) return
    line.waiting.delete(next)
    line.called.add(next)
    next.isCalled = true
    next.call()
  }
  if (line.called.size === 0) lines.delete(line.name)
}

/** Whether the store did not answer. Who lost to others too often does not say that. */
const isOutage = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) && reason.error instanceof StorageUnavailable && reason.error.contended !== true
  )
