import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { kindForm, partNameForm } from "../record/record.ts"
import { allRecordKinds, kindRow, recordKinds } from "./catalogue.ts"
import { checkBody } from "./check-body.ts"
import type { MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"
import { kindsTable } from "./table.ts"

const tail = "0".repeat(26)

/** Values at the bounds of a type, and values just past them. */
const samples = (type: MemberType): { readonly good: ReadonlyArray<unknown>; readonly bad: ReadonlyArray<unknown> } => {
  switch (type.type) {
    case "id":
      return { good: [type.prefix + tail], bad: [tail, `${type.prefix}8${tail.slice(1)}`, type.prefix, `${type.prefix}${tail}0`] }
    case "enum":
      return { good: type.values, bad: ["", "other value", type.values[0]!.toUpperCase() + "x"] }
    case "integer":
      return { good: [type.min, type.max], bad: [type.min - 1, type.max + 1, 0.5, "1", null] }
    case "instant":
      return { good: ["2026-11-21T00:00:00.000Z"], bad: ["2026-11-21", "2026-02-30T00:00:00.000Z", 0] }
    case "hash":
      return { good: ["0a".repeat(32)], bad: ["0A".repeat(32), "0a".repeat(31), `sha256:${"0a".repeat(32)}`] }
    case "name":
      return { good: ["a", "tool/v1@host:8+x", "a".repeat(type.max)], bad: ["", "a b", "é", "a".repeat(type.max + 1), "a\n", "<b>"] }
    case "writer":
      return { good: [`key_${tail}`, `usr_${tail}`, "system:host"], bad: ["alice", "system:", "system:A", `agt_${tail}`] }
    case "origin":
      return { good: ["flyball.example/acme/prod"], bad: ["", "a b", "a+b", "é", "a".repeat(256)] }
    case "vkey":
      return { good: ["flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"], bad: ["flyball.example/acme/prod", "a+b", ""] }
    case "key_id":
      return { good: ["512011be"], bad: ["512011BE", "512011b", ""] }
    case "part_name":
      return { good: ["args", "a_1", `a${"b".repeat(31)}`], bad: ["", "1a", "A", `a${"b".repeat(32)}`] }
    case "list": {
      const item = samples(type.of)
      return { good: [[item.good[0]], new Array(type.max).fill(item.good[0])], bad: [...(type.min > 0 ? [[]] : []), "x", [item.bad[0]], new Array(type.max + 1).fill(item.good[0])] }
    }
    case "object":
      return { good: [bodyOf(type.members, false), bodyOf(type.members, true)], bad: [null, [], "x", { other: 1 }, { [type.members[0]!.name]: samples(type.members[0]!.type).bad[0] }] }
  }
}

const bodyOf = (members: ReadonlyArray<BodyMember>, optional: boolean): Record<string, unknown> =>
  Object.fromEntries(members.filter((member) => member.required || optional).map(({ name, type }) => [name, samples(type).good[0]]))

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
    expect(spec).toContain(allRecordKinds.join(" "))
  })

  it.each(recordKinds.map((row) => [row.kind, row] as const))("%s: takes bodies within its bounds and nothing else", (kind, row) => {
    for (const optional of [false, true]) expect(checkBody(kind, bodyOf(row.body, optional))).toBeNull()
    const body = bodyOf(row.body, true)
    for (const { name, required, type } of row.body) {
      for (const good of samples(type).good) expect([name, good, checkBody(kind, { ...body, [name]: good })]).toEqual([name, good, null])
      for (const bad of [...samples(type).bad, undefined, null]) expect([name, bad, checkBody(kind, { ...body, [name]: bad })]).not.toEqual([name, bad, null])
      const { [name]: _, ...rest } = body
      expect(checkBody(kind, rest) === null).toBe(!required)
    }
    for (const bad of [{ ...body, note: "free text" }, null, [], "x", 1]) expect(checkBody(kind, bad)).toContain(kind)
    expect(checkBody(kind, JSON.parse(`{"__proto__":${JSON.stringify(body)}}`))).not.toBeNull()
  })

  it("never repeats a value in what it says", () => {
    expect(checkBody("ingest_key.revoked", { key_id: "secret value", writer: "system:host" })).toBe("The body of ingest_key.revoked has a key_id out of its bounds.")
    expect(checkBody("kind.unknown", {})).toContain("not in the catalogue")
  })
})
