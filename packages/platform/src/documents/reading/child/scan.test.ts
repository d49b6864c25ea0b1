/** Pages that are images: which are recognised, which way they stand, and the grey that the engine gets. */
import { assert, describe, it } from "@effect/vitest"
import { writeWords } from "./image.ts"
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
    const beside = painted("beside the page", [0, -900, 600, 0])
    assert.deepStrictEqual(scansOf([painted("logo", [0, 0, 200, 100]), beside], page), [])
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

describe("words of a scan", () => {
  it("are hidden where nobody sees them", () => {
    const items: Array<readonly [string, string | null]> = []
    const at = { x: 0, width: 50, height: 10 }
    const found = {
      width: 100,
      height: 200,
      words: [
        { ...at, text: "seen", y: 0 },
        { ...at, text: "below", y: 150 }
      ]
    }
    const box = { x: 0, y: 0, width: 60_000, height: 80_000 }
    const write = (height: number) =>
      writeWords(
        found,
        { ...box, height },
        { width: 60_000, height: 40_000 },
        { item: ({ hidden, text }) => void items.push([text, hidden]), warn: () => undefined }
      )
    write(80_000)
    write(1_000)
    assert.deepStrictEqual(items, [
      ["seen", null],
      ["below", "outside"],
      ["seen", "small"],
      ["below", "small"]
    ])
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
    const alpha = { width: 2, height: 1, kind: 3, data: Uint8Array.of(0, 0, 0, 255, 0, 0, 0, 0) }
    assert.strictEqual(text(greyOf(alpha)), "P5\n2 1\n255\n\0\xff")
  })
  it("is the mean of squares where a side is too long", () => {
    const data = new Uint8Array(4_002 * 2 * 3).fill(255, 0, 4_002 * 3)
    const grey = text(greyOf({ width: 4_002, height: 2, kind: 2, data }))
    assert.strictEqual(grey, `P5\n2001 1\n255\n${"\x80".repeat(2_001)}`)
    const line = text(greyOf({ width: 4_001, height: 1, kind: 2, data }))
    assert.strictEqual(line, `P5\n2001 1\n255\n${"\xff".repeat(2_001)}`)
  })
})
