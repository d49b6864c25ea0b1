import { ephemeralKeys, governorLayer, type GovernorServices, keysLayerOf, Replay, type ReplayReport } from "@flyball/core"
import { type JsonObject, layerOf, memoryStorage, Storage, type StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { seededEntropy } from "@flyball/testkit"
import { type FreshDatabase, freshDatabase, type RunningPostgres, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Act, type Lived, live, nothingLived, wavering } from "./live-history.ts"

/** The same histories every time: a difference that was found once is found again. */
const seed = 20_261_121
/** Histories for each store. A whole governor is opened for every one, so they are few and long. */
const histories = { memory: 40, SQLite: 15, Postgres: 8 }

const act: fc.Arbitrary<Act> = fc.record({ what: fc.nat(1_000), a: fc.nat(63), b: fc.nat(63), c: fc.nat(63) })
const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 5, size: "max" }), { minLength: 15, maxLength: 40, size: "max" })

let server: RunningPostgres
let database: FreshDatabase
beforeAll(async () => {
  server = await startPostgres()
  database = await freshDatabase(server.url)
})
afterAll(async () => {
  await database.drop()
  await server.stop()
})

/** A new governor over a new store, for as long as `inside` runs. */
const within = <A>(choice: StorageChoice, inside: Effect.Effect<A, unknown, GovernorServices | Storage>): Promise<A> =>
  inside.pipe(
    Effect.provide(governorLayer({ origin: "flyball.example/replay" }).pipe(Layer.provideMerge(layerOf(choice)), Layer.provide(keysLayerOf(ephemeralKeys())), Layer.provide(wavering), Layer.provide(seededEntropy(seed)))),
    Effect.provide([TestClock.layer(), seededEntropy(`ids ${seed}`)]),
    Effect.runPromise
  )

const check = Replay.use((replay) => replay.check)

/** Agents' counts as the history kept them. */
const expectCounts = (report: ReplayReport, lived: Lived): void => {
  for (const id of lived.agentIds) expect(report.agents.get(id)?.witnessed ?? 0, id).toBe(lived.witnessed.get(id) ?? 0)
  expect([...report.agents.values()].reduce((sum, { settled }) => sum + settled, 0)).toBe(lived.settled.size)
}

/** Changes one member of one governed document without a record; answers what should be found. Null when there is no document. */
const tamper = (choice: number) => Effect.gen(function*() {
  const storage = yield* Storage
  const documents = (yield* Effect.forEach(["access_mapping", "agents", "ingest_keys", "models", "principals", "provenance"], (collection) => storage.list(collection))).flat()
  const document = documents[choice % Math.max(1, documents.length)]
  if (document === undefined) return null
  const names = Object.keys(document.body).sort()
  const name = names[choice % names.length]!
  const body: JsonObject = { ...document.body, [name]: { tampered: choice } }
  const uniqueOf = (member: string): string => String(document.body[member])
  const uniques: { readonly [collection: string]: { readonly [key: string]: string } } = { agents: { name: uniqueOf("name") }, ingest_keys: { digest: uniqueOf("digest") } }
  const unique = uniques[document.collection] ?? {}
  // A principal's look-up key is a digest that the test does not know: it is lost, and that is found as well.
  yield* storage.commit({ puts: [{ collection: document.collection, id: document.id, expectedVersion: document.version, body, unique }] })
  return { collection: document.collection, id: document.id, path: `/${name}` }
})

const property = (open: () => StorageChoice, numRuns: number) => {
  const total = { erased: 0, refusals: new Set<string>(), tampered: 0 }
  return fc.assert(fc.asyncProperty(groups, fc.nat(), async (history, choice) => {
    const lived = nothingLived()
    await within(open(), Effect.gen(function*() {
      yield* live(history, lived)
      const report = yield* check
      expect(report.differences).toEqual([])
      expectCounts(report, lived)
      const target = yield* tamper(choice)
      const found = (yield* check).differences.filter(({ path }) => !path.startsWith("/unique/"))
      expect(found.map(({ collection, id, path }) => ({ collection, id, path }))).toEqual(target === null ? [] : [target])
      total.tampered += target === null ? 0 : 1
    }))
    total.erased += lived.erased
    for (const tag of lived.refusals.keys()) total.refusals.add(tag)
  }), { numRuns, seed }).then(() => total)
}

describe("after a random history, documents equal the fold of the records, and a change without a record is found", () => {
  const stores: ReadonlyArray<readonly [keyof typeof histories, () => StorageChoice]> = [
    ["memory", () => memoryStorage()],
    ["SQLite", () => sqliteStorage({ file: ":memory:" })],
    ["Postgres", () => postgresStorage({ url: database.url, schema: `replay_${++schemas}` })]
  ]
  let schemas = 0

  for (const [name, open] of stores) {
    it(`on ${name}`, async () => {
      const total = await property(open, histories[name])
      // The histories must have met what they are about.
      expect([...total.refusals]).toEqual(expect.arrayContaining(["ClientRefReused", "DecisionAlreadySettled", "InvalidTransition", "PartErased", "PartNotFound", "TierGateUnmet"]))
      expect(total.erased).toBeGreaterThan(histories[name])
      expect(total.tampered).toBeGreaterThan(histories[name] / 2)
    }, 120_000)
  }
})
