/**
 * Walks over lists while others write: each row that stays comes exactly once and in order, on every store (property
 * P16). Rows share their milliseconds, and ids are of both cases.
 */
import {
  type ListEntry,
  listKeys,
  type ListPage,
  type ListRequest,
  Lists,
  memoryStorage,
  Storage,
  type StorageChoice
} from "@flyball/core"
import { type Document, layerOf } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runs } from "../runs.ts"

const seed = 20_261_201
const database = givenDatabase({ afterAll, beforeAll })
const COLLECTION = "rows"

const letters = fc.constantFrom(..."aAbBzZ09_-")
const row = fc.record({
  id: fc.string({ unit: letters, minLength: 1, maxLength: 3 }),
  createdAtMs: fc.nat(4),
  word: fc.constantFrom("new", "old")
})
type Row = typeof row extends fc.Arbitrary<infer A> ? A : never
const bound = fc.option(fc.nat(5), { nil: undefined })
const walk = fc.record({
  before: fc.uniqueArray(row, { minLength: 8, maxLength: 24, size: "max", selector: ({ id }) => id }),
  /** Rows that come while it walks, and how many of the first ones go, one of each a page. */
  during: fc.uniqueArray(row, { maxLength: 12, selector: ({ id }) => id }),
  going: fc.nat(6),
  limit: fc.integer({ min: 1, max: 5 }),
  sort: fc.constantFrom("created_at", "-created_at"),
  word: fc.constantFrom(undefined, "new"),
  after: bound,
  until: bound,
  flip: fc.nat(9_999)
})
type Walk = typeof walk extends fc.Arbitrary<infer A> ? A : never

const ownerOf = (run: number): string => run.toString(16).padStart(16, "0")
const entry = (owner: string, { createdAtMs, id, word }: Row): ListEntry => ({
  owner,
  id,
  createdAtMs,
  filters: { word }
})
const put = (owner: string, one: Row) =>
  Storage.use((storage) =>
    storage.commit({
      puts: [
        {
          collection: COLLECTION,
          id: `${owner} ${one.id}`,
          expectedVersion: 0,
          body: one,
          keys: listKeys(entry(owner, one))
        }
      ]
    })
  )
const remove = (owner: string, { id }: Row) =>
  Storage.use((storage) => storage.commit({ deletes: [{ collection: COLLECTION, id: `${owner} ${id}`, version: 1 }] }))

const walked = (owner: string, { after, before, during, flip, going, limit, sort, until, word }: Walk) =>
  Effect.gen(function* () {
    const lists = yield* Lists
    const others = during.filter(({ id }) => !before.some((one) => one.id === id))
    for (const one of before) yield* put(owner, one)
    // A row of another owner is in no page of this one.
    yield* put(`${owner}f`.slice(1), { id: "a", createdAtMs: 1, word: "new" })
    const gone = before.slice(0, going)
    const query = {
      limit,
      sort,
      ...(word === undefined ? {} : { word }),
      ...(after === undefined ? {} : { created_after: formatInstant(after) }),
      ...(until === undefined ? {} : { created_before: formatInstant(until) })
    }
    const ask = (cursor: string | null, of: ListRequest["query"] = query) =>
      lists.documents(
        { route: "rows.list", owner, query: cursor === null ? of : { ...of, cursor } },
        COLLECTION,
        ({ body }) => entry(owner, body as unknown as Row),
        "word"
      )
    const seen: Array<Row> = []
    const cursors: Array<string> = []
    for (let cursor: string | null = null, page = 0; ; page++) {
      const { has_more, next_cursor, rows }: ListPage<Document> = yield* ask(cursor)
      seen.push(...rows.map(({ body }) => body as unknown as Row))
      assert.strictEqual(has_more, next_cursor !== null)
      if (next_cursor === null) break
      assert.strictEqual(rows.length, limit)
      cursors.push(next_cursor)
      cursor = next_cursor
      if (page < others.length) yield* put(owner, others[page]!)
      if (page < gone.length) yield* remove(owner, gone[page]!)
    }
    const fits = ({ createdAtMs, word: of }: Row) =>
      (word === undefined || of === word) &&
      createdAtMs > (after ?? -1) &&
      createdAtMs < (until ?? Number.POSITIVE_INFINITY)
    const place = ({ createdAtMs, id }: Row) => `${createdAtMs} ${id}`
    const places = seen.map(place)
    assert.isTrue(seen.every(fits))
    const sorted = [...new Set(places)].sort((a, b) => (a < b ? -1 : 1))
    assert.deepStrictEqual(places, sort === "created_at" ? sorted : sorted.toReversed())
    const stable = before.filter((one) => !gone.includes(one) && fits(one)).map(place)
    assert.includeMembers(places, stable)
    const cursor = cursors[0]
    if (cursor === undefined) return 0
    const at = flip % cursor.length
    const changed = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1)
    const other = sort === "created_at" ? "-created_at" : "created_at"
    for (const refused of [
      ask(changed),
      ask(cursor.slice(0, -1)),
      ask(`${cursor}A`),
      ask(cursor, { ...query, sort: other }),
      ask(cursor, { ...query, word: "old" }),
      ask(cursor, { ...query, created_before: formatInstant(99) })
    ]) {
      const { _tag } = yield* Effect.flip(refused)
      assert.strictEqual(_tag, "InvalidInput")
    }
    return cursors.length
  })

const stores: ReadonlyArray<readonly [string, () => StorageChoice, number]> = [
  ["memory", memoryStorage, runs(60, 2_000)],
  ["SQLite", () => sqliteStorage({ file: ":memory:" }), runs(15, 600)],
  ["Postgres", () => postgresStorage({ url: database.url, schema: "lists" }), runs(16, 300)]
]

describe("a walk over a list while others write", () => {
  it.each(stores)(
    "returns each row that stays once, on %s",
    async (_, choice, numRuns) => {
      const runtime = ManagedRuntime.make(Lists.layer.pipe(Layer.provideMerge(layerOf(choice()))))
      let run = 0
      let pages = 0
      try {
        await fc.assert(
          fc.asyncProperty(walk, async (one) => {
            pages += await runtime.runPromise(walked(ownerOf(++run * 16), one))
          }),
          { numRuns, seed }
        )
      } finally {
        await runtime.dispose()
      }
      assert.isAbove(pages, numRuns / 4, "walks have several pages")
    },
    60_000
  )
})
