/** Pages that are images: which are recognised, which way they stand, and the grey that the engine gets. */
import { assert, describe, it } from "@effect/vitest"
import { greyOf, orientationOf, type Painted, scansOf } from "./scan.ts"

const page = { width: 600, height: 400 }
const painted = (name: string, box: Painted["box"]): Painted => ({ name, box, matrix: [1, 0, 0, 1, 0, 0] })

describe("images of a page that are recognised", () => {
  it("cover a quarter of it together, the largest first", () => {
    const strips = [painted("top", [0, 0, 600, 40]), painted("rest", [0, 40, 600, 400])]
    assert.deepStrictEqual(
      scansOf(strips, page).map(({ name }) => name),
      ["rest", "top"]
    )
    assert.deepStrictEqual(scansOf([painted("logo", [0, 0, 200, 100])], page), [])
  })
  it("are turned as they stand on the page, whose axis points down", () => {
    const matrices: ReadonlyArray<readonly [number, number, number, number]> = [
      [1, 0, 0, -1],
      [-1, 0, 0, -1],
      [-1, 0, 0, 1],
      [1, 0, 0, 1],
      [0, 1, -1, 0],
      [0, 1, 1, 0],
      [0, -1, 1, 0],
      [0, -1, -1, 0]
    ]
    assert.deepStrictEqual(
      matrices.map(([a, b, c, d]) => orientationOf([a, b, c, d, 0, 0])),
      [1, 2, 3, 4, 5, 6, 7, 8]
    )
  })
})

describe("grey of an image", () => {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")
  it("is made of bits, colours and colours with alpha", () => {
    const bits = { width: 9, height: 1, data: Uint8Array.of(0b10000000, 0b10000000) }
    assert.strictEqual(text(greyOf({ ...bits, kind: 1 })), `P5\n9 1\n255\n\xff${"\0".repeat(7)}\xff`)
    assert.strictEqual(text(greyOf(bits)), text(greyOf({ ...bits, kind: 1 })))
    const colours = { width: 2, height: 1, kind: 2, data: Uint8Array.of(255, 255, 255, 0, 0, 0) }
    assert.strictEqual(text(greyOf(colours)), "P5\n2 1\n255\n\xff\0")
    const alpha = { width: 2, height: 1, kind: 3, data: Uint8Array.of(255, 255, 255, 9, 0, 0, 0, 9) }
    assert.strictEqual(text(greyOf(alpha)), "P5\n2 1\n255\n\xff\0")
  })
  it("is the mean of squares where a side is too long", () => {
    const data = new Uint8Array(4_002 * 2 * 3).fill(255, 0, 4_002 * 3)
    const grey = text(greyOf({ width: 4_002, height: 2, kind: 2, data }))
    assert.strictEqual(grey, `P5\n2001 1\n255\n${"\x80".repeat(2_001)}`)
  })
})
