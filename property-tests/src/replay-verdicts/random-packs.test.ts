/**
 * Packs of random histories: all of an honest one replays, and whatever is left out of it, nothing in it is called
 * wrong.
 */
import { Evaluations } from "@flyball/core"
import { memoryStorage, type StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { openPack, sealPack } from "@flyball/testkit"
import { Effect } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Act, begin, evaluators, type Lived, live } from "../evaluations/governed-history.ts"
import { exported, inBoundedWorld } from "./bounded-world.ts"
import { replayedForProgram } from "./replayed.ts"
import { runs } from "../runs.ts"

const seed = 20_261_122
/**
 * Histories for each store, each a test of its own: a governor is opened, three packs are verified, and how long all of
 * them take together depends on who else is at work.
 */
const histories = { memory: runs(3, 8), SQLite: runs(1, 4) }
const stores: ReadonlyArray<readonly [keyof typeof histories, () => StorageChoice]> = [
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })]
]

const act: fc.Arbitrary<Act> = fc.record({ what: fc.nat(1_000), a: fc.nat(63), b: fc.nat(63), c: fc.nat(63) })
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 8, size: "max" }), {
  minLength: 10,
  maxLength: 25,
  size: "max"
})

const lives = (history: ReadonlyArray<ReadonlyArray<Act>>, choice: StorageChoice, cut: number) => {
  const lived: Lived = { agents: [], evaluationIds: [], verdicts: new Map() }
  return inBoundedWorld(
    Effect.gen(function* () {
      yield* begin(2, lived)
      yield* live(history, [yield* Evaluations, ...(yield* evaluators(1))], lived)
      const full = yield* exported({ kind: "full" })
      const size = openPack(full.pack).records.length
      return {
        full,
        range: yield* exported({ kind: "range", from: cut % size, to: size - 1 }),
        made: new Set(lived.evaluationIds).size
      }
    }),
    choice
  )
}

describe.each(stores)("on %s", (name, open) => {
  let withheld = 0
  let asRecorded = 0
  let provedInPart = 0

  it.each(
    fc
      .sample(fc.tuple(groups, fc.nat(), fc.nat({ max: 40 })), { numRuns: histories[name], seed })
      .map((one, place) => [place, one] as const)
  )(
    "history %i: every evaluation replays, and withheld parts cause no finding",
    { timeout: 120_000 },
    async (_, [history, hide, cut]) => {
      const { full, made, range } = await lives(history, open(), cut)
      const whole = await replayedForProgram(full.pack, full.vkey)
      expect([
        ...whole.replay!.mismatches,
        ...whole.replay!.withheld,
        ...whole.replay!.four_eyes.mismatches,
        ...whole.replay!.four_eyes.withheld
      ]).toEqual([])
      expect(whole.replay).toMatchObject({
        evaluations: made,
        verdicts: made === 0 ? {} : { ok: made },
        late: { count: 0 },
        unreadable_records: 0
      })
      expect(whole.status).toBe(0)

      const pack = openPack(full.pack)
      let part = 0
      const shut = pack.records.map((record) => ({
        ...record,
        parts: record.parts.map((one) => ({ ...one, disclosed: (part++ * 7 + hide) % 5 === 0 ? null : one.disclosed }))
      }))
      const resealed = await sealPack(nodeCrypto, { ...pack, records: shut }, new Uint8Array(32).fill(9))
      for (const some of [
        await replayedForProgram(resealed.pack, resealed.vkey),
        await replayedForProgram(range.pack, range.vkey)
      ]) {
        expect([...some.replay!.mismatches, ...some.replay!.four_eyes.mismatches]).toEqual([])
        withheld += some.replay!.verdicts.withheld ?? 0
        asRecorded += some.replay!.verdicts.as_recorded ?? 0
        provedInPart += some.replay!.verdicts.ok ?? 0
      }
    }
  )

  it("the histories withheld and proved enough evaluations", () => {
    expect(withheld).toBeGreaterThan(runs(0, 50))
    expect(asRecorded).toBeGreaterThan(runs(-1, 5))
    expect(provedInPart).toBeGreaterThan(runs(0, 20))
  })
})
