/**
 * The one line in which metered evaluations of this process wait: who waits while a commit is being made durable shares
 * the next one.
 */
import { type Cause, Effect, Exit } from "effect"
import type { ReadFault } from "../../storage/port.ts"
import { type Evaluated, evaluateBatch, type Evaluating, type Request } from "./evaluate-batch.ts"

/**
 * Evaluations that share a commit.
 *
 * - Unit: requests. Enough that the commit is the smaller part of the work; few enough that one batch is planned in a
 *   few milliseconds.
 */
export const MAX_BATCHED = 128

interface Waiting {
  readonly request: Request
  readonly answer: (evaluated: Effect.Effect<Evaluated, ReadFault>) => void
}

/** Waits for its turn in the queue. A caller that stops waiting may have been evaluated all the same. */
export const evaluationQueue = Effect.map(Effect.context<never>(), (services) => (context: Evaluating) => {
  let waiting: Array<Waiting> = []
  let isServing = false

  const serve: Effect.Effect<void> = Effect.gen(function* () {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCHED)
      waiting = waiting.slice(MAX_BATCHED)
      const exit = yield* Effect.exit(
        evaluateBatch(
          context,
          batch.map(({ request }) => request)
        )
      )
      batch.forEach(({ answer }, place) =>
        answer(
          Exit.isSuccess(exit)
            ? Effect.succeed(exit.value[place]!)
            : Effect.failCause(exit.cause as Cause.Cause<ReadFault>)
        )
      )
    }
    isServing = false
  })

  return (request: Request): Effect.Effect<Evaluated, ReadFault> =>
    Effect.callback((resume) => {
      waiting.push({ request, answer: resume })
      if (isServing) return
      isServing = true
      Effect.runForkWith(services)(serve)
    })
})
