/** The threads that answer questions about envelopes, as a layer. */
import { Examiner, type ExaminerApi } from "@flyball/core"
import { Effect, Layer } from "effect"
import { ExaminerThread, type ExaminerThreadOptions } from "./examiner-thread.ts"

/**
 * `Examiner` over threads of its own: evaluations continue while an envelope is examined. `dataFolder` brings it.
 *
 * Publications have a thread of their own: running work cannot be preempted, and a publication does not wait for a lint
 * that takes 15 s. A thread starts with its first question, and both end with the governor.
 */
export const examinerLayer = (options: ExaminerThreadOptions = {}): Layer.Layer<never> =>
  Layer.effect(
    Examiner,
    Effect.gen(function* () {
      const questions = yield* thread(options)
      const publications = yield* thread(options)
      const examiner: ExaminerApi = {
        ask: (kind, about) =>
          Effect.callback((resume) => {
            const takeBack = (kind === "publish" ? publications : questions).ask(kind, about, (answered) =>
              resume(
                answered.ok
                  ? Effect.succeed(answered.answer)
                  : Effect.die(new Error(`A question about an envelope was not answered: ${answered.reason}.`))
              )
            )
            return Effect.sync(takeBack)
          })
      }
      return examiner
    })
  )

const thread = (options: ExaminerThreadOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => new ExaminerThread(options)),
    (one) => Effect.promise(() => one.close())
  )

/**
 * The layer with its own measures. One value, so that a host that names it twice has the threads once. Spec: decision
 * 0029.
 */
export const examinerThread: Layer.Layer<never> = examinerLayer()
