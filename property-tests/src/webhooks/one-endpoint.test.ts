/**
 * Many deliveries owed to one receiver that fails, under virtual time, with the real engine: each attempt begins when
 * it is due or, where all places are taken, when those that were due before it have begun.
 */
import { deliveryEngine } from "../../../packages/core/src/outward/webhooks/delivery-engine.ts"
import {
  happened,
  outside,
  untilIdle,
  unreachable,
  webhookWorld
} from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"
import { Webhooks } from "../../../packages/core/src/outward/webhooks/service.ts"
import { Storage } from "@flyball/core/storage"
import { systemHost } from "@flyball/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const SEED = 20_261_122
const GIVEN_UP = 7
/** The specification's, written out again: not taken from what is tested. Unit: seconds. */
const delaysS = [0, 60, 300, 1_800, 7_200, 28_800, 86_400]

interface Life {
  /** When each event happens. Unit: seconds. */
  readonly eventsS: ReadonlyArray<number>
  readonly places: number
  /** Durations of the attempts, in turn. Unit: seconds. */
  readonly tookS: ReadonlyArray<number>
}

interface Begun {
  readonly sequence: number
  readonly attempt: number
  readonly atS: number
}

const tookBy = ({ tookS }: Life, sequence: number, attempt: number): number =>
  tookS[(sequence * GIVEN_UP + attempt) % tookS.length]!

/**
 * Computes the schedule of the decision: the attempts until one delivery has failed for the seventh time, when that is,
 * and all instants at which anything begins, ends or happens.
 */
const expected = (life: Life) => {
  let waiting = life.eventsS.map((dueS, n) => ({ dueS, sequence: n + 1, attempt: 1 }))
  let flying: Array<{ readonly endS: number; readonly sequence: number; readonly attempt: number }> = []
  const begun: Array<Begun> = []
  const instantsS: Array<number> = []
  for (let nowS = 0; ;) {
    instantsS.push(nowS)
    for (const { attempt, endS, sequence } of flying.filter(({ endS }) => endS <= nowS)) {
      if (attempt === GIVEN_UP) return { begun: begun.filter(({ atS }) => atS < nowS), failedS: nowS, instantsS }
      waiting.push({ dueS: endS + delaysS[attempt]!, sequence, attempt: attempt + 1 })
    }
    flying = flying.filter(({ endS }) => endS > nowS)
    waiting.sort((a, b) => a.dueS - b.dueS || a.sequence - b.sequence)
    const taken = waiting.filter(({ dueS }) => dueS <= nowS).slice(0, life.places - flying.length)
    waiting = waiting.filter((one) => !taken.includes(one))
    for (const { attempt, sequence } of taken) {
      begun.push({ sequence, attempt, atS: nowS })
      flying.push({ sequence, attempt, endS: nowS + tookBy(life, sequence, attempt) })
    }
    nowS = Math.min(...flying.map(({ endS }) => endS), ...waiting.map(({ dueS }) => dueS).filter((dueS) => dueS > nowS))
  }
}

const live = (life: Life, instantsS: ReadonlyArray<number>) => {
  const there = outside()
  const begun: Array<Begun> = []
  let most = 0
  let flying = 0
  there.answer = ({ atMs, headers }) => {
    const [sequence, attempt] = [Number(headers["webhook-sequence"]), Number(headers["X-Platform-Attempt"])]
    begun.push({ sequence, attempt, atS: atMs / 1_000 })
    most = Math.max(most, ++flying)
    return Effect.delay(
      Effect.sync(() => {
        flying--
        return unreachable
      }),
      tookBy(life, sequence, attempt) * 1_000
    )
  }
  return Effect.gen(function* () {
    const { id } = yield* Webhooks.use((webhooks) =>
      webhooks.create({ url: "https://hooks.example/in", events: ["agent.registered"] }, systemHost)
    )
    for (const atS of instantsS) {
      yield* TestClock.setTime(atS * 1_000)
      for (const eventS of life.eventsS) if (eventS === atS) yield* happened()
      yield* untilIdle
    }
    const webhook = yield* Webhooks.use((webhooks) => webhooks.get(id))
    const deliveries = yield* Storage.use((storage) => storage.outbox.deliveriesOf(id, { limit: 1_000 }))
    return { begun, most, status: webhook.status, isOwed: deliveries.some(({ state }) => state === "pending") }
  }).pipe(
    Effect.provide(deliveryEngine({ perEndpoint: life.places, pollMs: 30 * 86_400_000, drainMs: 0 })),
    Effect.provide(webhookWorld(there)),
    Effect.provide(TestClock.layer())
  )
}

const lives: fc.Arbitrary<Life> = fc.record({
  eventsS: fc
    .array(fc.integer({ min: 0, max: 120 }), { minLength: 1, maxLength: 12 })
    .map((all) => [0, ...all].toSorted((a, b) => a - b)),
  places: fc.integer({ min: 1, max: 4 }),
  tookS: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 9 })
})

describe("deliveries to one receiver that fails", () => {
  it("begin in the order in which they are due, as soon as the endpoint has capacity", async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const { begun, failedS, instantsS } = expected(life)
        const seen = await Effect.runPromise(live(life, instantsS))
        const inOrder = (all: ReadonlyArray<Begun>) => all.toSorted((a, b) => a.atS - b.atS || a.sequence - b.sequence)
        assert.deepStrictEqual(inOrder(seen.begun.filter(({ atS }) => atS < failedS)), inOrder(begun))
        assert.isAtMost(seen.most, life.places)
        assert.deepStrictEqual([seen.status, seen.isOwed], ["failed", false])
      }),
      { numRuns: 20, seed: SEED }
    )
  })
})
