/** The thread that answers questions about envelopes, as a layer. */
import { Examiner, type ExaminerApi } from "@flyball/core"
import { Effect, Layer } from "effect"
import { ExaminerThread, type ExaminerThreadOptions } from "./examiner-thread.ts"

/**
 * `Examiner` over a thread of its own: evaluations go on while an envelope is looked at. `dataFolder` brings it; the
 * thread starts with the first question and ends with the governor.
 */
export const examinerLayer = (options: ExaminerThreadOptions = {}): Layer.Layer<never> =>
  Layer.effect(
    Examiner,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new ExaminerThread(options)),
        (thread) => Effect.promise(() => thread.close())
      ),
      (thread): ExaminerApi => ({
        ask: (kind, about) =>
          Effect.callback((resume) => {
            const takeBack = thread.ask(kind, about, (answered) =>
              resume(
                answered.ok
                  ? Effect.succeed(answered.answer)
                  : Effect.die(new Error(`A question about an envelope was not answered: ${answered.reason}.`))
              )
            )
            return Effect.sync(takeBack)
          })
      })
    )
  )

/** The layer with its own measures. One value, so that a host that names it twice has one thread. */
export const examinerThread: Layer.Layer<never> = examinerLayer()
