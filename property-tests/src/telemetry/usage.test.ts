/**
 * Telemetry over random histories: what the service answers from segments of any length is what the plainest count of
 * the records gives, for any window; and segments that are missing are refused, never counted as nothing.
 */
import { utf8 } from "@flyball/evidence"
import { layerOf, memoryStorage, Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { expect, it } from "vitest"
import { telemetryOver } from "../../../packages/core/src/outward/telemetry/service.ts"
import { USAGE_SEGMENTS, usageSegments } from "../../../packages/core/src/outward/telemetry/usage-segments.ts"
import { runs } from "../runs.ts"
import { type Act, histories, naiveUsage, recordsOf, type Sealed } from "./history.ts"

const BEGIN_MS = 1_795_219_200_000

/** A store that holds the history, each record sealed at its own time. */
const within = <A, E>(history: ReadonlyArray<Sealed>, inside: Effect.Effect<A, E, Storage>): Promise<A> =>
  Effect.gen(function* () {
    const storage = yield* Storage
    for (const { at, body, kind, seq } of history) {
      yield* TestClock.setTime(at)
      const agentId = typeof body["agent_id"] === "string" ? body["agent_id"] : null
      yield* storage.commit({
        records: [{ kind, body, parts: [], agentId }],
        ...(seq === 0 ? { expectEmpty: true } : {})
      })
    }
    return yield* inside
  }).pipe(Effect.provide(layerOf(memoryStorage())), Effect.provide(TestClock.layer()), Effect.runPromise)

const windows = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  /** Segments that are joined. */
  fan: fc.integer({ min: 2, max: 3 }),
  from: fc.nat(100),
  to: fc.nat(100),
  /** Segments that the job had folded before. */
  rolled: fc.nat(20)
})

it("segments and joined segments give the result of a plain count, for any window", () =>
  fc.assert(
    fc.asyncProperty(histories, windows, async (acts: ReadonlyArray<Act>, { fan, from, rolled, size, to }) => {
      const history = recordsOf(acts, BEGIN_MS)
      const span = history.at(-1)!.at - BEGIN_MS
      const fromMs = BEGIN_MS + Math.floor((span * Math.min(from, to)) / 100)
      const toMs = Math.min(history.at(-1)!.at + 1, BEGIN_MS + Math.floor((span * Math.max(from, to)) / 100) + 1)
      const answer = await within(
        history,
        Effect.gen(function* () {
          const storage = yield* Storage
          const telemetry = telemetryOver(storage, usageSegments(storage, utf8("chain"), size, fan), 1_000)
          yield* telemetry.rollUp(rolled)
          yield* telemetry.rollUp(rolled)
          return yield* telemetry.usage({
            from: new Date(fromMs).toISOString(),
            to: new Date(toMs).toISOString()
          })
        })
      )
      expect(answer).toEqual(naiveUsage(history, fromMs, toMs))
    }),
    { numRuns: runs(150, 3_000), seed: 20_261_126 }
  ))

it("another process continues from the stored segments, and a read is refused while a backlog remains", async () => {
  const history = recordsOf(fc.sample(histories, { numRuns: 8, seed: 22 }).flat(), BEGIN_MS)
  const size = 4
  const complete = Math.floor(history.length / size)
  expect(complete).toBeGreaterThan(4)
  const found = await within(
    history,
    Effect.gen(function* () {
      const storage = yield* Storage
      const own = () => telemetryOver(storage, usageSegments(storage, utf8("chain"), size), 1)
      const refused = yield* Effect.flip(own().usage({ from: new Date(BEGIN_MS).toISOString() }))
      const left = yield* own().rollUp(1)
      const [one, other] = [own(), own()]
      const raced = yield* Effect.all([one.rollUp(1_000), other.rollUp(1_000)], { concurrency: "unbounded" })
      const answers = yield* Effect.forEach([one, other, own()], (telemetry) =>
        telemetry.usage({ from: new Date(BEGIN_MS).toISOString() })
      )
      return { refused, left, raced, answers }
    })
  )
  expect(found.refused).toMatchObject({ _tag: "TelemetryBehind", segments: complete - 1 })
  expect(found.left).toBe(complete - 2)
  expect(found.raced).toEqual([0, 0])
  for (const answer of found.answers) expect(answer).toEqual(naiveUsage(history, BEGIN_MS, history.at(-1)!.at + 1))
})

it("a window of many segments is read from few documents, the joined ones", async () => {
  const history = recordsOf(fc.sample(histories, { numRuns: 12, seed: 22 }).flat(), BEGIN_MS).slice(0, 300)
  const toMs = history.at(-1)!.at + 1
  const { answer, read } = await within(
    history,
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* telemetryOver(storage, usageSegments(storage, utf8("chain"), 2, 2)).rollUp(1_000)
      let read = 0
      const counting = Storage.of({
        ...storage,
        list: (collection, page) =>
          Effect.map(storage.list(collection, page), (found) => {
            if (collection === USAGE_SEGMENTS) read += found.length
            return found
          })
      })
      const answer = yield* telemetryOver(counting, usageSegments(counting, utf8("chain"), 2, 2)).usage({
        from: new Date(BEGIN_MS).toISOString()
      })
      return { answer, read }
    })
  )
  expect(answer).toEqual(naiveUsage(history, BEGIN_MS, toMs))
  // One of the highest level stands for eight segments; of each level below, one may be left at the end.
  const segments = Math.floor(history.length / 2)
  expect(segments).toBeGreaterThan(100)
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThanOrEqual(Math.floor(segments / 8) + 3)
})
