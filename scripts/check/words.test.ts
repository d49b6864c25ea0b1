import { assert, describe, it } from "vitest"
import { type AvoidedForm, avoidedForms, checkWords } from "./words.ts"

const form = (atMost: number): AvoidedForm => ({
  name: "told",
  pattern: /told(?![a-z])/gi,
  instead: "reported",
  atMost,
  scope: "TypeScript and Markdown"
})
const files = [
  { path: "packages/core/src/a.ts", text: "// It is told once,\n// and told again." },
  { path: "docs/a.md", text: "Told." }
]

describe("avoided words", () => {
  it("pass at their ceiling", () => {
    assert.deepEqual(checkWords(files, [form(3)]), [])
  })
  it("fail above it, with both counts and every location", () => {
    assert.deepEqual(checkWords(files, [form(2)]), [
      "told: expected at most 2, found 3; write reported",
      "  packages/core/src/a.ts:1",
      "  packages/core/src/a.ts:2",
      "  docs/a.md:1"
    ])
  })
  it("do not count in change logs and fixtures", () => {
    const fixed = ["packages/core/CHANGELOG.md", "fixtures/README.md"].map((path) => ({ path, text: "told" }))
    assert.deepEqual(checkWords(fixed, [form(0)]), [])
  })
  it("count as whole words and at the start of identifiers", () => {
    const countIn = (name: string, text: string): number => {
      const found = avoidedForms.filter((candidate) => candidate.name === name)
      return (
        checkWords(
          [{ path: "a.ts", text }],
          found.map((candidate) => ({ ...candidate, atMost: 0 }))
        ).length - 1
      )
    }
    assert.equal(countIn("told", "untold toldAgain Told TOLD stoldier"), 4)
    assert.equal(countIn("odd", "odd oddly isOdd oddId"), 3)
    assert.equal(countIn("look", "looks looked look up lookup"), 2)
  })
})

describe("long lines", () => {
  it("count only in TypeScript, except a line that is one regular expression", () => {
    const text = "x".repeat(121)
    const long = avoidedForms.filter(({ scope }) => scope === "TypeScript").map((found) => ({ ...found, atMost: 0 }))
    assert.equal(checkWords([{ path: "a.md", text }], long).length, 0)
    assert.equal(checkWords([{ path: "a.ts", text }], long).length, 2)
    assert.equal(checkWords([{ path: "a.ts", text: text.slice(1) }], long).length, 0)
    assert.equal(checkWords([{ path: "a.ts", text: `  /^${text}$/u,` }], long).length, 0)
    assert.equal(checkWords([{ path: "a.ts", text: `/** ${text} */` }], long).length, 2)
  })
})
