/**
 * Checks that recorded evaluations are what their records alone give, and that no cap is ever passed: on every store,
 * with evaluators that do not know of each other.
 */
import { ephemeralKeys, Evaluations, governorLayer, type GovernorServices, keysLayerOf, Replay } from "@flyball/core"
import { layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { seededEntropy } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type Act,
  ask,
  begin,
  CAP,
  evaluatedAgain,
  evaluators,
  type Lived,
  live,
  liveWithErasures
} from "./governed-history.ts"
import { isLong, runs } from "../runs.ts"

/**
 * The same histories every time: a difference that was found once is found again. It is not made smaller: that would
 * open a governor for each try.
 */
const seed = 20_261_122
/** Histories for each store. A whole governor is opened for every one, so they are few and long. */
const histories = { memory: runs(5, 20), SQLite: runs(2, 5), Postgres: runs(1, 3) }

const act: fc.Arbitrary<Act> = fc.record({ what: fc.nat(1_000), a: fc.nat(63), b: fc.nat(63), c: fc.nat(63) })
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 8, size: "max" }), {
  minLength: 10,
  maxLength: 30,
  size: "max"
})

const database = givenDatabase({ afterAll, beforeAll })
let schemas = 0

const stores: ReadonlyArray<readonly [keyof typeof histories, () => StorageChoice]> = [
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: `evaluations_${++schemas}` })]
]

/** A new governor over a new store, for as long as `inside` runs. */
const within = <A>(choice: StorageChoice, inside: Effect.Effect<A, unknown, GovernorServices | Storage>): Promise<A> =>
  inside.pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/evaluations" }).pipe(
        Layer.provideMerge(layerOf(choice)),
        Layer.provide(keysLayerOf(ephemeralKeys())),
        Layer.provide(seededEntropy(seed))
      )
    ),
    Effect.provide([TestClock.layer(), seededEntropy(`ids ${seed}`)]),
    Effect.runPromise
  )

const nothingLived = (): Lived => ({ agents: [], evaluationIds: [], verdicts: new Map() })

describe.each(stores)("on %s", (name, open) => {
  it(
    "after a random history every evaluation can be recomputed from the records, and documents equal their fold",
    { timeout: 300_000 },
    async () => {
      const seen = new Set<string>()
      await fc.assert(
        fc.asyncProperty(groups, async (history) => {
          const lived = nothingLived()
          await within(
            open(),
            Effect.gen(function* () {
              yield* begin(2, lived)
              yield* live(history, [yield* Evaluations, ...(yield* evaluators(1))], lived)
              const again = yield* evaluatedAgain
              expect(again.filter(({ verdict }) => verdict !== "ok")).toEqual([])
              expect(again.length).toBe(new Set(lived.evaluationIds).size)
              expect((yield* Replay.use((replay) => replay.check)).differences).toEqual([])
            })
          )
          for (const rule of lived.verdicts.keys()) seen.add(rule)
        }),
        { numRuns: histories[name], seed, endOnFailure: true }
      )
      // Histories in which nothing happened would prove nothing.
      if (isLong && name === "memory")
        expect([...seen]).toEqual(
          expect.arrayContaining([
            "@invalid_signal",
            "@missing_signal",
            "@no_envelope",
            "@suspended",
            "@tier_floor",
            "cap",
            "unusual",
            "find"
          ])
        )
    }
  )

  it("erased inputs make evaluations withheld, never ok or wrong", { timeout: 300_000 }, async () => {
    const erased = new Map<string, number>()
    let proved = 0
    await fc.assert(
      fc.asyncProperty(
        groups,
        fc.array(fc.nat(), { minLength: 3, maxLength: 12, size: "max" }),
        async (history, picks) => {
          const lived = nothingLived()
          await within(
            open(),
            Effect.gen(function* () {
              yield* begin(2, lived)
              const gone = yield* liveWithErasures(
                history,
                picks,
                [yield* Evaluations, ...(yield* evaluators(1))],
                lived
              )
              const again = yield* evaluatedAgain
              expect(again.length).toBe(new Set(lived.evaluationIds).size)
              expect(again.filter(({ verdict }) => verdict !== "ok" && verdict !== "withheld")).toEqual([])
              const hidden = new Set(gone.map(({ seq }) => seq))
              const bare = again.filter(({ seq }) => hidden.has(seq))
              expect(bare.filter(({ verdict }) => verdict === "ok")).toEqual([])
              // Without any erasure all are ok: what is withheld is so because of what was erased.
              if (gone.length === 0) expect(again.every(({ verdict }) => verdict === "ok")).toBe(true)
              expect((yield* Replay.use((replay) => replay.check)).differences).toEqual([])
              for (const { name } of gone) erased.set(name, (erased.get(name) ?? 0) + 1)
              proved += again.filter(({ verdict }) => verdict === "ok").length
            })
          )
        }
      ),
      { numRuns: histories[name], seed, endOnFailure: true }
    )
    if (!isLong || name !== "memory") return
    expect([...erased.keys()].sort()).toEqual(["advice", "envelope", "profile", "signals", "waiver"])
    expect(proved).toBeGreaterThan(50)
  })

  it("two evaluators never allow more than the cap under concurrent requests", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 10, maxLength: 40, size: "max" }),
        async (amounts) => {
          const lived = nothingLived()
          await within(
            open(),
            Effect.gen(function* () {
              yield* begin(1, lived)
              const askers = [yield* Evaluations, ...(yield* evaluators(1))]
              const { agentId } = lived.agents[0]!
              const made = yield* Effect.forEach(
                amounts,
                (amount, place) =>
                  ask(askers[place % 2]!, lived, {
                    agent_id: agentId,
                    client_ref: `c${place}`,
                    run_id: "r",
                    signals: { tool: "pay", amount }
                  }),
                { concurrency: "unbounded" }
              )
              const through = made
                .filter(({ outcome }) => outcome === "allow" || outcome === "allow_with_notice")
                .sort((a, b) => a.seq - b.seq)
              expect(through.reduce((sum, { signals }) => sum + Number(signals!["amount"]), 0)).toBeLessThanOrEqual(CAP)
              // Each saw exactly what had been let through before it, and only what would have passed the cap was
              // denied.
              for (const one of made) {
                const before = through
                  .filter(({ seq }) => seq < one.seq)
                  .reduce((sum, { signals }) => sum + Number(signals!["amount"]), 0)
                const spent = one.meters.find(({ id }) => id === "spent")!
                expect(spent.value).toBe(before)
                expect(one.matched_rule === "cap").toBe(before + Number(one.signals!["amount"]) > CAP)
              }
            })
          )
        }
      ),
      { numRuns: name === "memory" ? runs(3, 10) : runs(1, 3), seed, endOnFailure: true }
    )
  })
})
