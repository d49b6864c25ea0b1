/**
 * The details of a validation error, word for word where they are contract: `type`, `loc`, `input`, `ctx`. Spec:
 * document 1 section 2, Validation error.
 */
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { AgentCreate } from "../agents.ts"
import { decode } from "./decode.ts"
import { type DetailItem, detailItem, detailTypes, INPUT_CUT } from "./detail.ts"
import { MAX_DETAILS } from "./details.ts"
import { integer, list } from "./fields.ts"

const problems = (
  schema: Schema.Top & { readonly DecodingServices: never },
  value: unknown
): ReadonlyArray<DetailItem> => {
  const decoded = decode(schema)(value, "body")
  return Result.isFailure(decoded) ? decoded.failure : []
}
const reported = (items: ReadonlyArray<DetailItem>) =>
  items.map(({ ctx, input, loc, type }) => ({ loc, type, input, ctx }))

describe("a list of problems", () => {
  it("is complete, with each location once, as in the golden file", () => {
    assert.deepStrictEqual(
      reported(
        problems(AgentCreate, {
          name: "",
          org_unit: 7,
          description: "\0",
          owner_email: "nobody",
          autonomy_tier: "L9",
          model_ids: ["a  b", 3],
          labels: [],
          recert_due_at: "soon",
          extra: { a: 1 },
          password: "hunter2"
        })
      ),
      [
        { loc: ["body", "extra"], type: "extra_forbidden", input: { a: 1 }, ctx: {} },
        { loc: ["body", "password"], type: "extra_forbidden", input: null, ctx: {} },
        { loc: ["body", "name"], type: "string_too_short", input: "", ctx: { min_length: 1 } },
        { loc: ["body", "description"], type: "value_error", input: "\0", ctx: {} },
        { loc: ["body", "owner_email"], type: "value_error", input: "nobody", ctx: {} },
        { loc: ["body", "org_unit"], type: "string_type", input: 7, ctx: {} },
        {
          loc: ["body", "autonomy_tier"],
          type: "enum",
          input: "L9",
          ctx: { expected: "'L0', 'L1', 'L2', 'L3', 'L4'" }
        },
        { loc: ["body", "recert_due_at"], type: "datetime_parsing", input: "soon", ctx: {} },
        { loc: ["body", "model_ids", "0"], type: "value_error", input: "a  b", ctx: {} },
        { loc: ["body", "model_ids", "1"], type: "string_type", input: 3, ctx: {} },
        { loc: ["body", "labels"], type: "dict_type", input: [], ctx: {} }
      ]
    )
  })

  it("reports missing members, and values that are no object", () => {
    assert.deepStrictEqual(reported(problems(AgentCreate, {})), [
      { loc: ["body", "name"], type: "missing", input: null, ctx: {} }
    ])
    for (const value of [null, [], "x", 1, true]) {
      assert.deepStrictEqual(reported(problems(AgentCreate, value)), [
        { loc: ["body"], type: "dict_type", input: value, ctx: {} }
      ])
    }
  })

  it("has a bounded length", () => {
    const items = problems(Schema.Struct({ a: list(integer(), 0, 100_000) }), { a: Array(MAX_DETAILS + 10).fill("x") })
    assert.strictEqual(items.length, MAX_DETAILS)
  })

  it("uses only the error types of the contract", () => {
    const words: ReadonlySet<string> = new Set(detailTypes)
    for (const { msg, type } of problems(AgentCreate, { name: 1, zzz: 1 })) {
      assert.isTrue(words.has(type))
      assert.isNotEmpty(msg)
    }
  })

  it("gives the location in the input", () => {
    const decoded = decode(integer(1, 5))(9, "query", ["limit"])
    assert.deepStrictEqual(Result.isFailure(decoded) && decoded.failure[0]!.loc, ["query", "limit"])
  })
})

describe("the input that an error repeats", () => {
  const shown = (input: unknown, loc: ReadonlyArray<string> = ["body", "a"]) =>
    detailItem(loc, "value_error", "", input).input

  it("is cut at 256 characters, never inside a surrogate pair", () => {
    assert.strictEqual(shown("x".repeat(INPUT_CUT)), "x".repeat(INPUT_CUT))
    assert.strictEqual(shown("x".repeat(INPUT_CUT + 1)), "x".repeat(INPUT_CUT))
    assert.strictEqual(shown(`${"x".repeat(INPUT_CUT - 1)}😀`), "x".repeat(INPUT_CUT - 1))
    const long = shown({ a: "x".repeat(1_000) })
    assert.strictEqual((long as string).length, INPUT_CUT)
    assert.deepStrictEqual(shown({ a: 1 }), { a: 1 })
  })

  it("is null for secrets at any location", () => {
    assert.isNull(shown("hunter2", ["body", "password"]))
    assert.isNull(shown("hunter2", ["body", "Secret", "0"]))
    assert.deepStrictEqual(shown({ a: { token: "hunter2" } }), { a: { token: null } })
  })

  it("is null for values that JSON cannot express", () => {
    for (const input of [
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      Symbol("x"),
      () => 1,
      new Uint8Array(3),
      new Map()
    ])
      assert.isNull(shown(input))
  })

  it("member names are cut too", () => {
    assert.strictEqual(detailItem(["body", "x".repeat(1_000)], "extra_forbidden", "").loc[1]!.length, INPUT_CUT)
  })
})
