/** A release is one commit, and what its halt ended stays ended. */
import { assert, describe, it } from "@effect/vitest"
import { REVIEWS } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { Replay } from "../../outward/replay/service.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { type ChangeSet, Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Drills } from "../drills/service.ts"
import { ann, ask as evaluate, ben, governedAgent, key, recomputed } from "../evaluations/testing/refunds.ts"
import { LIFTED } from "../kill/lifted.ts"
import { Kill } from "../kill/service.ts"
import { Reviews } from "./service.ts"
import { fillQueue } from "./testing/fill-queue.ts"

const cyn = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any", email: null } as const
const large = { tool: "refund", amount: 5_000 }
const ask = (agentId: string, approvalId?: string) =>
  evaluate(agentId, large, { args: large, ...(approvalId === undefined ? {} : { approval_id: approvalId }) })

const haltAndRelease = Effect.fnUntraced(function* (agentId: string) {
  const kill = yield* Kill
  const { activation_event: id } = yield* kill.activate(
    { target_type: "agent", target_id: agentId, response: "halt", reason: "stop" },
    ann
  )
  yield* kill.release({ activation_event: id!, reason: "go" }, ben)
  return id!
})

/** A live drill, completed at once. */
const drilled = Effect.fnUntraced(function* (agentId: string) {
  const drills = yield* Drills
  const input = { target_type: "agent", target_id: agentId, mode: "live", scenario: "stop", slo_ms: 1_000 } as const
  const { activation_event, id } = yield* drills.start(input, ann)
  yield* drills.complete(id, ben)
  return activation_event
})

const fails = (effect: Effect.Effect<unknown, { readonly _tag: string }, Reviews>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("a release", () => {
  it.effect(
    "of a halt with 1,500 open reviews is in force after one commit; a crash leaves the rest to the next",
    () => {
      const commits: Array<ChangeSet> = []
      let lost = Number.POSITIVE_INFINITY
      const storage = (below: StorageApi): StorageApi => ({
        ...below,
        commit: (change) =>
          Effect.suspend(() => {
            if (Object.keys(change).length > 0) commits.push(change)
            return change.records?.[0]?.kind !== "review.cancelled" || lost-- > 0
              ? below.commit(change)
              : Effect.fail(new StorageUnavailable({ reason: "the process is gone", wrote: "no" }))
          })
      })
      return Effect.gen(function* () {
        const { agentId } = yield* governedAgent()
        const [kill, store] = [yield* Kill, yield* Storage]
        const { review_id: first } = yield* ask(agentId)
        yield* fillQueue(
          store,
          first!,
          Array.from({ length: 1_499 }, () => ({}))
        )
        commits.length = 0
        const id = yield* haltAndRelease(agentId)
        assert.deepStrictEqual(
          commits.map(({ records }) => records!.map(({ kind }) => kind)),
          [["kill.activated"], ["kill.released"]]
        )
        assert.isFalse((yield* kill.status({ type: "agent", id: agentId })).halted)
        const cancelled = Effect.map(store.list(REVIEWS), (all) => all.filter(({ body }) => body["ended"] !== null))
        lost = 3
        assert.strictEqual(yield* fails((yield* Reviews).sweep), "StorageUnavailable")
        assert.lengthOf(yield* cancelled, 250)
        lost = Number.POSITIVE_INFINITY
        // Another process has seen no epoch before.
        const reviews = yield* Reviews.pipe(Effect.provide(Layer.fresh(Reviews.layer)))
        commits.length = 0
        assert.strictEqual(yield* reviews.sweep, 1_250)
        // Beside them a checkpoint may be signed, and what is done is deleted at last.
        const sizes = commits.map(({ records = [] }) => records.length).filter((size) => size > 0)
        assert.deepStrictEqual(sizes, Array.from({ length: 5 }, () => [100, 100, 50]).flat())
        const all = yield* cancelled
        assert.deepStrictEqual([all.length, [...new Set(all.map(({ body }) => body["activationId"]))]], [1_500, [id]])
        assert.deepStrictEqual(yield* store.list(LIFTED), [])
      }).pipe(Effect.provide(governorWorld(storage)), Effect.scoped)
    }
  )

  it.effect.each([haltAndRelease, drilled])("leaves no review to answer that its halt ended, recorded or not", (stop) =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const reviews = yield* Reviews
      const newReview = Effect.map(ask(agentId), ({ review_id }) => review_id!)
      const answered = yield* newReview
      const activationId = yield* stop(agentId)
      assert.deepInclude(yield* reviews.get(answered), { status: "cancelled", cancel_cause: "killed" })
      assert.strictEqual(yield* fails(reviews.resolve(answered, { resolution: "approve" }, cyn)), "ReviewClosed")
      const withdrawn = yield* newReview
      yield* stop(agentId)
      assert.strictEqual(yield* fails(reviews.withdraw(withdrawn, {}, key)), "ReviewClosed")
      const presented = yield* newReview
      yield* stop(agentId)
      // The same question of the same requester: what is over gives its place to the new one.
      const { review_id: opened } = yield* ask(agentId, presented)
      assert.notStrictEqual(opened, presented)
      for (const id of [answered, withdrawn, presented])
        assert.deepInclude(yield* reviews.get(id), { status: "cancelled", cancel_cause: "killed" })
      const store = yield* Storage
      assert.strictEqual((yield* store.get(REVIEWS, answered))!.body["activationId"], activationId)
      assert.strictEqual(yield* reviews.sweep, 0)
      assert.deepStrictEqual(yield* store.list(LIFTED), [])
      assert.deepInclude(yield* reviews.resolve(opened!, { resolution: "approve" }, cyn), { status: "resolved" })
      assert.deepStrictEqual((yield* (yield* Replay).check).differences, [])
      assert.deepStrictEqual(
        (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
        []
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})
