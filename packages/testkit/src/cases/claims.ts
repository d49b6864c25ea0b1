/** Cases on claiming what is due: who takes what, in what order, and until when. */
import assert from "node:assert/strict"
import type { Claimed, ClaimAnswer, DeliveryMove, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { storageCase } from "../storage-case.ts"
import { begin, dies, draft, endpoint, event } from "./given.ts"

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const leaseMs = 20_000
const all = { leaseMs, limit: 1000, perEndpoint: 1000 }

const addresses = ({ claimed }: ClaimAnswer): ReadonlyArray<string> =>
  claimed.map(({ delivery }) => `${delivery.endpointId} ${delivery.sequence}`)

const outcome = (
  { delivery: { attempts, id } }: Pick<Claimed, "delivery">,
  to: DeliveryMove["to"] = { state: "succeeded" }
): DeliveryMove => ({
  id,
  from: { state: "in_flight", attempts },
  to,
  ended: { endedAtMs: start, statusCode: 200, errorCode: null, responseExcerpt: "" }
})

/** Has each of these wait for another attempt, that is due then. */
const retried = (storage: StorageApi, claimed: ReadonlyArray<Claimed>, dueAtMs: (address: string) => number) =>
  storage.commit({
    moves: claimed.map((each) =>
      outcome(each, {
        state: "pending",
        nextAttemptAtMs: dueAtMs(`${each.delivery.endpointId} ${each.delivery.sequence}`)
      })
    )
  })

/** Endpoints `a`, `b` … that are each owed so many. The first gets its first before the second gets its own. */
const owing = Effect.fnUntraced(function* (storage: StorageApi, counts: { readonly [endpointId: string]: number }) {
  for (const [id, count] of Object.entries(counts)) {
    yield* storage.commit({
      puts: [endpoint(id, [`for.${id}`])],
      events: Array.from({ length: count }, (_, n) => event({ n }, `for.${id}`))
    })
  }
})

/** Claiming. */
export const claimCases = [
  storageCase(
    "a claim returns each due delivery with its event, and records an open attempt",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* begin(storage)
      yield* storage.commit({ puts: [endpoint("whk_a")], records: [draft()], events: [event({ text: "\u0000" })] })
      yield* time.set(start + 5)
      const {
        claimed: [first, ...more],
        lapsed,
        nextAtMs
      } = yield* storage.outbox.claim(all)
      assert.deepEqual([more, lapsed, nextAtMs], [[], [], start + 5 + leaseMs])
      const [made] = yield* storage.outbox.events({ limit: 1 })
      assert.deepEqual(first!.event, made)
      assert.deepEqual(first!.delivery, {
        id: first!.delivery.id,
        eventId: made!.id,
        endpointId: "whk_a",
        sequence: 1,
        state: "in_flight",
        attempts: 1,
        createdAtMs: start,
        nextAttemptAtMs: null,
        leaseUntilMs: start + 5 + leaseMs,
        finishedAtMs: null
      })
      assert.deepEqual(yield* storage.outbox.delivery(first!.delivery.id), {
        delivery: first!.delivery,
        attempts: [
          {
            attempt: 1,
            startedAtMs: start + 5,
            endedAtMs: null,
            statusCode: null,
            errorCode: null,
            responseExcerpt: ""
          }
        ]
      })
      assert.deepEqual(yield* storage.outbox.claim(all), { claimed: [], lapsed: [], nextAtMs: start + 5 + leaseMs })
    })
  ),
  storageCase(
    "a claim returns the current versions of the endpoints' documents",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* owing(storage, { a: 2, b: 2 })
      yield* storage.commit({ puts: [{ ...endpoint("b", ["for.b"]), expectedVersion: 1 }] })
      const versions = (yield* storage.outbox.claim({ ...all, limit: 2 })).claimed.map(({ delivery, version }) => [
        delivery.endpointId,
        version
      ])
      assert.deepEqual(versions, [
        ["a", 1],
        ["b", 2]
      ])
      yield* storage.commit({
        puts: [
          { ...endpoint("a", ["for.a"]), expectedVersion: 1 },
          { ...endpoint("b", ["for.b"]), expectedVersion: 2 }
        ]
      })
      const later = (yield* storage.outbox.claim(all)).claimed.map(({ delivery, version }) => [
        delivery.endpointId,
        version
      ])
      assert.deepEqual(later, [
        ["a", 2],
        ["b", 3]
      ])
    })
  ),
  storageCase(
    "a claim returns no next time when no delivery is owed",
    Effect.fnUntraced(function* (storage: StorageApi) {
      assert.deepEqual(yield* storage.outbox.claim(all), { claimed: [], lapsed: [], nextAtMs: null })
      yield* owing(storage, { a: 1 })
      const { claimed } = yield* storage.outbox.claim(all)
      yield* storage.commit({ moves: claimed.map((each) => outcome(each)) })
      assert.deepEqual(yield* storage.outbox.claim(all), { claimed: [], lapsed: [], nextAtMs: null })
    })
  ),
  storageCase(
    "endpoints take turns, which continue in the next claim",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* owing(storage, { a: 5, b: 2, c: 1 })
      const claim = (limit: number) => Effect.map(storage.outbox.claim({ ...all, limit }), addresses)
      assert.deepEqual(yield* claim(5), ["a 1", "b 1", "c 1", "a 2", "b 2"])
      assert.deepEqual(yield* claim(1), ["a 3"])
      yield* owing(storage, { d: 3, e: 1 })
      assert.deepEqual(yield* claim(1), ["d 1"])
      assert.deepEqual(yield* claim(1), ["e 1"])
      assert.deepEqual(yield* claim(1), ["a 4"])
      assert.deepEqual(yield* claim(9), ["d 2", "a 5", "d 3"])
    })
  ),
  storageCase(
    "an endpoint with a long queue is not served again before the others, even after its deliveries finished",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* owing(storage, { a: 50, b: 3 })
      const served: Array<string> = []
      for (let n = 0; n < 6; n++) {
        const answer = yield* storage.outbox.claim({ ...all, limit: 1, perEndpoint: 1 })
        served.push(...addresses(answer))
        yield* storage.commit({ moves: answer.claimed.map((each) => outcome(each)) })
      }
      assert.deepEqual(served, ["a 1", "b 1", "a 2", "b 2", "a 3", "b 3"])
    })
  ),
  storageCase(
    "within an endpoint the earliest due comes first, be it a first attempt or a retry; among the next of " +
      "several endpoints, first attempts come first",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* owing(storage, { a: 3, b: 1 })
      const dueIn: { readonly [address: string]: number } = { "a 1": 3000, "a 2": 1000, "a 3": 2000, "b 1": 1000 }
      yield* retried(storage, (yield* storage.outbox.claim(all)).claimed, (address) => start + dueIn[address]!)
      assert.deepEqual(yield* storage.outbox.claim(all), { claimed: [], lapsed: [], nextAtMs: start + 1000 })
      yield* time.set(start + 999)
      assert.deepEqual(yield* storage.outbox.claim(all), { claimed: [], lapsed: [], nextAtMs: start + 1000 })
      yield* time.set(start + 1500)
      yield* storage.commit({ events: [event({}, "for.a"), event({}, "for.a")] })
      yield* time.set(start + 2000)
      yield* storage.commit({ events: [event({}, "for.a")] })
      yield* owing(storage, { c: 2 })
      const answer = yield* storage.outbox.claim(all)
      // "a 3" and "a 6" are due at the same instant: by sequence.
      assert.deepEqual(addresses(answer), ["c 1", "b 1", "a 2", "c 2", "a 4", "a 5", "a 3", "a 6"])
      assert.deepEqual(
        answer.claimed.map(({ delivery }) => delivery.attempts),
        [1, 2, 2, 1, 1, 1, 2, 1]
      )
      assert.equal(answer.nextAtMs, start + 3000)
    })
  ),
  storageCase(
    "an endpoint that is owed more than it takes has its retries tried too, so that no delivery starves",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* owing(storage, { a: 1 })
      const taken: Array<string> = []
      for (let second = 0; second < 8; second++) {
        yield* time.set(start + second * 1000)
        const { claimed } = yield* storage.outbox.claim({ ...all, perEndpoint: 1 })
        taken.push(...claimed.map(({ delivery }) => `${delivery.sequence} ${delivery.attempts}`))
        yield* retried(storage, claimed, () => start + second * 1000 + 1500)
        yield* storage.commit({ events: [event({}, "for.a")] })
      }
      assert.deepEqual(taken, ["1 1", "2 1", "3 1", "1 2", "4 1", "2 2", "5 1", "3 2"])
    })
  ),
  storageCase(
    "an endpoint whose oldest is a retry has its turn even when more endpoints with first attempts wait than " +
      "a claim takes",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* owing(storage, { a: 1 })
      yield* retried(storage, (yield* storage.outbox.claim(all)).claimed, () => start + 1)
      yield* time.set(start + 1)
      yield* owing(storage, { b: 4, c: 4, d: 4 })
      const taken: Array<string> = []
      for (let n = 0; n < 3; n++) taken.push(addresses(yield* storage.outbox.claim({ ...all, limit: 2 })).join(" & "))
      // It was served before the others, so they have their first turns first; and then it has its own, though they are
      // owed first attempts still.
      assert.deepEqual(taken, ["b 1 & c 1", "d 1 & a 1", "b 2 & c 2"])
    })
  ),
  storageCase(
    "no endpoint exceeds its limit of deliveries in flight, over any number of claims",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* owing(storage, { a: 9, b: 1 })
      const claim = (perEndpoint: number) => storage.outbox.claim({ ...all, perEndpoint })
      const first = yield* claim(2)
      assert.deepEqual(addresses(first), ["a 1", "b 1", "a 2"])
      assert.equal(first.nextAtMs, start + leaseMs)
      assert.deepEqual(addresses(yield* claim(2)), [])
      assert.deepEqual(addresses(yield* claim(3)), ["a 3"])
      yield* storage.commit({ moves: [outcome(first.claimed[0]!)] })
      assert.deepEqual(addresses(yield* claim(3)), ["a 4"])
      assert.deepEqual(addresses(yield* claim(1)), [])
    })
  ),
  storageCase(
    "a claim that reached its limit returns the current time as the next",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* owing(storage, { a: 3 })
      assert.equal((yield* storage.outbox.claim({ ...all, limit: 2 })).nextAtMs, start)
      assert.equal((yield* storage.outbox.claim({ ...all, limit: 2 })).nextAtMs, start + leaseMs)
    })
  ),
  storageCase(
    "a delivery whose lease lapsed is reported until it is moved, and counts as in flight",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* owing(storage, { a: 2 })
      const [gone] = (yield* storage.outbox.claim({ ...all, perEndpoint: 1 })).claimed
      yield* time.set(start + leaseMs - 1)
      assert.deepEqual((yield* storage.outbox.claim({ ...all, perEndpoint: 1 })).lapsed, [])
      yield* time.set(start + leaseMs)
      for (let n = 0; n < 2; n++) {
        const { claimed, lapsed } = yield* storage.outbox.claim({ ...all, perEndpoint: 1 })
        assert.deepEqual([claimed, lapsed], [[], [gone!.delivery]])
      }
      const crashed = {
        ...outcome(gone!, { state: "pending", nextAttemptAtMs: start + leaseMs + 60_000 }),
        ended: { endedAtMs: start + leaseMs, statusCode: null, errorCode: "crashed", responseExcerpt: "" }
      } as const
      yield* storage.commit({ moves: [crashed] })
      const next = yield* storage.outbox.claim({ ...all, perEndpoint: 1 })
      assert.deepEqual([addresses(next), next.lapsed], [["a 2"], []])
      assert.deepEqual((yield* storage.outbox.delivery(gone!.delivery.id))?.attempts[0]?.errorCode, "crashed")
    })
  ),
  storageCase(
    "lapsed deliveries come oldest first, up to the requested limit",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      for (const [n, id] of ["a", "b", "c"].entries()) {
        yield* time.set(start + n)
        yield* owing(storage, { [id]: 1 })
        yield* storage.outbox.claim(all)
      }
      yield* time.set(start + leaseMs + 2)
      const { lapsed, nextAtMs } = yield* storage.outbox.claim({ ...all, limit: 2 })
      assert.deepEqual([lapsed.map(({ endpointId }) => endpointId), nextAtMs], [["a", "b"], start + leaseMs + 2])
    })
  ),
  storageCase(
    "a claim uses the store's time, which is never before its head",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* begin(storage)
      yield* time.set(start - 5000)
      yield* owing(storage, { a: 1 })
      const { claimed } = yield* storage.outbox.claim(all)
      assert.deepEqual(
        claimed.map(({ delivery }) => [delivery.createdAtMs, delivery.leaseUntilMs]),
        [[start, start + leaseMs]]
      )
    })
  ),
  storageCase(
    "concurrent claims take every delivery exactly once, within the cap of each endpoint",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      const counts = { a: 40, b: 25, c: 5 }
      yield* owing(storage, counts)
      const taken: Array<string> = []
      for (let round = 0; taken.length < 70; round++) {
        assert.ok(round < 70, `after ${round} rounds only ${taken.length} were claimed`)
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, () => storage.outbox.claim({ ...all, limit: 3, perEndpoint: 7 })),
          { concurrency: "unbounded" }
        )
        const claimed = answers.flatMap((answer) => answer.claimed)
        for (const id of Object.keys(counts))
          assert.ok(
            claimed.filter(({ delivery }) => delivery.endpointId === id).length <= 7,
            `endpoint ${id} has more in flight than it may`
          )
        taken.push(...answers.flatMap(addresses))
        yield* storage.commit({ moves: claimed.map((each) => outcome(each)) })
      }
      assert.equal(new Set(taken).size, 70)
      assert.equal(taken.length, 70)
    })
  ),
  storageCase(
    "a delivery is never both claimed and cancelled by concurrent calls",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* owing(storage, { a: 100 })
      const [answers] = yield* Effect.all(
        [
          Effect.all(
            Array.from({ length: 6 }, () => storage.outbox.claim({ ...all, limit: 10 })),
            { concurrency: "unbounded" }
          ),
          storage.commit({ cancel: [{ endpointId: "a" }] })
        ],
        { concurrency: "unbounded" }
      )
      const claimed = new Set(answers.flatMap((answer) => answer.claimed.map(({ delivery }) => delivery.id)))
      for (const { id, state } of yield* storage.outbox.deliveriesOf("a", { limit: 1000 }))
        assert.equal(state, claimed.has(id) ? "in_flight" : "cancelled")
      yield* storage.commit({ moves: answers.flatMap(({ claimed: some }) => some.map((each) => outcome(each))) })
    })
  ),
  storageCase(
    "a claim with invalid limits is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const wrong = [
        { limit: 0 },
        { limit: 1001 },
        { limit: 1.5 },
        { perEndpoint: 0 },
        { perEndpoint: 1001 },
        { leaseMs: 0 },
        { leaseMs: 0.5 },
        { leaseMs: 3_600_001 }
      ]
      for (const request of wrong)
        yield* dies(storage.outbox.claim({ ...all, ...request }), `a claim with ${JSON.stringify(request)}`)
    })
  )
]
