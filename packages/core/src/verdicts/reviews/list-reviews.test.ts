/** Lists of reviews where many are open: what each reads, in which order, and where a page ends. */
import { assert, describe, it } from "@effect/vitest"
import type { Review, ReviewListQuery } from "@flyball/contract"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ask, governedAgent } from "../evaluations/testing/refunds.ts"
import { Kill } from "../kill/service.ts"
import { listReviews } from "./list-reviews.ts"
import { reviewQueue } from "./queue.ts"
import { Reviews } from "./service.ts"
import { type FilledReview, fillQueue } from "./testing/fill-queue.ts"

const large = { tool: "refund", amount: 5_000 }
const HOUR_MS = 3_600_000
const NOW_MS = 1_800_000_000_000
const DAY_MS = 24 * HOUR_MS
/** Reviews that a list may read in all: a page of the queue is 250. */
const MOST = 300
const MANY = 1_500
/** Where each of them is ended by a commit of its own. */
const FEWER = 500

/** Rows that a store answered, of each read. */
const counting = (rows: Map<string, number>) => (storage: StorageApi) => {
  const count = (name: string, found: ReadonlyArray<unknown>): void => {
    rows.set(name, (rows.get(name) ?? 0) + found.length)
  }
  const counted = (name: "records" | "range" | "find" | "list") =>
    ((...args: ReadonlyArray<never>) =>
      Effect.tap(
        (storage[name] as (...all: ReadonlyArray<never>) => ReturnType<typeof storage.find>)(...args),
        (found) => Effect.sync(() => count(name, found))
      )) as never
  return Storage.of({
    ...storage,
    records: counted("records"),
    range: counted("range"),
    find: counted("find"),
    list: counted("list")
  })
}

const total = (rows: Map<string, number>): number => [...rows.values()].reduce((sum, one) => sum + one, 0)

/** A store in which one review was opened by an evaluation, and copies of it: the first of `copies` is the oldest. */
const given = (copies: ReadonlyArray<FilledReview>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW_MS)
    const { agentId } = yield* governedAgent()
    const { review_id: id } = yield* ask(agentId, large, { args: large })
    const storage = yield* Storage
    const other = (yield* registered("other", "elsewhere")).id
    const ids = yield* fillQueue(
      storage,
      id!,
      copies.map((copy, index) => ({
        openedAtMs: NOW_MS + 1_000 + index,
        expiresAtMs: NOW_MS + DAY_MS,
        ...copy,
        ...(copy.agentId === "other" ? { agentId: other } : {})
      }))
    )
    yield* TestClock.setTime(NOW_MS + HOUR_MS - 1)
    return { agentId, first: id!, ids, other }
  })

const open = (count: number, more: FilledReview = {}): ReadonlyArray<FilledReview> =>
  Array.from({ length: count }, () => more)

/** Reviews over a store of their own, so that nothing else of the governor is counted. */
const countedReviews = (rows: Map<string, number>) =>
  Effect.gen(function* () {
    const storage = counting(rows)(yield* Storage)
    return yield* Reviews.pipe(Effect.provide(Layer.fresh(Reviews.layer)), Effect.provideService(Storage, storage))
  })

const idsOf = (all: ReadonlyArray<Review>): ReadonlyArray<string> => all.map(({ id }) => id)
const list = (query: ReviewListQuery, units: "*" | ReadonlyArray<string> = "*") =>
  Reviews.use((reviews) => reviews.list(query, { orgUnits: units }))

