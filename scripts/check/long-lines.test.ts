import { assert, describe, it } from "vitest"
import { longLines, longPageLines } from "./long-lines.ts"

const long = "x".repeat(121)
const file = (...lines: ReadonlyArray<string>) => [{ path: "packages/core/src/a.ts", text: lines.join("\n") }]

describe("long lines", () => {
  it("are reported, be they comments or code", () => {
    assert.deepEqual(longLines(file("x".repeat(120), `  // ${long}`, `/** ${long} */`, "", long)), [
      "packages/core/src/a.ts:2 is over 120 columns",
      "packages/core/src/a.ts:3 is over 120 columns",
      "packages/core/src/a.ts:5 is over 120 columns"
    ])
  })

  it("of pages are reported, except tables, code, targets of links and change logs", () => {
    const text = [long, "```sh", long, "```", `| ${long} |`, `[a](${long})`, `[${long}](a)`, `> ${long}`].join("\n")
    assert.deepEqual(
      longPageLines([
        { path: "docs/a.md", text },
        { path: "packages/a/CHANGELOG.md", text }
      ]),
      ["docs/a.md:1 is over 120 columns", "docs/a.md:7 is over 120 columns", "docs/a.md:8 is over 120 columns"]
    )
  })
})
