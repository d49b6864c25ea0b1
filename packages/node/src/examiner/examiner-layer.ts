/** The threads that answer questions about envelopes and behaviour, as a layer. */
import { Examiner, type ExaminerApi } from "@flyball/core"
import type { Kind } from "@flyball/core/examination"
import { Effect, Layer } from "effect"
import { ExaminerThread, type ExaminerThreadOptions } from "./examiner-thread.ts"

/**
 * `Examiner` over threads of its own: evaluations continue while an envelope is examined, or behaviour compared.
 * `dataFolder` brings it.
 *
 * Publications, comparisons and searches of routes have a thread each: running work cannot be preempted, and none
 * waits for a lint that takes 15 s, nor for a search of a minute. A thread starts with its first question, and all end
 * with the governor.
 */
export const examinerLayer = (options: ExaminerThreadOptions = {}): Layer.Layer<never> =>
  Layer.effect(
    Examiner,
    Effect.gen(function* () {
      const [questions, publications, comparisons, routes] = [
        yield* thread(options),
        yield* thread(options),
        yield* thread(options),
        yield* thread(options)
      ]
      const threadOf = (kind: Kind): ExaminerThread =>
        kind === "change" || kind === "fields"
          ? comparisons
          : kind === "publish"
            ? publications
            : kind === "routes"
              ? routes
              : questions
      const examiner: ExaminerApi = {
        ask: (kind, about) =>
          Effect.callback((resume) => {
            const takeBack = threadOf(kind).ask(kind, about, (answered) =>
              resume(
                answered.ok
                  ? Effect.succeed(answered.answer)
                  : Effect.die(new Error(`A question to the examiner was not answered: ${answered.reason}.`))
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