describe("the list of reviews", () => {
  it.effect("reads a page of the queue, however many reviews are open, in each status and of each agent", () =>
    Effect.gen(function* () {
      const { agentId, first, ids, other } = yield* given([
        { claimedBy: `usr_${"0".repeat(25)}4`, leaseUntilMs: NOW_MS + DAY_MS },
        { ended: "resolved" },
        { ended: "cancelled" },
        { ended: "expired" },
        { expiresAtMs: NOW_MS + 5_000 },
        { agentId: "other" },
        ...open(MANY)
      ])
      const rows = new Map<string, number>()
      const reviews = yield* countedReviews(rows)
      const lists = [
        [{ status: "open", limit: 10 }, ids.slice(-10).toReversed()],
        [{ status: "claimed" }, [ids[0]]],
        [{ status: "resolved" }, [ids[1]]],
        [{ status: "cancelled" }, [ids[2]]],
        [{ status: "expired" }, [ids[4], ids[3]]],
        [{ status: "open", agent_id: other }, [ids[5]]],
        [{ status: "resolved", agent_id: other }, []],
        [{ status: "claimed", agent_id: other }, []],
        [{ status: "expired", agent_id: other }, []],
        [{ status: "expired", agent_id: agentId }, [ids[4], ids[3]]]
      ] as const
      for (const [query, expected] of lists) {
        rows.clear()
        assert.deepStrictEqual(
          idsOf(yield* reviews.list(query)),
          expected as ReadonlyArray<string>,
          JSON.stringify(query)
        )
        assert.isBelow(total(rows), MOST, `rows read by ${JSON.stringify(query)}`)
      }
      const { seq } = yield* reviews.get(ids[5]!)
      rows.clear()
      assert.deepStrictEqual(idsOf(yield* reviews.list({ status: "open", before: seq })), [first])
      assert.deepStrictEqual(yield* reviews.list({ status: "open", before: 1 }), [])
      assert.isBelow(total(rows), MOST)
    }).pipe(Effect.provide(governorWorld()), Effect.scoped)
  )

  it.effect("continues behind the last review of a page, also among those opened in one millisecond", () =>
    Effect.gen(function* () {
      const { first, ids } = yield* given([
        ...open(3),
        ...open(600, { openedAtMs: NOW_MS + 2_000 }),
        ...open(5, { openedAtMs: NOW_MS + 3_000 })
      ])
      const found: Array<string> = []
      for (let before: number | null = null; ;) {
        const page: ReadonlyArray<Review> = yield* list({
          status: "open",
          limit: 90,
          ...(before === null ? {} : { before })
        })
        found.push(...idsOf(page))
        if (page.length === 0) break
        before = page.at(-1)!.seq
      }
      assert.deepStrictEqual(found, [...ids.toReversed(), first])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("shows expired ones in one order, whether the job recorded that or not", () =>
    Effect.gen(function* () {
      const { ids } = yield* given(
        Array.from({ length: 600 }, (_, n): FilledReview =>
          n % 3 === 0 ? { expiresAtMs: NOW_MS + 5_000 } : { ended: "expired" }
        )
      )
      const found: Array<string> = []
      for (let before: number | null = null; ;) {
        const page: ReadonlyArray<Review> = yield* list({ status: "expired", ...(before === null ? {} : { before }) })
        found.push(...idsOf(page))
        if (page.length === 0) break
        before = page.at(-1)!.seq
      }
      assert.deepStrictEqual(found, ids.toReversed())
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("names where to continue where it read all that it may and shows none of it", () =>
    Effect.gen(function* () {
      const { agentId, ids, other } = yield* given([{ agentId: "other" }, ...open(600)])
      const storage = yield* Storage
      const page = (query: ReviewListQuery) =>
        listReviews(storage, reviewQueue(storage), query, ({ body }) => Effect.succeed(body.agentId === other), 400)
      for (const status of [{}, { status: "open" }] as const) {
        const refused = yield* Effect.flip(page(status))
        assert.strictEqual(refused._tag, "InvalidInput")
        const context = (refused as { readonly detail: ReadonlyArray<{ readonly ctx?: unknown }> }).detail[0]!.ctx
        const { found } = yield* page({ ...status, ...(context as { readonly before: number }) })
        assert.deepStrictEqual(
          found.map(({ stored }) => stored.id),
          [ids[0]]
        )
      }
      assert.deepStrictEqual(idsOf(yield* list({ status: "open" }, ["elsewhere"])), [ids[0]!])
      assert.deepStrictEqual(yield* list({ status: "open", agent_id: agentId }, ["elsewhere"]), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has a job that reads what is due and a page more, and all of them after a halt", () =>
    Effect.gen(function* () {
      const { agentId, ids } = yield* given([{ expiresAtMs: NOW_MS + 2 * HOUR_MS }, ...open(FEWER)])
      const rows = new Map<string, number>()
      const reviews = yield* countedReviews(rows)
      yield* reviews.sweep
      rows.clear()
      assert.strictEqual(yield* reviews.sweep, 0)
      assert.isBelow(total(rows), MOST, "rows of a sweep without work")
      yield* TestClock.setTime(NOW_MS + 2 * HOUR_MS)
      rows.clear()
      assert.strictEqual(yield* reviews.sweep, 2, "the copy and its origin are over")
      assert.isBelow(total(rows), MOST, "rows of a sweep of what is due")
      assert.deepStrictEqual(idsOf(yield* list({ status: "expired" }))[0], ids[0])
      const kill = yield* Kill
      yield* kill.activate(
        { target_type: "agent", target_id: agentId, response: "halt", reason: "test" },
        { id: `usr_${"0".repeat(25)}4` }
      )
      assert.strictEqual(yield* reviews.sweep, FEWER)
      assert.deepStrictEqual(yield* list({ status: "open" }), [])
    }).pipe(Effect.provide(governorWorld()), Effect.scoped)
  )

  it.effect("has a backlog whose oldest review is one read, and whose length is counted once a minute", () =>
    Effect.gen(function* () {
      const { ids } = yield* given([{ expiresAtMs: NOW_MS + 5_000 }, ...open(MANY)])
      const rows = new Map<string, number>()
      const reviews = yield* countedReviews(rows)
      // The review that the copies are of is the oldest.
      const expected = { open: MANY + 1, oldestMs: HOUR_MS - 1 }
      assert.deepStrictEqual(yield* reviews.backlog, expected)
      rows.clear()
      assert.deepStrictEqual(yield* reviews.backlog, expected)
      assert.isBelow(total(rows), MOST)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* reviews.backlog).open, MANY, "its time is over")
      assert.strictEqual(ids.length, MANY + 1)
    }).pipe(Effect.provide(governorWorld()), Effect.scoped)
  )
})
