/** Gives back what a request holds, once nothing of it goes on. */
import { Effect } from "effect"
import type { Outgoing } from "../exchange.ts"

/**
 * Runs `release` once, when the answer has ended and the request's own work too: one of them may outlast the other,
 * where a caller leaves, and where an answer is a stream.
 */
export const afterRequest = (response: Outgoing, release: () => void): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    Effect.sync(() => {
      let left = 2
      const one = (): void => {
        left--
        if (left === 0) release()
      }
      fiber.addObserver(one)
      if (response.destroyed) one()
      else response.once("close", one)
    })
  )
