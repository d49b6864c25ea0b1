import fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { MappedRule } from "./document.ts"
import { grantsOf, resolveClaims, strongestFirst } from "./resolve.ts"

const rule = (claim: MappedRule["claim"], value: string, role: MappedRule["role"], orgUnit: string): MappedRule => ({
  id: "r",
  claim,
  value,
  role,
  orgUnit
})
const none = { roles: [], groups: [], userIds: [] }

describe("resolving claims", () => {
  it("finds all roles, strongest first, and the org units of the strongest", () => {
    const rules = [
      rule("groups", "a", "auditor", "*"),
      rule("groups", "b", "governor", "ops"),
      rule("roles", "c", "governor", "legal"),
      rule("user_ids", "d", "admin", "x")
    ]
    assert.deepStrictEqual(
      resolveClaims({ rules, trustCanonical: false }, { roles: ["c"], groups: ["a", "b"], userIds: [] }),
      { roles: ["governor", "auditor"], orgUnits: ["legal", "ops"] }
    )
  })

  it("grants nothing to a person whom no rule matches", () => {
    assert.deepStrictEqual(
      resolveClaims(
        { rules: [rule("groups", "a", "admin", "*")], trustCanonical: true },
        { ...none, roles: ["a", "king"], userIds: ["a"] }
      ),
      { roles: [], orgUnits: [] }
    )
  })

  it("compares addresses without case, and every other value with it", () => {
    const of = (claim: MappedRule["claim"], value: string, held: string) =>
      resolveClaims(
        { rules: [rule(claim, value, "admin", "*")], trustCanonical: false },
        { ...none, userIds: [held], groups: [held] }
      ).roles.length
    assert.strictEqual(of("user_ids", "Kim@Audit.example", "kim@audit.EXAMPLE"), 1)
    assert.strictEqual(of("user_ids", "u7", "U7"), 0)
    assert.strictEqual(of("groups", "kim@a.example", "Kim@a.example"), 0)
  })

  it("accepts canonical role names only where they are trusted, for the configured org unit", () => {
    const claims = { ...none, roles: ["auditor", "operator"] }
    assert.deepStrictEqual(resolveClaims({ rules: [], trustCanonical: false }, claims), { roles: [], orgUnits: [] })
    assert.deepStrictEqual(resolveClaims({ rules: [], trustCanonical: true }, claims), {
      roles: ["operator", "auditor"],
      orgUnits: "*"
    })
    assert.deepStrictEqual(resolveClaims({ rules: [], trustCanonical: true }, claims, "ops").orgUnits, ["ops"])
    assert.deepStrictEqual(resolveClaims({ rules: [], trustCanonical: true }, { ...none, groups: ["admin"] }).roles, [])
  })

  // Two of our own names of roles among them: what is trusted and what a rule grants must not be in each other's way.
  const words = fc.constantFrom("a", "b", "c", "auditor", "governor")
  const rules = fc.array(
    fc.record({
      id: fc.constant("r"),
      claim: fc.constantFrom("roles" as const, "groups" as const, "user_ids" as const),
      value: words,
      role: fc.constantFrom(...strongestFirst),
      orgUnit: fc.constantFrom("*", "ops", "legal")
    }),
    { maxLength: 8 }
  )
  const claims = fc.record({ roles: fc.array(words), groups: fc.array(words), userIds: fc.array(words) })
  const runs = { numRuns: 500, seed: 11 }

  it("does not depend on the order of rules or claims", () =>
    fc.assert(
      fc.property(rules, claims, fc.boolean(), fc.infiniteStream(fc.nat()), (some, held, trustCanonical, order) => {
        const shuffled = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> =>
          list
            .map((one) => [order.next().value, one] as const)
            .sort(([a], [b]) => a - b)
            .map(([, one]) => one)
        assert.deepStrictEqual(
          resolveClaims(
            { rules: shuffled(some), trustCanonical },
            { roles: shuffled(held.roles), groups: shuffled(held.groups), userIds: shuffled(held.userIds) }
          ),
          resolveClaims({ rules: some, trustCanonical }, held)
        )
      }),
      runs
    ))

  it("never loses a role to an added rule or claim, nor an org unit while the strongest role is the same", () =>
    fc.assert(
      fc.property(rules, rules, claims, claims, fc.boolean(), (some, more, held, also, trustCanonical) => {
        const before = resolveClaims({ rules: some, trustCanonical }, held)
        const after = resolveClaims(
          { rules: [...some, ...more], trustCanonical },
          {
            roles: [...held.roles, ...also.roles],
            groups: [...held.groups, ...also.groups],
            userIds: [...held.userIds, ...also.userIds]
          }
        )
        for (const role of before.roles) assert.include(after.roles, role)
        if (before.roles[0] === after.roles[0] && after.orgUnits !== "*")
          for (const unit of before.orgUnits) assert.include(after.orgUnits, unit)
      }),
      runs
    ))
  it("returns the grant of each matched rule once, strongest first, independently of other rules", () => {
    const rules = [
      rule("groups", "a", "auditor", "*"),
      rule("groups", "b", "governor", "ops"),
      rule("roles", "c", "governor", "legal"),
      rule("groups", "b", "governor", "ops"),
      rule("user_ids", "d", "admin", "x")
    ]
    assert.deepStrictEqual(
      grantsOf({ rules, trustCanonical: true }, { roles: ["c", "reviewer"], groups: ["a", "b"], userIds: [] }, "post"),
      [
        { role: "governor", orgUnit: "legal" },
        { role: "governor", orgUnit: "ops" },
        { role: "reviewer", orgUnit: "post" },
        { role: "auditor", orgUnit: "*" }
      ]
    )
  })

  it("never loses a grant to an added rule or claim", () =>
    fc.assert(
      fc.property(rules, rules, claims, claims, fc.boolean(), (some, more, held, also, trustCanonical) => {
        const before = grantsOf({ rules: some, trustCanonical }, held)
        const after = grantsOf(
          { rules: [...some, ...more], trustCanonical },
          {
            roles: [...held.roles, ...also.roles],
            groups: [...held.groups, ...also.groups],
            userIds: [...held.userIds, ...also.userIds]
          }
        )
        assert.includeDeepMembers([...after], [...before])
      }),
      runs
    ))

  it("returns exactly the union of what each rule grants alone", () =>
    fc.assert(
      fc.property(rules, claims, (some, held) => {
        const alone = some.flatMap((one) => grantsOf({ rules: [one], trustCanonical: false }, held))
        assert.sameDeepMembers(
          [...grantsOf({ rules: some, trustCanonical: false }, held)],
          [...new Map(alone.map((grant) => [`${grant.role} ${grant.orgUnit}`, grant])).values()]
        )
      }),
      runs
    ))
})
