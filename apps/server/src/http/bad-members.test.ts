/**
 * Every member of every body out of its bounds: type and loc as the contract says, and nothing is half written. Spec:
 * api.md, Conventions.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { endpoints } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import { type GoodRequest, listBodies, withMembers } from "./http-requests.ts"
import type { Sending } from "./http-world.ts"
import { badMembers, missing } from "./testing/bad-members.ts"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

/** `batch`: members of another shape, which the good members would only contradict. */
const withMember = (json: GoodRequest["json"], member: string, value: unknown): Sending => {
  if (member === "decisions") return { json: { decisions: value } }
  return {
    json: withMembers(json, ({ [member]: _, ...rest }) => (value === missing ? rest : { ...rest, [member]: value }))
  }
}

describe("members out of bounds", () => {
  it("has lines for every endpoint with a body", () => {
    assert.deepStrictEqual(
      Object.keys(badMembers).sort(),
      endpoints
        .filter(({ body }) => body !== null)
        .map(({ id }) => id)
        .sort()
    )
  })

  for (const endpoint of endpoints.filter(({ body }) => body !== null)) {
    it(`${endpoint.method} ${endpoint.path}`, () =>
      given.refusedAlike(
        endpoint,
        badMembers[endpoint.id]!.map(([member, value, found, loc]) => [
          `${member}: ${String(JSON.stringify(value)).slice(0, 40)}`,
          (json) => withMember(json, member, value),
          [422, found, `body.${listBodies.has(endpoint.id) ? "0." : ""}${loc ?? member}`]
        ])
      ))
  }

  it("lists every problem at once, in a batch with its indexes", async () => {
    const { path } = await given.good(endpoints.find(({ id }) => id === "decisions.witness")!)
    const decisions = [
      { client_ref: "a", action: "b" },
      { client_ref: "a b", action: "b" },
      3,
      { action: "x", step: -1, zzz: 1 }
    ]
    const got = await given.world.send("POST", path, { token: given.world.admin, json: { decisions } })
    assert.deepStrictEqual(
      got.json.detail
        .map(({ loc, type }: { loc: ReadonlyArray<string>; type: string }) => [loc.join("."), type])
        .sort(),
      [
        ["body.decisions.1.client_ref", "string_pattern_mismatch"],
        ["body.decisions.2", "dict_type"],
        ["body.decisions.3.client_ref", "missing"],
        ["body.decisions.3.step", "greater_than_equal"],
        ["body.decisions.3.zzz", "extra_forbidden"]
      ]
    )
  })

  it("a batch and a decision at once is no batch", async () => {
    const { path } = await given.good(endpoints.find(({ id }) => id === "decisions.witness")!)
    const got = await given.world.send("POST", path, {
      token: given.world.admin,
      json: { decisions: [{ client_ref: "a", action: "b" }], client_ref: "c" }
    })
    assert.deepStrictEqual(seen(got), [422, "extra_forbidden", "body.client_ref"])
  })
})
