import { assert, describe, it } from "@effect/vitest"
import type { Evaluation, EvaluationListQuery, InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../registry/agents/service.ts"
import { type RecordQuery, Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { evaluationLister } from "./list-evaluations.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, governedAgent } from "./testing/refunds.ts"

const list = (query: EvaluationListQuery, orgUnits?: ReadonlyArray<string>) =>
  Evaluations.use((evaluations) => evaluations.list(query, orgUnits === undefined ? undefined : { orgUnits }))
const search = (agentId: string) => ask(agentId, { tool: "search" })
const large = (agentId: string) => ask(agentId, { tool: "refund", amount: 5_000 })
const idsOf = (evaluations: ReadonlyArray<Evaluation>) => evaluations.map(({ id }) => id)

describe("the evaluations of an agent", () => {
  it.effect("come newest first, each as it is answered alone, and only this agent's", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const other = yield* governedAgent(undefined, "other bot")
      const made = [yield* search(agentId), yield* large(agentId)]
      yield* search(other.agentId)
      made.push(yield* ask(agentId, { tool: "refund", amount: 1_500 }))
      assert.deepStrictEqual(yield* list({ agent_id: agentId, limit: 100 }), made.toReversed())
      assert.deepStrictEqual(idsOf(yield* list({ agent_id: agentId, limit: 1 })), [made[2]!.id])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are chosen by outcome, by rule and by time, and by all at once", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const first = yield* search(agentId)
      const second = yield* large(agentId)
      yield* TestClock.adjust(1_000)
      const third = yield* search(agentId)
      const fourth = yield* large(agentId)
      const found = (query: Omit<EvaluationListQuery, "agent_id" | "limit">) =>
        Effect.map(list({ agent_id: agentId, limit: 100, ...query }), idsOf)
      assert.deepStrictEqual(yield* found({ outcome: "allow" }), [third.id, first.id])
      assert.deepStrictEqual(yield* found({ rule: second.matched_rule }), [fourth.id, second.id])
      assert.deepStrictEqual(yield* found({ since: third.created_at }), [fourth.id, third.id])
      assert.deepStrictEqual(yield* found({ outcome: "allow", since: third.created_at }), [third.id])
      assert.deepStrictEqual(yield* found({ outcome: "allow", rule: second.matched_rule }), [])
      assert.deepStrictEqual(yield* found({ before: third.seq }), [second.id, first.id])
      assert.deepStrictEqual(yield* found({ before: 0 }), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("come page by page as they do whole, along the agent's own records", () => {
    const queries: Array<RecordQuery> = []
    const watched = (storage: StorageApi): StorageApi => ({
      ...storage,
      records: (query) => {
        queries.push(query)
        return storage.records(query)
      }
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      for (let n = 0; n < 5; n++) yield* n % 2 === 0 ? search(agentId) : large(agentId)
      const whole = yield* list({ agent_id: agentId, limit: 100 })
      assert.lengthOf(whole, 5)
      queries.length = 0
      const pages: Array<Evaluation> = []
      for (let before = Number.MAX_SAFE_INTEGER; ;) {
        const page = yield* list({ agent_id: agentId, limit: 2, before })
        if (page.length === 0) break
        pages.push(...page)
        before = page.at(-1)!.seq
      }
      assert.deepStrictEqual(pages, whole)
      assert.lengthOf(queries, 4)
      assert.isTrue(queries.every((query) => query.agentId === agentId && query.limit === 500))
    }).pipe(Effect.provide(governorWorld(watched)))
  })

  it.effect("end a page at its bound of records, and say where to continue when it found nothing", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const denied = yield* large(agentId)
      for (let n = 0; n < 6; n++) yield* search(agentId)
      const bounded = evaluationLister(yield* Storage, ({ seq }) => Effect.succeed({ seq } as Evaluation), {
        records: 4,
        partBytes: 1_000
      })
      const query = { agent_id: agentId, outcome: denied.outcome, limit: 10 }
      const refusal = (yield* Effect.flip(bounded(query))) as InvalidInput
      const [{ ctx, loc, type }] = refusal.detail as [InvalidInput["detail"][number]]
      assert.deepStrictEqual([loc, type], [["query", "before"], "value_error"])
      const before = ctx["before"] as number
      // The review that it opened, and three of the searches.
      assert.strictEqual(before, denied.seq + 4)
      assert.deepStrictEqual(yield* bounded({ ...query, before }), [{ seq: denied.seq } as Evaluation])
      assert.lengthOf(yield* bounded({ agent_id: agentId, limit: 10 }), 4)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("end a page at its bound of bytes, with one slice at least", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      for (let n = 0; n < 60; n++) yield* search(agentId)
      const bounded = evaluationLister(yield* Storage, ({ seq }) => Effect.succeed({ seq } as Evaluation), {
        records: 1_000,
        partBytes: 1
      })
      const page = yield* bounded({ agent_id: agentId, limit: 100 })
      assert.lengthOf(page, 50)
      assert.lengthOf(yield* bounded({ agent_id: agentId, limit: 100, before: page.at(-1)!.seq }), 10)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("come of every agent in scope where none is named", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const other = yield* governedAgent(undefined, "other bot")
      const made = [yield* search(agentId), yield* search(other.agentId), yield* large(agentId)]
      assert.deepStrictEqual(idsOf(yield* list({ limit: 100 })), idsOf(made).toReversed())
      assert.deepStrictEqual(
        idsOf(yield* list({ limit: 2, before: made[2]!.seq })),
        idsOf(made.slice(0, 2)).toReversed()
      )
      const { org_unit: unit } = yield* Agents.use((agents) => agents.get(agentId))
      assert.lengthOf(yield* list({ limit: 100 }, [unit!]), 3)
      assert.deepStrictEqual(yield* list({ limit: 100 }, ["another unit"]), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("have null where their signals were erased", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const made = yield* search(agentId)
      yield* Erasure.use((erasure) => erasure.erase({ seq: made.seq, name: "signals", reason: "security" }, ann))
      const [shown] = yield* list({ agent_id: agentId, limit: 1 })
      assert.deepStrictEqual(shown, { ...made, signals: null })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("exist only where the agent does, for whom it does", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const unknown = list({ agent_id: `agt_${"0".repeat(26)}`, limit: 1 })
      for (const act of [list({ agent_id: id, limit: 1 }, ["sales"]), unknown])
        assert.strictEqual((yield* Effect.flip(act))._tag, "AgentNotFound")
      assert.deepStrictEqual(yield* list({ agent_id: id, limit: 1 }, ["ops"]), [])
      assert.strictEqual((yield* Agents.use((agents) => agents.get(id))).id, id)
    }).pipe(Effect.provide(governorWorld()))
  )
})
