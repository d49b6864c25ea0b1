import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultOf } from "./postgres-fault.ts"
import { jsonArray, openSessions, query, textArray } from "./sessions.ts"
import { ask, givenDatabase } from "./testing/given-database.ts"

const database = givenDatabase()

const texts = [
  "",
  "a",
  "NULL",
  "null",
  "a,b",
  " a ",
  "{}",
  "{a}",
  '"',
  '""',
  '"a"',
  "\\",
  "\\\\",
  '\\"',
  "a\nb",
  "\t\r\u0001\u007f",
  "é€😀",
  "\u2028",
  "'",
  "$1",
  "\\n",
  "\\u0041"
]

/** The array as the server reads it. */
const read = (param: unknown) =>
  Effect.map(
    ask(database.url, "SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS a(t, n) ORDER BY n", [param]),
    (rows) => rows.map(({ t }) => t)
  )

describe("a session that the server refuses", () => {
  it.effect("says that the address is wrong, and not that the store is corrupt", () =>
    Effect.gen(function* () {
      const refused = openSessions({ url: `${database.url}?options=endpoint%3Dep-x` }).pipe(
        Effect.flatMap(({ readers }) => query(readers, "SELECT 1")),
        Effect.scoped,
        Effect.mapError((error) => faultOf(error)),
        Effect.flip
      )
      const fault = yield* refused
      assert.strictEqual(fault._tag, "StorageUnavailable")
      assert.include(fault.message, "42601: it cannot read the start-up parameters")
    })
  )
})

describe("an array of texts as one text", () => {
  it.effect("is read back unchanged, with any characters", () =>
    Effect.gen(function* () {
      for (const one of [...texts.map((text) => [text]), texts, texts.filter((text) => !/[\\"\n\t]/.test(text))]) {
        assert.deepStrictEqual(yield* read(textArray(one)), one)
        const json = one.map((text) => JSON.stringify(text))
        assert.deepStrictEqual(yield* read(jsonArray(json)), json)
      }
      assert.deepStrictEqual(yield* read(jsonArray([JSON.stringify("\ud800"), JSON.stringify({ a: ['"\\', null] })])), [
        '"\\ud800"',
        '{"a":["\\"\\\\",null]}'
      ])
    })
  )

  it("is used only when no character needs an escape", () => {
    assert.strictEqual(textArray(["dlv_1", "", "a,b"]), '{"dlv_1","","a,b"}')
    assert.deepStrictEqual(textArray(["a", "b\n"]), ["a", "b\n"])
  })
})
