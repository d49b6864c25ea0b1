/**
 * Group commit: commits that arrive while one is being made durable share the next transaction. Which of them, core's
 * `CommitLines` decides.
 *
 * One batch is in flight at a time, and the next one gathers meanwhile. Once that is full it may follow at once: it
 * gains nothing by waiting, and a
 * backend that takes it needs not stand idle until its host has a moment. After a quick one, the next waits until its
 * first callers have their answers:
 * what they ask for next then shares it, and a batch of forty costs little more than one of twenty. Spec: design
 * section 3.
 */
import { CommitLines, type CommitTurn, LostBefore, queueTask, type Weight } from "@flyball/core/storage"
import type { Scope } from "effect"
import { Effect, Exit, Fiber } from "effect"

/** Records in one batch, at most, unless one item alone has more. It keeps a transaction near 10 ms. */
export const batchRecords = 500
/**
 * Bytes in one batch, at most, unless one item alone has more. It bounds the pause that a message makes on the host's
 * thread.
 */
export const batchBytes = 262_144

/**
 * A batch that takes longer than this gathers enough behind it, and a backend that is slow should not stand idle. Unit:
 * milliseconds.
 */
export const quickMs = 8
/** Answers that the next batch waits for, at most. */
const awaitedAnswers = 64

/** Options with which a backend commits batches. */
export interface GroupCommitOptions<Item, Answer, E> {
  readonly weigh: (item: Item) => Weight
  /** The place of an item among those that wait; left out, that of a ChangeSet that names none. */
  readonly turn?: (item: Item) => CommitTurn | undefined
  /**
   * Makes a batch durable and answers one exit per item, in order. It is never interrupted.
   * When it fails as a whole, every item of the batch gets its cause.
   */
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Exit.Exit<Answer, E>>, E>
  /** The error of a call that comes after closing began. */
  readonly closed: () => E
  readonly maxRecords?: number
  readonly maxBytes?: number
  /** Replaced by tests only. Unit: milliseconds since any moment. */
  readonly nowMs?: () => number
  /**
   * Batches in flight at once, where all after the first are full, and nothing follows one that a single item fills:
   * what comes meanwhile would wait for two of these. Their `run`s must take effect in order. Default 1.
   */
  readonly maxInFlight?: number
}

/**
 * A caller that waits for the answer to its item.
 *
 * A class, and emptied when it was answered. Where many wait for long, the engine begins to make a literal like this
 * among its old objects, and each dead one would keep its caller's whole fiber until a full collection: the collector
 * then copies all of them, for 25 ms at a time.
 */
class Waiting<Item, Answer, E> {
  readonly weight: Weight
  #item: Item | null
  #resume: ((exit: Exit.Exit<Answer, E>) => void) | null

  constructor(item: Item, weight: Weight, resume: (exit: Exit.Exit<Answer, E>) => void) {
    this.weight = weight
    this.#item = item
    this.#resume = resume
  }

  /** The request; once. */
  takeItem(): Item {
    const item = this.#item!
    this.#item = null
    return item
  }

  answer(exit: Exit.Exit<Answer, E>): void {
    const resume = this.#resume
    this.#resume = null
    resume?.(exit)
  }
}

/**
 * Makes the front of a store's commits: call what it returns with what makes an item, and wait until that is durable.
 * Where the making throws, its caller dies of it, and nobody else.
 *
 * A caller that is interrupted while its item still waits takes the item back. Once the item is in flight
 * it is written or refused like any other, and only the answer is dropped: no batch is ever torn.
 * Closing the scope first refuses new items, then waits until everything accepted has been answered.
 */
