/** Acts that others overtake each time: between what they read and their commit the windows change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, governedAgent, recomputed } from "./testing/refunds.ts"

/** A world in which `overtaking` is done before each commit of a record of this kind, at most so many times. */
const overtaken = (kind: string, times: number, overtaking: () => Effect.Effect<unknown, unknown, never>) => {
  let left = times
  let isInside = false
  const seen = { attempts: 0 }
  const wrap = (storage: StorageApi): StorageApi => ({
    ...storage,
    commit: (change) =>
      Effect.suspend(() => {
        if (isInside || change.records?.[0]?.kind !== kind) return storage.commit(change)
        seen.attempts++
        if (left-- <= 0) return storage.commit(change)
        isInside = true
        return Effect.orDie(overtaking()).pipe(
          Effect.ensuring(Effect.sync(() => (isInside = false))),
          Effect.andThen(storage.commit(change))
        )
      })
  })
  return { seen, world: governorWorld(wrap) }
}

/** Another evaluator over the same store, as another process has one. */
const other = Layer.fresh(Evaluations.layer)

describe("an act that is overtaken each time", () => {
  it.effect("voids at the first attempt: what is given back depends on nothing that was evaluated meanwhile", () => {
    let evaluate = (): Effect.Effect<unknown, unknown> => Effect.void
    const { seen, world } = overtaken("meter.voided", Number.POSITIVE_INFINITY, () => evaluate())
    return Effect.gen(function* () {
      const context = yield* Effect.context<Evaluations>()
      const { agentId } = yield* governedAgent()
      const { id } = yield* ask(agentId, { tool: "refund", amount: 100 })
      evaluate = () => Effect.provide(ask(agentId, { tool: "refund", amount: 5 }), context)
      yield* Evaluations.use((evaluations) => evaluations.void(id, {}, ann))
      assert.strictEqual(seen.attempts, 1)
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 0 })).meters[0]!.value, 5)
      assert.isEmpty((yield* recomputed).filter(({ verdict }) => verdict !== "ok"))
    }).pipe(Effect.provide(world))
  })

  it.effect("is evaluated in the end, on what the last of them left", () => {
    let evaluate = (): Effect.Effect<unknown, unknown> => Effect.void
    const { seen, world } = overtaken("evaluation.made", 30, () => evaluate())
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const beside = yield* Effect.provide(Effect.context<Evaluations>(), other)
      evaluate = () => Effect.provide(ask(agentId, { tool: "refund", amount: 10 }), beside)
      const { meters } = yield* ask(agentId, { tool: "refund", amount: 1 })
      assert.deepStrictEqual([seen.attempts, meters[0]!.value, meters[0]!.after], [31, 300, 301])
      assert.isEmpty((yield* recomputed).filter(({ verdict }) => verdict !== "ok"))
    }).pipe(Effect.provide(world))
  })

  it.effect("answers the record that another made under the same reference, and counts it once", () => {
    let evaluate = (): Effect.Effect<unknown, unknown> => Effect.void
    const { seen, world } = overtaken("evaluation.made", 1, () => evaluate())
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const beside = yield* Effect.provide(Effect.context<Evaluations>(), other)
      let first: unknown
      evaluate = () =>
        Effect.provide(
          Effect.tap(ask(agentId, { tool: "refund", amount: 10 }, { client_ref: "one" }), (made) =>
            Effect.sync(() => (first = made))
          ),
          beside
        )
      const [again, next] = yield* Effect.all(
        [
          ask(agentId, { tool: "refund", amount: 10 }, { client_ref: "one" }),
          ask(agentId, { tool: "refund", amount: 1 })
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(again, first)
      assert.deepStrictEqual([seen.attempts, next.meters[0]!.value], [2, 10])
      assert.isEmpty((yield* recomputed).filter(({ verdict }) => verdict !== "ok"))
    }).pipe(Effect.provide(world))
  })
})
