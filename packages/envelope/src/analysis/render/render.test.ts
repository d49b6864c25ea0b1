import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { diff } from "../diff/diff.ts"
import { compiled, payments } from "../testing/given-envelope.ts"
import { unitsOf } from "./names.ts"
import { envelopeSentences } from "./sentence.ts"
import { decisionTable, tableAsMarkdown, tableAsText } from "./table.ts"
import { renderValue } from "./value.ts"

const golden = (name: string): string =>
  readFileSync(new URL(`../../../../../fixtures/envelopes/rendered/${name}`, import.meta.url), "utf8")

describe("rendering", () => {
  it("gives the golden files: sentences, table and diff", () => {
    assert.equal(envelopeSentences(payments()), golden("payments.sentences.txt"))
    assert.equal(tableAsMarkdown(decisionTable(payments())), golden("payments.table.md"))
    assert.equal(tableAsText(decisionTable(payments())), golden("payments.table.txt"))
    const next = payments((json) => {
      json.params["hard_cap"] = 20_000_000
      json.rules.splice(7, 1)
    })
    assert.equal(
      `${diff(compiled(payments()).compiled, compiled(next).compiled, { units: unitsOf(next) }).sentence}\n`,
      golden("payments.diff.txt")
    )
  })

  it("writes values with their units, exactly", () => {
    const cases: ReadonlyArray<readonly [number, string | null, string]> = [
      [2000, "EUR/100", "20.00 EUR"],
      [5, "EUR/100", "0.05 EUR"],
      [-5, "EUR/100", "-0.05 EUR"],
      [100_000_000, "EUR/100", "1,000,000.00 EUR"],
      [9_007_199_254_740_990, "JPY/1000", "9,007,199,254,740.990 JPY"],
      [5000, "bp", "50.00 %"],
      [1, "bp", "0.01 %"],
      [0, "ms", "0 ms"],
      [1500, "ms", "1 second 500 ms"],
      [86_400_000, "ms", "24 hours"],
      [172_800_000, "ms", "2 days"],
      [3_661_000, "ms", "1 hour 1 minute 1 second"],
      [12_345, "tokens", "12,345 tokens"],
      [12_345, null, "12,345"]
    ]
    for (const [value, unit, text] of cases) assert.equal(renderValue(value, unit), text)
    assert.deepEqual([renderValue("pay", "bp"), renderValue(true, null)], ["pay", "true"])
  })

  it("keeps a table together whatever stands in its cells", () => {
    assert.equal(tableAsMarkdown({ columns: ["a|b"], rows: [["x\ny"]] }), "| a\\|b |\n|---|\n| x y |\n")
  })
})
