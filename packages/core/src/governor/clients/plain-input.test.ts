import { assert, describe, it } from "vitest"
import { takenDown, Unwalkable, withoutUndefined } from "./plain-input.ts"

describe("input of a JavaScript host", () => {
  it("leaves out undefined members at every depth", () => {
    assert.deepStrictEqual(withoutUndefined({ a: undefined, b: { c: undefined, d: [{ e: undefined }] } }), {
      b: { d: [{}] }
    })
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

  it("has an end, whatever way leads back into it", () => {
    const order: { lines: Array<unknown> } = { lines: [] }
    for (const n of [1, 2, 3]) order.lines.push({ n, order })
    for (const take of [takenDown, withoutUndefined])
      assert.throws(() => take({ args: { order } }), Unwalkable, /contains itself/)
  })

  it("may hold one object in many places, which counts in each", () => {
    const shared = { a: 1 }
    assert.deepStrictEqual(takenDown({ one: shared, two: [shared, shared] }), {
      one: { a: 1 },
      two: [{ a: 1 }, { a: 1 }]
    })
    let doubled: unknown = 1
    for (let depth = 0; depth < 40; depth++) doubled = [doubled, doubled]
    for (const take of [takenDown, withoutUndefined])
      assert.throws(() => take(doubled), Unwalkable, /more than 1600000 values/)
  })
})
