import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { kindForm, partNameForm } from "../record/record.ts"
import { allRecordKinds, kindRow, recordKinds } from "./catalogue.ts"
import { checkBody } from "./check-body.ts"
import { bodyOf, samples } from "./sample-bodies.ts"
import { kindsTable } from "./table.ts"

describe("the catalogue", () => {
  it("names kinds and parts as records can, each once and in order", () => {
    const sortedOnce = (names: ReadonlyArray<string>) => expect(names).toEqual([...new Set(names)].toSorted())
    for (const { body, kind, parts } of recordKinds) {
      expect(kind).toMatch(kindForm)
      sortedOnce(body.map(({ name }) => name))
      sortedOnce(parts.map(({ name }) => name))
      for (const { name } of parts) expect(name).toMatch(partNameForm)
      expect(allRecordKinds).toContain(kind)
      expect(kindRow(kind)?.kind).toBe(kind)
    }
    expect(new Set(allRecordKinds).size).toBe(allRecordKinds.length)
    for (const kind of allRecordKinds) expect(kind).toMatch(kindForm)
    expect(kindRow("no.such")).toBeNull()
  })

  it("is the one that SPEC.md prints", () => {
    const spec = readFileSync(new URL("../../SPEC.md", import.meta.url), "utf8")
    const printed = /<!-- catalogue -->\n\n([\s\S]*?)\n\n<!-- end of catalogue -->/.exec(spec)?.[1]
    expect(printed).toBe(kindsTable())
    expect(spec.replaceAll("\n", " ")).toContain(allRecordKinds.join(" "))
  })

  it.each(recordKinds.map((row) => [row.kind, row] as const))(
    "%s: takes bodies within its bounds and nothing else",
    (kind, row) => {
      for (const optional of [false, true]) expect(checkBody(kind, bodyOf(row.body, optional))).toBeNull()
      const body = bodyOf(row.body, true)
      for (const { name, required, type } of row.body) {
        for (const good of samples(type).good)
          expect([name, good, checkBody(kind, { ...body, [name]: good })]).toEqual([name, good, null])
        for (const bad of [...samples(type).bad, undefined, null])
          expect([name, bad, checkBody(kind, { ...body, [name]: bad })]).not.toEqual([name, bad, null])
        const { [name]: _, ...rest } = body
        expect(checkBody(kind, rest) === null).toBe(!required)
      }
      for (const bad of [{ ...body, note: "free text" }, null, [], "x", 1]) expect(checkBody(kind, bad)).toContain(kind)
      expect(checkBody(kind, JSON.parse(`{"__proto__":${JSON.stringify(body)}}`))).not.toBeNull()
    }
  )

  it("never repeats a value in what it says", () => {
    expect(checkBody("ingest_key.revoked", { key_id: "secret value", writer: "system:host" })).toBe(
      "The body of ingest_key.revoked has a key_id out of its bounds."
    )
    expect(checkBody("kind.unknown", {})).toContain("not in the catalogue")
  })
})
