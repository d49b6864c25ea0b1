import { assert, describe, it } from "vitest"
import { longLines } from "./long-lines.ts"

const long = "x".repeat(121)
const file = (...lines: ReadonlyArray<string>) => [{ path: "packages/core/src/a.ts", text: lines.join("\n") }]

describe("long lines", () => {
  it("are reported when they are comments, in any position", () => {
    assert.deepEqual(longLines(file("const a = 1", `  // ${long}`, `   * ${long}`, `/** ${long} */`), 0), [
      "packages/core/src/a.ts:2 is a comment of over 120 columns",
      "packages/core/src/a.ts:3 is a comment of over 120 columns",
      "packages/core/src/a.ts:4 is a comment of over 120 columns"
    ])
  })

  it("of code are counted, and listed once they exceed the limit", () => {
    assert.deepEqual(longLines(file("x".repeat(120), long), 1), [])
    assert.deepEqual(longLines(file(long, "", long), 1), [
      "expected at most 1 lines of code over 120 columns, found 2:",
      "  packages/core/src/a.ts:1",
      "  packages/core/src/a.ts:3"
    ])
  })
})
