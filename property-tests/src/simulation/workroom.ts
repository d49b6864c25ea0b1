/**
 * The thread that plans routes and the children that read documents, as the world has them: they take time, and now and
 * then one is lost.
 */
import { Examiner, type ExaminerApi } from "@flyball/core"
import { fromUtf8 } from "@flyball/evidence"
import type { Pick } from "@flyball/testkit"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { layOut } from "../../../packages/platform/src/documents/reading/child/lay-out.ts"
import type { DocumentReaderApi } from "../../../packages/platform/src/documents/reading/document-reader.ts"
import { checkPlan, readProblem, routingMatrix, solveRoutes, type TextItem } from "../../../packages/rules/src/index.ts"

/** The longest that it takes. Unit: milliseconds of the world. */
const LONGEST_MS = 6_000

/** Makes the examiner of hosts. `isCalm`: nothing is lost any more. */
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

/** Makes the reader of hosts: the layout of text, as a child would send it. */
export const readerOf = (pick: Pick, isCalm: () => boolean): DocumentReaderApi => ({
  read: (file) =>
    Effect.gen(function* () {
      yield* Effect.sleep(pick(LONGEST_MS / 2))
      const mood = isCalm() ? 7 : pick(8)
      if (mood === 0) return yield* Effect.fail({ code: "interrupted" as const })
      if (mood === 1) return yield* Effect.fail({ code: "too_slow" as const })
      const items: Array<TextItem> = []
      const writer = { page: () => {}, item: (item: TextItem) => items.push(item), warn: () => {} }
      layOut(readFileSync((file as { readonly path: string }).path, "utf8").split("\n"), writer as never)
      return { pages: [{ width: 60_000, height: 73_200, items }], xml: [], warnings: [] }
    })
})
