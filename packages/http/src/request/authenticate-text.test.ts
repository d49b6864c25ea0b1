/**
 * Claims and rules are the same text however the accents are written: rules are stored in NFC, and an issuer writes as
 * it likes. Spec: api.md, Conventions; decision 0016.
 */
import { AccessMapping, emptyMapping, IngestKeys, PlatformKeys, type MappingDocument, summaryOf } from "@flyball/core"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { authenticate, type PersonClaims } from "./authenticate.ts"

const unused = Effect.die("not requested")
const keys = { mint: () => unused, list: unused, revoke: () => unused, authenticate: () => unused }
const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"]

const roleOf = async (claims: Partial<PersonClaims>, mapping: MappingDocument, trustsCanonical = false) => {
  const verify = () =>
    Promise.resolve({ subject: "ann", name: null, roles: [], groups: [], userIds: [], orgUnit: null, ...claims })
  const found = await Effect.runPromise(
    authenticate("Bearer a.b", {
      verifier: { issuer: "i", trustsCanonical, verify },
      bootstrap: null,
      visitor: null
    }).pipe(
      Effect.result,
      Effect.provideService(IngestKeys, keys),
      Effect.provideService(PlatformKeys, keys as never),
      Effect.provideService(AccessMapping, { current: Effect.succeed(mapping), get: unused, set: () => unused })
    )
  )
  const { orgUnits, roles } = summaryOf(
    found._tag === "Success" && found.success.kind === "user" ? found.success.grants : []
  )
  return roles.length > 0 ? [roles[0], orgUnits] : found._tag === "Failure" ? found.failure._tag : null
}

describe("a claim that is matched", () => {
  const cases = [
    ["roles", "roles"],
    ["groups", "groups"],
    ["user_ids", "userIds"]
  ] as const
  for (const [claim, member] of cases) {
    const mapping: MappingDocument = {
      rules: [{ id: "r", claim, value: composed, role: "governor", orgUnit: composed }],
      trustCanonical: false
    }
    it(`${claim}: matches a rule in NFC whichever form the issuer sends, and another word in neither`, async () => {
      for (const value of [composed, decomposed])
        assert.deepStrictEqual(
          await roleOf({ [member]: ["x", value] }, mapping),
          ["governor", [composed]],
          JSON.stringify(value)
        )
      for (const value of ["cafe", "CAF\u00c9", "caf\u00e8", "cafe\u0300"])
        assert.strictEqual(await roleOf({ [member]: [value] }, mapping), "Forbidden", JSON.stringify(value))
      const others = cases.filter(([other]) => other !== claim).map(([, other]) => other)
      for (const other of others)
        assert.strictEqual(await roleOf({ [other]: [decomposed] }, mapping), "Forbidden", other)
    })
  }

  it("org_unit: is the unit that is stored", async () => {
    for (const orgUnit of [composed, decomposed])
      assert.deepStrictEqual(await roleOf({ roles: ["governor"], orgUnit }, emptyMapping, true), [
        "governor",
        [composed]
      ])
  })
})
