/** Interrupts an effect before one of its steps: an interrupt can come before each. */
import { Effect, Exit, Fiber, Scheduler } from "effect"

/**
 * Runs an effect up to a step (1 is the first), and interrupts it there. Answers whether it was interrupted; false
 * where it has fewer steps.
 */
export const interruptedBefore = Effect.fnUntraced(function* <A, E, R>(
  step: number,
  effect: Effect.Effect<A, E, R>
): Effect.fn.Return<boolean, E, R> {
  let taken = 0
  class Interrupting extends Scheduler.MixedScheduler {
    override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
      if (++taken === step) fiber.interruptUnsafe()
      return super.shouldYield(fiber)
    }
  }
  const fiber = yield* Effect.forkChild(Effect.provideService(effect, Scheduler.Scheduler, new Interrupting()))
  const exit = yield* Fiber.await(fiber)
  if (Exit.isSuccess(exit)) return false
  if (Exit.hasInterrupts(exit)) return true
  return yield* Effect.failCause(exit.cause)
})
