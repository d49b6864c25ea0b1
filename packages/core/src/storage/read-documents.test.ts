import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { countingTurns } from "../testing/counting-turns.ts"
import { tasksPerTurn } from "../foundation/task-queue.ts"
import { type DocumentText, LIST_UNITS, listDocuments, readDocuments, unitsOf } from "./read-documents.ts"

const long = JSON.stringify({ text: "x".repeat(60_000) })
const rows = (count: number, body = long): ReadonlyArray<DocumentText> =>
  Array.from({ length: count }, (_, n) => ({
    collection: "agents",
    id: `agt_${String(n).padStart(4, "0")}`,
    version: 1,
    body
  }))

/** A store of these rows, which notes the requested limits. */
const store = (all: ReadonlyArray<DocumentText>) => {
  const requested: Array<number | null> = []
  const ask = (after: string, limit: number | null) =>
    Effect.sync(() => {
      requested.push(limit)
      const found: Array<DocumentText> = []
      for (const row of all)
        if (row.id > after && found.length < (limit ?? Infinity) && unitsOf(found) < LIST_UNITS) found.push(row)
      return { rows: found, isCut: unitsOf(found) >= LIST_UNITS }
    })
  return { requested, ask }
}

describe("documents of a store", () => {
  it("are read a few in each turn where they are long, and at once where they are short", () =>
    countingTurns(async (turn) => {
      // How many go into one turn is a matter of time, up to a number.
      assert.strictEqual((await Effect.runPromise(readDocuments(rows(4 * tasksPerTurn)))).length, 4 * tasksPerTurn)
      assert.isAtLeast(turn(), 3)
      const before = turn()
      assert.strictEqual(Effect.runSync(readDocuments(rows(500, "{}"))).length, 500)
      assert.strictEqual(turn(), before)
    }))

  it.effect("are read in pieces that are not too long, until there are as many as requested or no more", () =>
    Effect.gen(function* () {
      const perPiece = Math.ceil(LIST_UNITS / long.length)
      for (const [limit, expected] of [
        [undefined, 50],
        [50, 50],
        [perPiece, perPiece],
        [perPiece + 1, perPiece + 1],
        [3, 3],
        [500, 50]
      ] as const) {
        const { ask, requested } = store(rows(50))
        const found = yield* listDocuments(limit === undefined ? undefined : { limit }, ask)
        assert.deepStrictEqual(
          found.map(({ id }) => id),
          rows(50)
            .slice(0, expected)
            .map(({ id }) => id)
        )
        assert.strictEqual(requested.length, Math.max(1, Math.ceil(expected / perPiece)), `limit ${limit}`)
      }
      const { ask } = store(rows(50))
      assert.strictEqual((yield* listDocuments({ after: "agt_0030" }, ask))[0]!.id, "agt_0031")
    })
  )

  it.effect("cannot be changed by who reads them", () =>
    Effect.gen(function* () {
      const found = yield* readDocuments(rows(1, '{"labels":{"a":[1]}}'))
      const [document] = found
      assert.throws(() => Object.assign(document!, { version: 2 }), TypeError)
      for (const all of [found, yield* readDocuments(rows(3))])
        assert.throws(() => (all as Array<unknown>).pop(), TypeError)
      assert.throws(() => Object.assign(document!.body, { more: 1 }), TypeError)
      assert.throws(() => (document!.body["labels"] as { a: Array<number> }).a.push(2), TypeError)
    })
  )
})
