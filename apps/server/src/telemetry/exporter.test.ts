import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { BATCH_SPANS, DELAY_MS, LAST_MS, makeExporter, QUEUE_SPANS, SEND_MS } from "./exporter.ts"
import { SpansRefused } from "./send.ts"
import type { EndedSpan } from "./span.ts"

const span = (index: number): EndedSpan => ({
  traceId: "1".padStart(32, "0"),
  spanId: String(index + 1).padStart(16, "0"),
  parentId: null,
  remote: false,
  name: "n",
  kind: "server",
  startNanos: 1n,
  endNanos: 2n,
  attributes: {},
  failed: false
})
const refused = (again: boolean) => new SpansRefused({ reason: "the collector answered 503", again })

/** An exporter whose collector does what `fate` says with each batch. */
const world = (fate: (batch: number) => Effect.Effect<void, SpansRefused>) =>
  Effect.gen(function* () {
    const sent: Array<number> = []
    const warned: Array<string> = []
    const scope = yield* Scope.make()
    const layer = Logger.layer([Logger.make(({ message }) => void warned.push(String(message)))])
    const exporter = yield* makeExporter((spans) => Effect.suspend(() => fate(sent.push(spans.length) - 1))).pipe(
      Scope.provide(scope),
      Effect.provide(layer)
    )
    let made = 0
    return {
      sent,
      warned,
      counts: exporter.counts,
      push: (count: number) =>
        Effect.sync(() => {
          for (let index = 0; index < count; index++) exporter.push(span(made++))
        }),
      close: Scope.close(scope, Exit.void)
    }
  })

describe("the exporter of spans", () => {
  it.effect("sends what waits every five seconds, and nothing when nothing does", () =>
    Effect.gen(function* () {
      const { counts, push, sent } = yield* world(() => Effect.void)
      yield* TestClock.adjust(DELAY_MS)
      assert.deepStrictEqual(sent, [])
      yield* push(3)
      yield* TestClock.adjust(DELAY_MS - 1)
      assert.deepStrictEqual([sent, counts()], [[], { exported: 0, dropped: 0, waiting: 3 }])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([sent, counts()], [[3], { exported: 3, dropped: 0, waiting: 0 }])
    })
  )

  it.effect("sends a full batch at once, and the rest behind it", () =>
    Effect.gen(function* () {
      const { counts, push, sent } = yield* world(() => Effect.void)
      yield* push(BATCH_SPANS + 1)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([sent, counts().exported], [[BATCH_SPANS, 1], BATCH_SPANS + 1])
    })
  )

  it.effect("keeps so many and no more while a collector does not answer, and counts the others", () =>
    Effect.gen(function* () {
      const { counts, push, sent } = yield* world(() => Effect.never)
      for (let round = 0; round < 5; round++) {
        yield* push(QUEUE_SPANS)
        yield* TestClock.adjust(DELAY_MS)
        assert.isAtMost(counts().waiting, QUEUE_SPANS)
      }
      const { dropped, exported, waiting } = counts()
      assert.deepStrictEqual([exported, dropped + waiting], [0, 5 * QUEUE_SPANS])
      // One at a time is under way, whatever waits.
      assert.isAtMost(sent.length, 1 + Math.floor((5 * DELAY_MS) / SEND_MS))
    })
  )

  it.effect(
    "sends again what a collector may take later, after one, two and four seconds, and says once that it gave up",
    () =>
      Effect.gen(function* () {
        const { counts, push, sent, warned } = yield* world(() => Effect.fail(refused(true)))
        yield* push(2)
        yield* TestClock.adjust(DELAY_MS)
        for (const [afterMs, times] of [
          [999, 1],
          [1, 2],
          [1_999, 2],
          [1, 3],
          [3_999, 3]
        ] as const) {
          yield* TestClock.adjust(afterMs)
          assert.lengthOf(sent, times)
        }
        assert.deepStrictEqual(counts(), { exported: 0, dropped: 0, waiting: 2 })
        yield* TestClock.adjust(1)
        assert.deepStrictEqual([sent, counts()], [[2, 2, 2, 2], { exported: 0, dropped: 2, waiting: 0 }])
        assert.deepStrictEqual(warned, [
          "Spans were dropped: the collector answered 503. Requests are not affected; /metrics counts dropped spans."
        ])
        yield* push(1)
        yield* TestClock.adjust(DELAY_MS + 7_000)
        assert.deepStrictEqual([counts().dropped, warned.length], [3, 1])
        yield* TestClock.adjust(60_000)
        yield* push(1)
        yield* TestClock.adjust(DELAY_MS + 7_000)
        assert.deepStrictEqual([counts().dropped, warned.length], [4, 2])
      })
  )

  it.effect("drops at once what a collector will never take, and continues with the next", () =>
    Effect.gen(function* () {
      const { counts, push, sent } = yield* world((batch) => (batch === 0 ? Effect.fail(refused(false)) : Effect.void))
      yield* push(BATCH_SPANS + 2)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([sent, counts()], [[BATCH_SPANS, 2], { exported: 2, dropped: BATCH_SPANS, waiting: 0 }])
    })
  )

  it.effect("gives a collector ten seconds", () =>
    Effect.gen(function* () {
      const { counts, push, sent } = yield* world((batch) => (batch === 0 ? Effect.never : Effect.void))
      yield* push(1)
      yield* TestClock.adjust(DELAY_MS + SEND_MS - 1)
      assert.deepStrictEqual(sent, [1])
      yield* TestClock.adjust(1_001)
      assert.deepStrictEqual([sent, counts().exported], [[1, 1], 1])
    })
  )

  it.effect("sends what is left at the end, what was on its way included", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const { close, counts, push, sent } = yield* world((batch) =>
        batch === 0 ? Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) : Effect.void
      )
      yield* push(BATCH_SPANS + 3)
      yield* Deferred.await(begun)
      yield* close
      assert.deepStrictEqual(
        [sent, counts()],
        [[BATCH_SPANS, BATCH_SPANS, 3], { exported: BATCH_SPANS + 3, dropped: 0, waiting: 0 }]
      )
    })
  )

  it.effect("waits for a collector at the end for three seconds, and says what it lost", () =>
    Effect.gen(function* () {
      const { close, counts, push, warned } = yield* world(() => Effect.never)
      yield* push(4)
      const closing = yield* Effect.forkChild(Effect.uninterruptible(close))
      yield* TestClock.adjust(LAST_MS - 1)
      assert.strictEqual(counts().waiting, 4)
      yield* TestClock.adjust(1)
      assert.isDefined(closing.pollUnsafe())
      assert.deepStrictEqual(
        [counts(), warned],
        [
          { exported: 0, dropped: 4, waiting: 0 },
          ["4 spans were dropped: the collector did not take them before the end."]
        ]
      )
    })
  )
})
