import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type Role, roles } from "../session.ts"
import { access, type AccessRow, type Grant, refusalFor, unitsFor } from "./access.ts"

const rows: ReadonlyArray<AccessRow> = Object.values(access)
const places = ["*", "claims", "legal", "ops"]

/** True when a person with these grants may use the endpoints of a row in an org unit. */
const may = (row: AccessRow, grants: ReadonlyArray<Grant>, unit: string): boolean => {
  const units = unitsFor(row, { kind: "user", grants })
  return units === "*" || units.includes(unit)
}

const grants = fc.array(fc.record({ role: fc.constantFrom(...roles), orgUnit: fc.constantFrom(...places) }), {
  maxLength: 6
})
const act = { row: fc.constantFrom(...rows), unit: fc.constantFrom("claims", "legal", "ops", "elsewhere") }
const runs = { numRuns: 2_000, seed: 18 }

describe("grants", () => {
  it("allow an act when one of them allows it alone, and only then", () =>
    fc.assert(
      fc.property(grants, fc.record(act), (held, { row, unit }) => {
        assert.strictEqual(
          may(row, held, unit),
          held.some((grant) => may(row, [grant], unit))
        )
      }),
      runs
    ))

  it("never forbid an allowed act when a grant is added", () =>
    fc.assert(
      fc.property(grants, grants, fc.record(act), (held, more, { row, unit }) => {
        if (may(row, held, unit)) assert.isTrue(may(row, [...more, ...held], unit))
      }),
      runs
    ))

  it("admit to an endpoint only where some grant allows the act in some org unit", () =>
    fc.assert(
      fc.property(grants, fc.constantFrom(...rows), (held, row) => {
        assert.strictEqual(
          refusalFor(row, { kind: "user", grants: held }) === null,
          [...places, "elsewhere"].some((unit) => may(row, held, unit))
        )
      }),
      runs
    ))

  it("of one role in one unit allow what the row says, there and nowhere else", () => {
    for (const row of rows) {
      for (const role of roles) {
        const allows = row.roles.includes(role)
        assert.strictEqual(may(row, [{ role, orgUnit: "*" }], "ops"), allows, `${row.name}, ${role} of *`)
        assert.strictEqual(
          may(row, [{ role, orgUnit: "ops" }], "ops"),
          allows && !row.everyUnit,
          `${row.name}, ${role} of ops`
        )
        assert.isFalse(may(row, [{ role, orgUnit: "ops" }], "legal"))
      }
    }
  })
})

describe("a refusal", () => {
  const sentence = (row: AccessRow, ...held: ReadonlyArray<readonly [Role, string]>): string | undefined =>
    refusalFor(row, { kind: "user", grants: held.map(([role, orgUnit]) => ({ role, orgUnit })) })?.message

  it("names the missing role, weakest first, and the roles that the person has", () => {
    assert.strictEqual(
      sentence(access.administer, ["auditor", "ops"]),
      "This action needs the role admin; you have auditor."
    )
    assert.strictEqual(
      sentence(access.operate, ["auditor", "ops"], ["reviewer", "legal"], ["auditor", "*"]),
      "This action needs the role operator, governor or admin; you have reviewer and auditor."
    )
  })

  it("names the org unit * where the role is there and the unit is not", () => {
    assert.strictEqual(
      sentence(access.administerAll, ["auditor", "*"], ["admin", "ops"]),
      "This action needs the role admin in org unit *; you have admin in ops and auditor in *."
    )
  })

  it("names eight grants of a person who has hundreds", () => {
    const many = Array.from({ length: 300 }, (_, n) => ["admin", `u${n}`] as const)
    assert.match(
      sentence(access.erase, ...many)!,
      /^This action needs the role admin in org unit \*; you have admin in u0, .*, admin in u7 and 292 more\.$/
    )
  })
})
