/** A bad input must not cost more than a good one of its size. */
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { AgentCreate } from "../agents.ts"
import { decode } from "./decode.ts"
import { decodeWitness } from "../decisions.ts"
import { detailItem, INPUT_CUT } from "./detail.ts"
import { integer, list, optional } from "./fields.ts"
import { PackRequest } from "../packs.ts"
import { inputBounds } from "./input-bounds.ts"

const reported = (decoded: ReturnType<typeof decodeWitness> | ReturnType<ReturnType<typeof decode>>) =>
  Result.isFailure(decoded) ? decoded.failure.map(({ loc, type }) => `${loc.join(".")}: ${type}`) : []

describe("a list that is too long", () => {
  it("has that one problem, whatever is in it", () => {
    for (const item of [1, {}, { client_ref: "r", action: "a" }]) {
      assert.deepStrictEqual(reported(decodeWitness({ decisions: Array.from({ length: 1_001 }, () => item) })), [
        "body.decisions: too_long"
      ])
    }
    assert.deepStrictEqual(
      reported(
        decodeWitness({
          decisions: Array.from({ length: 1_000 }, (_, index) => ({ client_ref: `r${index}`, action: "a" }))
        })
      ),
      []
    )
  })

  it("is reported with the other problems of its input", () => {
    const long = Array.from({ length: 65 }, () => 7)
    assert.deepStrictEqual(reported(decode(AgentCreate)({ name: "", model_ids: long }, "body")), [
      "body.model_ids: too_long",
      "body.name: string_too_short"
    ])
    assert.deepStrictEqual(reported(decode(PackRequest)({ kind: "other", kinds: long, disclose: long }, "body")), [
      "body.kinds: too_long",
      "body.disclose: too_long",
      "body.kind: enum"
    ])
  })

  it("is found inside lists and optional members, and shown by its beginning", () => {
    const shape = Schema.Struct({ rows: list(Schema.Struct({ cells: optional(list(integer(), 1, 2)) }), 0, 9) })
    const decoded = decode(shape)({ rows: [{ cells: [1] }, { cells: [1, 2, 3] }, { cells: [] }] }, "body")
    assert.deepStrictEqual(reported(decoded), ["body.rows.1.cells: too_long", "body.rows.2.cells: too_short"])
    assert.deepInclude(Result.isFailure(decoded) ? decoded.failure[0]! : {}, {
      input: [1, 2, 3],
      ctx: { max_length: 2 }
    })
  })
})

describe("members that a shape does not have", () => {
  it("are copied only as far as they are reported; known members always are", () => {
    const input = JSON.parse(`{"__proto__":1,"a":1,"b":2,"name":"n","c":3}`)
    const { value } = inputBounds(AgentCreate).trim(input, 2)
    assert.deepStrictEqual(Object.keys(value as object), ["__proto__", "a", "name"])
    assert.strictEqual(inputBounds(integer()).trim(7, 1).value, 7)
  })

  it("are reported up to a hundred times per object", () => {
    const extra = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`z${index}`, 1]))
    assert.strictEqual(reported(decode(AgentCreate)({ name: "n", ...extra }, "body")).length, 100)
    const refs = reported(
      decodeWitness({ decisions: ["a", "b"].map((client_ref) => ({ client_ref, action: "a", ...extra })) })
    )
    assert.deepStrictEqual(
      [refs.length, refs[99], refs[100]],
      [200, "body.decisions.0.z99: extra_forbidden", "body.decisions.1.z0: extra_forbidden"]
    )
  })
})

describe("the shown input", () => {
  it("is the same however much follows it", () => {
    const shown = (input: unknown) => detailItem(["body"], "value_error", "", input).input
    const words = Array.from({ length: 100_000 }, (_, index) => `w${index}`)
    assert.strictEqual(shown(words), JSON.stringify(words).slice(0, INPUT_CUT))
    assert.strictEqual(shown({ a: "x".repeat(1_000_000), key: "s" }), `{"a":"${"x".repeat(INPUT_CUT - 6)}`)
    assert.strictEqual(
      shown(Object.fromEntries(words.map((word) => [word, 1]))),
      JSON.stringify(Object.fromEntries(words.map((word) => [word, 1]))).slice(0, INPUT_CUT)
    )
    assert.deepStrictEqual(shown([1, { b: "c" }]), [1, { b: "c" }])
  })

  it("is not read beyond what is shown", () => {
    let seen = 0
    const cell = (): object => Object.defineProperty({}, "a", { enumerable: true, get: () => ++seen })
    const cube = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => Array.from({ length: 10 }, cell)))
    assert.isTrue(String(detailItem(["body"], "value_error", "", cube).input).startsWith('[[[{"a":1},{"a":2}'))
    assert.isAtMost(seen, INPUT_CUT)
  })
})
