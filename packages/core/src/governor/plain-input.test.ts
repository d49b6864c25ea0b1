import { assert, describe, it } from "vitest"
import { withoutUndefined } from "./plain-input.ts"

describe("input of a JavaScript host", () => {
  it("leaves out undefined members at every depth", () => {
    assert.deepStrictEqual(withoutUndefined({ a: undefined, b: { c: undefined, d: [{ e: undefined }] } }), { b: { d: [{}] } })
  })

  it("hands back the very same value when there is nothing to leave out", () => {
    const value = { a: 1, b: { c: [null, "x"] } }
    assert.strictEqual(withoutUndefined(value), value)
  })

  it("keeps what JSON cannot say, so that it is refused and not changed", () => {
    const date = new Date(0)
    assert.deepStrictEqual(withoutUndefined({ at: date, x: Number.NaN, gone: undefined }), { at: date, x: Number.NaN })
    assert.deepStrictEqual(withoutUndefined([undefined]), [undefined])
  })

  it("keeps a member called __proto__ a member", () => {
    const out = withoutUndefined({ a: undefined, ["__proto__"]: 1 }) as object
    assert.deepStrictEqual(Object.keys(out), ["__proto__"])
  })
})