export const groupCommit = Effect.fnUntraced(function* <Item, Answer, E>(
  options: GroupCommitOptions<Item, Answer, E>
): Effect.fn.Return<(make: () => Item) => Effect.Effect<Answer, E>, never, Scope.Scope> {
  const { maxBytes = batchBytes, maxInFlight = 1, maxRecords = batchRecords, nowMs = () => performance.now() } = options
  const lines = new CommitLines<Waiting<Item, Answer, E>>({ records: maxRecords, bytes: maxBytes })
  /** Answers that are on their way to their callers. */
  let answering = 0
  /**
   * How many of them the next batch waits for; one more is the turn of the event loop in which their callers are heard.
   */
  let awaited = 0
  let inFlight = 0
  let isLargeInFlight = false
  let closed = false
  let wake: (() => void) | null = null

  const submit = (make: () => Item): Effect.Effect<Answer, E> =>
    Effect.withFiber((fiber) => enqueue(make, fiber.getRef(LostBefore)))

  const enqueue = (make: () => Item, lostBefore: boolean): Effect.Effect<Answer, E> =>
    Effect.callback<Answer, E>((resume) => {
      if (closed) return resume(Effect.fail(options.closed()))
      const item = make()
      const waiting = new Waiting<Item, Answer, E>(item, options.weigh(item), resume)
      lines.add(waiting, options.turn?.(item), lostBefore)
      if (mayGo()) wake?.()
      return takeBack(waiting)
    })

  /** Not within `enqueue`: while an item waits, nothing should hold what it was made of. */
  const takeBack = (waiting: Waiting<Item, Answer, E>): Effect.Effect<void> =>
    Effect.sync(() => {
      lines.remove(waiting)
    })

  const mayGo = (): boolean =>
    !lines.isEmpty && !isLargeInFlight && (lines.isFull ? inFlight < maxInFlight : inFlight === 0 && awaited === 0)

  const runBatch = (batch: ReadonlyArray<Waiting<Item, Answer, E>>, sentAtMs: number): Effect.Effect<void> =>
    Effect.map(Effect.exit(Effect.suspend(() => options.run(batch.map((waiting) => waiting.takeItem())))), (exit) => {
      inFlight--
      if (lines.isLarge(batch[0]!)) isLargeInFlight = false
      answering += batch.length
      awaited = nowMs() - sentAtMs < quickMs ? Math.min(batch.length, awaitedAnswers) + 1 : 0
      batch.forEach((waiting, index) =>
        queueTask(() => {
          try {
            waiting.answer(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : (exit.value[index] ?? missingAnswer))
          } finally {
            // Also where what a host hung on its fiber throws: the process may outlive that, and closing would wait for
            // this answer.
            answering--
            if (awaited > 1 && --awaited === 1) setImmediate(settled)
            else if (isDone()) wake?.()
          }
        })
      )
      // What gathered meanwhile goes on its way first: answers wait until this is done.
      wake?.()
    })

  const settled = (): void => {
    // Another batch that went because it was full may have been answered meanwhile, and then its answers are waited
    // for.
    if (awaited === 1) awaited = 0
    if (mayGo() || isDone()) wake?.()
  }

  /**
   * Waits until a batch may go; where all was quiet, a yield then lets every other fiber of this turn hand in its own.
   */
  const gather = Effect.suspend(() => {
    if (mayGo() || isDone()) return Effect.void
    const quiet = inFlight === 0
    const woken = Effect.callback<void>((resume) => {
      wake = () => {
        wake = null
        resume(Effect.void)
      }
    })
    return quiet ? Effect.andThen(woken, Effect.yieldNow) : woken
  })

  const isDone = (): boolean => closed && lines.isEmpty && inFlight === 0 && answering === 0

  const send = Effect.suspend(() => {
    if (!mayGo()) return Effect.void
    const batch = lines.take()
    inFlight++
    isLargeInFlight = lines.isLarge(batch[0]!)
    return Effect.asVoid(
      Effect.forkDetach(Effect.uninterruptible(runBatch(batch, nowMs())), { startImmediately: true })
    )
  })

  const pump = Effect.whileLoop({
    while: () => !isDone(),
    body: () => Effect.andThen(gather, send),
    step: () => undefined
  })

  const fiber = yield* Effect.forkDetach(Effect.uninterruptible(pump))
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      wake?.()
      return Effect.asVoid(Fiber.await(fiber))
    })
  )
  return submit
})

const missingAnswer = Exit.die(
  new Error("Expected one answer per item of a batch, saw fewer. The backend's `run` must answer all of them.")
)
