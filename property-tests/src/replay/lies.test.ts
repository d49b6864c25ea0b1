/**
 * Every lie that the catalogue allows about a record of every kind: replay finds it, or `docs/what-replay-judges.md`
 * says that nobody would notice. What was not altered replays without a finding.
 */
import { ephemeralKeys, governorLayer, keysLayerOf } from "@flyball/core"
import { layerOf, memoryStorage, Storage } from "@flyball/core/storage"
import { portableCrypto } from "@flyball/evidence"
import { seededEntropy } from "@flyball/testkit"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { readRecords } from "../../../packages/core/src/outward/replay/read-records.ts"
import { outside, outsideLayer } from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"
import type { Act } from "../evaluations/governed-history.ts"
import { isLong, runs } from "../runs.ts"
import { findings, isFound, liesAbout, type Timed } from "./lies.ts"
import { live } from "./live-history.ts"
import { nothingLived } from "./lived.ts"

const seed = 20_261_128
const origin = "flyball.example/lies"
const page = readFileSync(new URL("../../../docs/what-replay-judges.md", import.meta.url), "utf8")

const act: fc.Arbitrary<Act> = fc.record({ what: fc.nat(1_000), a: fc.nat(63), b: fc.nat(63), c: fc.nat(63) })
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 3, size: "max" }), {
  minLength: 30,
  maxLength: 60,
  size: "max"
})

/** The records of a life in which nothing is erased: what is not shown is open, and hides lies. */
const historyOf = (acts: ReadonlyArray<ReadonlyArray<Act>>): Promise<ReadonlyArray<Timed>> =>
  Effect.gen(function* () {
    yield* live(acts, nothingLived(), false)
    const storage = yield* Storage
    const to = (yield* storage.head)!.seq
    const times: Array<number> = []
    while (times.length <= to)
      for (const { atMs } of yield* storage.records({ from: times.length, limit: 1_000 })) times.push(atMs)
    const found: Array<Timed> = []
    const range = { from: 0, to }
    const take = (record: Timed["record"]): void => void found.push({ record, atMs: times[record.seq]! })
    yield* readRecords(storage, portableCrypto, range, take, () => {}, "every part")
    return found
  }).pipe(
    Effect.provide(
      governorLayer({ origin }).pipe(
        Layer.provideMerge(layerOf(memoryStorage())),
        Layer.provide(keysLayerOf(ephemeralKeys())),
        Layer.provide(outsideLayer(outside())),
        Layer.provide(seededEntropy(seed))
      )
    ),
    Effect.provide([TestClock.layer(), Logger.layer([]), seededEntropy(`ids ${seed}`)]),
    Effect.runPromise
  )

/** The lies that the page names, as `<kind>: <lie>`. */
const named = new Set(
  [...page.matchAll(/^\| `([a-z_.]+)` \| ([^|]+) \| ([^|]+) \|$/gm)].flatMap(([, kind, ...cells]) =>
    cells.flatMap((cell) =>
      cell.trim() === "-"
        ? []
        : cell
            .trim()
            .split(", ")
            .map((one) => `${kind}: ${one.replaceAll("`", "")}`)
    )
  )
)

it("finds every lie but those that the page names, and nothing in what is true", { timeout: 600_000 }, async () => {
  const accepted = new Set<string>()
  const tried = new Map<string, number>()
  for (const acts of fc.sample(groups, { seed, numRuns: runs(6, 40) })) {
    const history = await historyOf(acts)
    assert.deepStrictEqual(findings(history, origin), [])
    for (const kind of new Set(history.map(({ record }) => record.kind))) {
      const before = tried.get(kind) ?? 0
      if (before === runs(1, 3)) continue
      tried.set(kind, before + 1)
      const at = history.findIndex(({ record }) => record.kind === kind)
      for (const { records, what } of liesAbout(history, at))
        if (!isFound(records, origin)) accepted.add(`${kind}: ${what}`)
    }
  }
  assert.deepStrictEqual([...accepted.difference(named)].sort(), [])
  // Kinds that this history has not are tried beside their modules.
  const ofTried = new Set([...named].filter((lie) => tried.has(lie.split(":")[0]!)))
  if (isLong) assert.deepStrictEqual([...ofTried.difference(accepted)].sort(), [])
})

it("calls nothing a lie because a part is not shown", { timeout: 600_000 }, async () => {
  const hidden = { state: "withheld" } as const
  for (const acts of fc.sample(groups, { seed, numRuns: runs(2, 20) })) {
    const history = await historyOf(acts)
    for (const name of new Set(history.flatMap(({ record }) => [...record.parts.keys()])))
      for (const isHidden of [(one: string) => one === name, (one: string) => one !== name]) {
        const shown = history.map(({ atMs, record }) => {
          const parts = new Map([...record.parts].map(([one, part]) => [one, isHidden(one) ? hidden : part] as const))
          return { atMs, record: { ...record, parts } }
        })
        const accused = findings(shown, origin).filter(({ verdict }) => verdict !== "withheld")
        assert.deepStrictEqual(accused, [], `${name} is ${isHidden(name) ? "hidden" : "all that is shown"}`)
      }
  }
})
