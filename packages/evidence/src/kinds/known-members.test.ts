import { describe, expect, it } from "vitest"
import type { JsonObject } from "../json/value.ts"
import { recordKinds } from "./catalogue.ts"
import { knownMembers } from "./known-members.ts"
import { bodyOf } from "./sample-bodies.ts"

/** The value with a member more in every object of it. */
const later = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(later)
  if (typeof value !== "object" || value === null) return value
  return { ...Object.fromEntries(Object.entries(value).map(([name, one]) => [name, later(one)])), zz_later: { a: 1 } }
}

describe("a body of a later version", () => {
  it.each(recordKinds.map(({ body, kind }) => [kind, bodyOf(body, true) as JsonObject] as const))(
    "%s is what this version knows of it",
    (kind, body) => {
      expect(knownMembers(kind, later(body) as JsonObject)).toEqual(body)
      expect(knownMembers(kind, { ...body, ["__proto__x"]: 1 })).toEqual(body)
    }
  )

  it("is nothing where it is wrong besides, has no such member, or is of a kind without a row", () => {
    const body = bodyOf(recordKinds.find(({ kind }) => kind === "agent.activated")!.body, true) as JsonObject
    for (const one of [body, { ...body, agent_id: 1 }, { ...body, agent_id: {}, zz_later: 1 }, { zz_later: 1 }])
      expect(knownMembers("agent.activated", one)).toBeNull()
    expect(knownMembers("sample.made", { a: 1 })).toBeNull()
  })
})
