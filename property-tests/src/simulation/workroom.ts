/** The thread that plans routes, as the world has it: it takes time, and now and then it is lost. */
import { Examiner, type ExaminerApi } from "@flyball/core"
import { fromUtf8 } from "@flyball/evidence"
import type { Pick } from "@flyball/testkit"
import { Effect } from "effect"
import { checkPlan, readProblem, routingMatrix, solveRoutes } from "../../../packages/rules/src/index.ts"

/** The longest that it takes. Unit: milliseconds of the world. */
const LONGEST_MS = 6_000

/** What hosts have work done by. `isCalm`: nothing is lost any more. */
export const examinerOf = (pick: Pick, isCalm: () => boolean): ExaminerApi => ({
  ask: (kind, about) =>
    kind === "routes"
      ? Effect.gen(function* () {
          yield* Effect.sleep(pick(LONGEST_MS))
          if (!isCalm() && pick(8) === 0) return yield* Effect.die(new Error("the thread is lost"))
          return planned(about as never) as never
        })
      : Examiner.defaultValue().ask(kind, about)
})

/** Plans by a clock that each reading moves on. */
const planned = ({ bytes, seed, stop }: { bytes: Uint8Array; seed: string; stop: Int32Array }) => {
  const problem = readProblem(JSON.parse(fromUtf8(bytes)!))!
  const matrix = routingMatrix(problem.distances)
  let readings = 0
  const found = solveRoutes(problem, matrix, {
    seed,
    maxMs: 4,
    now: () => readings++,
    stop: () => Atomics.load(stop, 0) === 1
  })
  return { ...found, fault: checkPlan(problem, matrix, found.plan) }
}
