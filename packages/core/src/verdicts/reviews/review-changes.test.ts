/** Following the changes of reviews: nothing is missed, wherever a reader begins again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld } from "../../testing/governor-world.ts"
import { Storage } from "../../storage/port.ts"
import { ask as evaluate, governedAgent, key, refunds } from "../evaluations/testing/refunds.ts"
import { type ReviewingPerson, Reviews, type ReviewsApi } from "./service.ts"

const cyn: ReviewingPerson = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any", email: null }
const large = { tool: "refund", amount: 5_000 }
const world = () => Effect.provide(governorWorld())

let others = 0
/** Opens a review: the same refund would be the same review. */
const opened = (
  agentId: string,
  wanted: { readonly [name: string]: unknown } = { ...large, amount: 2_500 + ++others }
) => Effect.map(evaluate(agentId, wanted, { args: wanted }), ({ review_id: id }) => id!)
const approved = (id: string) => Reviews.use((reviews) => reviews.resolve(id, { resolution: "approve" }, cyn))

/** All changes from a place on, without waiting: of each the record, the review and where it stands. */
const all = Effect.fnUntraced(function* (
  after: number | null,
  query: Parameters<ReviewsApi["changes"]>[2] = {},
  scope: Parameters<ReviewsApi["changes"]>[3] = { orgUnits: "*" },
  requestedBy: string | null = null
) {
  const reviews = yield* Reviews
  const found: Array<{ readonly seq: number; readonly id: string; readonly status: string }> = []
  for (let place = yield* reviews.placeBehind(after); ;) {
    const step = yield* reviews.changes(place, 0, query, scope, requestedBy)
    place = step.place
    for (const { review, seq } of step.changes) found.push({ seq, id: review.id, status: review.status })
    if (step.changes.length === 0 && place.live.length === 0) return { found, readTo: place.readTo }
  }
})

describe("changes of reviews", () => {
  it.effect("begin with the reviews that wait for people, and continue with each change", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const [over, first, second] = [yield* opened(agentId, large), yield* opened(agentId), yield* opened(agentId)]
      yield* approved(over)
      yield* reviews.claim(second, { give_back: false }, cyn)
      const begun = yield* all(null)
      assert.deepStrictEqual(
        begun.found.map(({ id, status }) => [id, status]),
        [
          [first, "open"],
          [second, "claimed"]
        ]
      )
      // Each stands under the record that opened it.
      assert.deepStrictEqual(
        begun.found.map(({ seq }) => seq),
        [(yield* reviews.get(first)).seq, (yield* reviews.get(second)).seq]
      )
      const used = yield* evaluate(agentId, large, { args: large, approval_id: over })
      yield* reviews.resolve(second, { resolution: "reject", reason: "no" }, cyn)
      yield* reviews.withdraw(first, {}, key)
      const third = yield* opened(agentId)
      yield* TestClock.adjust(3_600_000)
      assert.strictEqual(yield* reviews.sweep, 1)
      const later = yield* all(begun.readTo)
      assert.deepStrictEqual(
        later.found.map(({ id, status }) => [id, status]),
        [
          [over, "resolved"],
          [second, "resolved"],
          [first, "cancelled"],
          [third, "expired"],
          [third, "expired"]
        ]
      )
      assert.strictEqual((yield* reviews.get(over)).consumed_by, used.id)
      const storage = yield* Storage
      for (const { seq } of later.found) assert.match((yield* storage.record(seq))!.kind, /^review\./)
    }).pipe(world())
  )

  it.effect("miss nothing behind any record, and restart behind one that the chain does not have", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      for (let count = 0; count < 60; count++) yield* opened(agentId)
      const { found } = yield* all(null)
      assert.lengthOf(found, 60)
      for (const { id } of found.slice(0, 30)) yield* approved(id)
      const every = yield* all(0)
      assert.lengthOf(every.found, 90)
      assert.deepStrictEqual(
        every.found.map(({ seq }) => seq),
        every.found.map(({ seq }) => seq).toSorted((a, b) => a - b)
      )
      for (const { seq } of [every.found[0]!, every.found[49]!, every.found[50]!, every.found[89]!])
        assert.deepStrictEqual(
          (yield* all(seq)).found,
          every.found.filter((one) => one.seq > seq)
        )
      assert.lengthOf((yield* all(every.readTo)).found, 0)
      assert.lengthOf((yield* all(every.readTo + 1)).found, 30)
    }).pipe(world())
  )

  it.effect("are cut down to the reader's org units, its own reviews, an agent and a status", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const other = yield* governedAgent(refunds(), "another bot")
      const ids = [yield* opened(agentId), yield* opened(other.agentId)]
      yield* approved(ids[0]!)
      for (const after of [null, 0]) {
        assert.lengthOf((yield* all(after, {}, { orgUnits: ["elsewhere"] })).found, 0)
        assert.lengthOf((yield* all(after, {}, { orgUnits: [] })).found, 0)
        assert.lengthOf((yield* all(after, {}, { orgUnits: ["ops"] }, "key_nobody")).found, 0)
        assert.deepStrictEqual(
          (yield* all(after, { agent_id: other.agentId })).found.map(({ id }) => id),
          [ids[1]!]
        )
        assert.deepStrictEqual(
          (yield* all(after, { status: "open" }, { orgUnits: ["ops"] }, key.id)).found.map(({ id }) => id),
          [ids[1]!]
        )
      }
      assert.lengthOf((yield* all(0, { agent_id: agentId, status: "resolved" })).found, 2)
    }).pipe(world())
  )

  it.effect("are waited for, and a step without any says how far it read", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const storage = yield* Storage
      const place = yield* reviews.placeBehind(null)
      const waiting = yield* Effect.forkChild(reviews.changes(place, 5_000))
      // What is not about reviews ends no wait.
      yield* evaluate(agentId, { tool: "search" })
      yield* TestClock.adjust(5_000)
      const none = yield* Fiber.join(waiting)
      assert.deepStrictEqual([none.changes, none.place.live], [[], []])
      const next = yield* Effect.forkChild(reviews.changes(none.place, 5_000))
      const id = yield* opened(agentId)
      yield* TestClock.adjust(250)
      const { changes, place: after } = yield* Fiber.join(next)
      assert.deepStrictEqual(
        changes.map(({ review }) => review.id),
        [id]
      )
      assert.strictEqual(after.readTo, (yield* storage.asOf).seq)
    }).pipe(world())
  )
})
