/** docs/what-replay-judges.md: a row for each kind of record that is written, and no code that no verifier says. */
import { readFileSync } from "node:fs"
import { recordKinds } from "@flyball/evidence"
import { recomputeVerdicts } from "@flyball/rules"
import { assert, describe, it } from "vitest"
import { actVerdicts } from "../apps/verify/src/replay/act.ts"
import { notReplayed } from "../apps/verify/src/replay/not-replayed.ts"

const page = readFileSync(new URL("../docs/what-replay-judges.md", import.meta.url), "utf8")
const ofAllKinds = page.slice(page.indexOf("\n## Of all kinds"), page.indexOf("\n## Lies"))
const rows = page
  .slice(0, page.indexOf("\n## "))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "))
const codesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([a-z]+(?:_[a-z]+)+|withheld)`/g)].map(([, code]) => code!)

describe("docs/what-replay-judges.md", () => {
  it("has a row for each kind of the catalogue, in its order, with four cells", () => {
    assert.deepStrictEqual(
      rows.map(([kind]) => kind),
      recordKinds.map(({ kind }) => `\`${kind}\``)
    )
    for (const row of rows) assert.lengthOf(row, 4, row[0])
  })

  it("names verdicts of replay alone, and each of them", () => {
    const verdicts: ReadonlySet<string> = new Set([...recomputeVerdicts, ...actVerdicts])
    const named = new Set(rows.flatMap(([, altered, leftOut]) => codesIn(`${altered} ${leftOut}`)))
    assert.deepStrictEqual(
      [...named].filter((code) => !verdicts.has(code)),
      []
    )
    for (const code of codesIn(ofAllKinds)) named.add(code)
    const unnamed = [...verdicts].filter((code) => !named.has(code) && !["ok", "as_recorded"].includes(code))
    assert.deepStrictEqual(unnamed, [])
  })

  it("says of each kind that is found by nothing what is not judged", () => {
    for (const [kind, altered, , open] of rows) if (altered === "nothing") assert.notStrictEqual(open, "-", kind)
    assert.isNotEmpty(notReplayed)
  })
})
