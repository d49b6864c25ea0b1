/** Parts as the catalogue lists them, and others. */
import { describe, expect, it } from "vitest"
import { recordKinds } from "./catalogue.ts"
import { checkParts, isKeptPart } from "./check-parts.ts"

const allNames = [...new Set(recordKinds.flatMap(({ parts }) => parts.map(({ name }) => name)))]

describe("parts of a record", () => {
  it.each(recordKinds.map((row) => [row.kind, row] as const))(
    "%s: has those of its row, up to their size, and no others",
    (kind, { parts }) => {
      expect(checkParts(kind, [])).toBeNull()
      expect(
        checkParts(
          kind,
          parts.map(({ name }) => ({ name, bytes: null }))
        )
      ).toBeNull()
      for (const { maxBytes, name } of parts) {
        expect(checkParts(kind, [{ name, bytes: maxBytes }])).toBeNull()
        expect(checkParts(kind, [{ name, bytes: maxBytes + 1 }])).toBe(
          `The part ${name} of ${kind} has more than ${maxBytes} bytes.`
        )
      }
      const others = [...allNames, "note", "__proto__"].filter((name) => !parts.some((part) => part.name === name))
      for (const name of others)
        expect(checkParts(kind, [{ name, bytes: null }])).toBe(
          `A record of ${kind} has a part that the catalogue does not name.`
        )
    }
  )

  it("of a kind without a row are not known", () =>
    expect(checkParts("chain.trimmed", [])).toContain("not in the catalogue"))

  it("are erased, but for those that a verdict rests on, in each kind that has them", () => {
    expect(allNames.filter(isKeptPart)).toEqual([
      "previous",
      "authority",
      "expected",
      "instances",
      "missed",
      "mcp_digests",
      "mcp_changes"
    ])
    for (const name of allNames.filter(isKeptPart))
      expect(recordKinds.filter(({ parts }) => parts.some((part) => part.name === name && part.kept !== true))).toEqual(
        []
      )
  })
})
