import {
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  Replay,
  type ReplayReport
} from "@flyball/core"
import { layerOf, memoryStorage, Storage, type StorageChoice } from "@flyball/core/storage"
import { recordKinds } from "@flyball/evidence"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { seededEntropy } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { scrubOf } from "../../../packages/core/src/outward/erasure/scrub.ts"
import { governedCollections } from "../../../packages/rules/src/replay/fold.ts"
import { outside, outsideLayer } from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"
import type { Act } from "../evaluations/governed-history.ts"
import { eraseOneOfEach, live, wavering } from "./live-history.ts"
import { type Lived, nothingLived } from "./lived.ts"
import { tamper } from "./tamper.ts"
import { isLong, runs } from "../runs.ts"

/**
 * The same histories every time: a difference that was found once is found again. It is not made smaller: that would
 * open a governor for each try.
 */
const seed = 20_261_121
/** Histories for each store. A whole governor is opened for every one, so they are few and long. */
const histories = { memory: runs(8, 40), SQLite: runs(3, 15), Postgres: runs(2, 8) }

const act: fc.Arbitrary<Act> = fc.record({ what: fc.nat(1_000), a: fc.nat(63), b: fc.nat(63), c: fc.nat(63) })
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 5, size: "max" }), {
  minLength: 15,
  maxLength: 40,
  size: "max"
})

const database = givenDatabase({ afterAll, beforeAll })

/** A new governor over a new store, for as long as `inside` runs. */
const within = <A>(choice: StorageChoice, inside: Effect.Effect<A, unknown, GovernorServices | Storage>): Promise<A> =>
  inside.pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/replay" }).pipe(
        Layer.provideMerge(layerOf(choice)),
        Layer.provide(keysLayerOf(ephemeralKeys())),
        Layer.provide(wavering),
        Layer.provide(outsideLayer(outside())),
        Layer.provide(seededEntropy(seed))
      )
    ),
    Effect.provide([TestClock.layer(), Logger.layer([]), seededEntropy(`ids ${seed}`)]),
    Effect.runPromise
  )

/** Kinds that change no document that replay folds, and take a download or a key to bring about. */
const notLived = ["evidence.exported", "key.rotated"]

/**
 * The parts that a document holds: each must have been erased from under one. Nothing writes a webhook's address again
 * yet.
 */
const placesInDocuments = recordKinds
  .flatMap(({ kind, parts }) =>
    parts.filter(({ name }) => scrubOf(kind, name) !== null).map(({ name }) => `${kind}/${name}`)
  )
  .filter((place) => place !== "webhook.changed/endpoint")

const check = Replay.use((replay) => replay.check)

/** Agents' counts as the history kept them. */
const expectCounts = (report: ReplayReport, lived: Lived): void => {
  for (const id of lived.agentIds) expect(report.agents.get(id)?.witnessed ?? 0, id).toBe(lived.witnessed.get(id) ?? 0)
  expect([...report.agents.values()].reduce((sum, { settled }) => sum + settled, 0)).toBe(lived.settled.size)
}

const property = (open: () => StorageChoice, numRuns: number) => {
  const total = {
    erased: new Set<string>(),
    erasures: 0,
    givenUp: 0,
    kinds: new Set<string>(),
    refusals: new Set<string>(),
    tampered: new Set<string>()
  }
  return fc
    .assert(
      fc.asyncProperty(groups, fc.nat(), async (history, choice) => {
        const lived = nothingLived()
        await within(
          open(),
          Effect.gen(function* () {
            yield* live(history, lived)
            const report = yield* check
            expect(report.differences).toEqual([])
            expectCounts(report, lived)
            for (const place of yield* eraseOneOfEach(choice)) total.erased.add(place)
            expect((yield* check).differences).toEqual([])
            const targets = yield* tamper(governedCollections, choice)
            const found = (yield* check).differences.filter(({ path }) => !path.startsWith("/unique/"))
            expect(found.map(({ collection, id, path }) => ({ collection, id, path }))).toEqual(targets)
            for (const { collection } of targets) total.tampered.add(collection)
            const storage = yield* Storage
            for (const { kind } of recordKinds)
              if ((yield* storage.records({ kinds: [kind], from: 0, limit: 1 })).length > 0) total.kinds.add(kind)
          })
        )
        total.givenUp += lived.givenUp.size
        total.erasures += lived.erased
        for (const tag of lived.refusals.keys()) total.refusals.add(tag)
      }),
      { numRuns, seed, endOnFailure: true }
    )
    .then(() => total)
}

describe("after a random history, documents equal the fold of records, and an unrecorded change is found", () => {
  const stores: ReadonlyArray<readonly [keyof typeof histories, () => StorageChoice]> = [
    ["memory", () => memoryStorage()],
    ["SQLite", () => sqliteStorage({ file: ":memory:" })],
    ["Postgres", () => postgresStorage({ url: database.url, schema: `replay_${++schemas}` })]
  ]
  let schemas = 0

  for (const [name, open] of stores) {
    it(`on ${name}`, async () => {
      const total = await property(open, histories[name])
      expect(total.erasures).toBeGreaterThan(histories[name])
      // The full round must meet what it is about; a few histories need not.
      if (!isLong) return
      expect([...total.refusals]).toEqual(
        expect.arrayContaining([
          "ClientRefReused",
          "DecisionAlreadySettled",
          "InvalidTransition",
          "PartErased",
          "PartNotFound",
          "TierGateUnmet"
        ])
      )
      // A new collection in replay's fold, or a new kind of record, needs an act here that causes it.
      expect([...total.tampered].sort()).toEqual([...governedCollections].sort())
      // Some are rare, so they are expected where there are most histories.
      if (name === "memory")
        expect(
          recordKinds.map(({ kind }) => kind).filter((kind) => !total.kinds.has(kind) && !notLived.includes(kind))
        ).toEqual([])
      expect(placesInDocuments.filter((place) => !total.erased.has(place))).toEqual([])
      expect(total.givenUp).toBeGreaterThan(0)
    }, 120_000)
  }
})
