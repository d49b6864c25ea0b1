/** Group commit of requests to the limits: those that come while a transaction is under way share the next one. */
import type { LimitRequest, LimitsApi, ReadFault, Taken } from "@flyball/core/storage"
import { limitsProblem } from "@flyball/core/storage"
import { Effect, Exit, type Scope } from "effect"
import { groupCommit } from "./group-commit.ts"

/** Makes `limits.take` of a backend that answers a group at once with `run`. */
export const groupTakes = (
  run: (requests: ReadonlyArray<LimitRequest>) => Effect.Effect<ReadonlyArray<Taken>, ReadFault>,
  closed: () => ReadFault
): Effect.Effect<LimitsApi["take"], never, Scope.Scope> =>
  Effect.map(
    groupCommit<ReadonlyArray<LimitRequest>, ReadonlyArray<Taken>, ReadFault>({
      weigh: ({ length }) => ({ records: Math.max(1, length), bytes: 0 }),
      closed,
      run: (items) =>
        Effect.map(run(items.flat()), (taken) => {
          let at = 0
          return items.map(({ length }) => Exit.succeed(taken.slice(at, (at += length))))
        })
    }),
    (submit) => (requests) =>
      submit(() => {
        const problem = limitsProblem(requests)
        if (problem !== null) throw new Error(problem)
        return requests
      })
  )
