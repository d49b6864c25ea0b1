import { Unauthorized } from "@flyball/contract"
import {
  AccessMapping,
  emptyMapping,
  IngestKeys,
  PlatformKeys,
  type IngestKeysApi,
  type MappingDocument,
  summaryOf
} from "@flyball/core"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { type Access, authenticate, bearerToken, type PersonClaims, type TokenVerifier } from "./authenticate.ts"
import { IssuerUnavailable } from "./issuer-unavailable.ts"

const unused = Effect.die("not requested")

/** Which verifier was called with which token. */
const world = (
  claims: Partial<PersonClaims> | "audience",
  mapping: MappingDocument = emptyMapping,
  trustsCanonical = true
) => {
  const requested: Array<string> = []
  const keys: IngestKeysApi = {
    mint: () => unused,
    list: unused,
    revoke: () => unused,
    authenticate: (token) =>
      Effect.suspend(() => {
        requested.push(`key ${token}`)
        return Effect.fail(new Unauthorized({}))
      })
  }
  const verifier: TokenVerifier = {
    issuer: "i",
    trustsCanonical,
    verify: (token) => {
      requested.push(`jwt ${token}`)
      return Promise.resolve(
        claims === "audience"
          ? claims
          : { subject: "ann", name: null, roles: [], groups: [], userIds: ["ann"], orgUnit: "claims", ...claims }
      )
    }
  }
  const stored = { current: Effect.succeed(mapping), get: unused, set: () => unused }
  const ask = (
    header: string | undefined,
    by: TokenVerifier | null = verifier,
    bootstrap: Access["bootstrap"] = null,
    visitor: Access["visitor"] = null
  ) =>
    Effect.runPromise(
      authenticate(header, { verifier: by, bootstrap, visitor }).pipe(
        Effect.result,
        Effect.provideService(IngestKeys, keys),
        Effect.provideService(PlatformKeys, keys as never),
        Effect.provideService(AccessMapping, stored)
      )
    )
  return { requested, ask }
}

describe("tokens", () => {
  it("are distinguished by their form: ingest keys are looked up, and all others go to the verifier", async () => {
    const { ask, requested } = world("audience")
    for (const token of ["abc", "fbk_x", "a.b.c", "fbk_a.b", "."]) await ask(`Bearer ${token}`)
    assert.deepStrictEqual(requested, ["key abc", "key fbk_x", "jwt a.b.c", "jwt fbk_a.b", "jwt ."])
  })

  it("with a dot are refused where no verifier is configured", async () => {
    const { ask, requested } = world({ roles: ["admin"] })
    assert.strictEqual((await ask("Bearer a.b.c", null))._tag, "Failure")
    assert.deepStrictEqual(requested, [])
  })

  it("follow the scheme Bearer, in any case", () => {
    for (const header of ["Bearer a", "bearer a", "BEARER  a "]) assert.strictEqual(bearerToken(header), "a")
    for (const header of [
      undefined,
      "",
      "a",
      "Bearer",
      "Bearer ",
      "Basic a",
      "Bearer a b",
      "Bearer a,b",
      "Bearer \u00e4",
      `Bearer ${"a".repeat(16_384)}`
    ])
      assert.isNull(bearerToken(header))
    assert.isNotNull(bearerToken(`Bearer ${"a".repeat(10_881)}`), "Entra puts 200 groups into a token")
  })

  it("that are refused say why, for the log alone", async () => {
    const { ask } = world("audience")
    const problem = async (header: string | undefined, by?: null) => {
      const found = await ask(header, by)
      return found._tag === "Failure" && found.failure._tag === "Unauthorized"
        ? [found.failure.problem, found.failure.message.length]
        : found
    }
    const length = new Unauthorized({}).message.length
    for (const [reason, header, by] of [
      [undefined, undefined],
      ["form", "Basic a"],
      ["size", `Bearer ${"a".repeat(16_384)}`],
      ["audience", "Bearer a.b"],
      ["issuer", "Bearer a.b", null]
    ] as const)
      assert.deepStrictEqual(await problem(header, by), [reason, length], header?.slice(0, 20))
  })
})

describe("people", () => {
  it("have each of their roles, strongest first", async () => {
    const { ask } = world({ roles: ["auditor", "governor", "reviewer", "king"] })
    const caller = await ask("Bearer a.b")
    assert.deepInclude(caller, { _tag: "Success" })
    assert.deepStrictEqual(caller._tag === "Success" && caller.success, {
      kind: "user",
      issuer: "i",
      subject: "ann",
      grants: (["governor", "reviewer", "auditor"] as const).map((role) => ({ role, orgUnit: "claims" })),
      name: null,
      email: null
    })
  })

  it("belong to the stored org unit, whichever Unicode form their issuer uses", async () => {
    const { ask } = world({ roles: ["auditor"], orgUnit: "cafe\u0301" })
    const caller = await ask("Bearer a.b")
    assert.deepInclude(caller._tag === "Success" ? caller.success : {}, {
      grants: [{ role: "auditor", orgUnit: "caf\u00e9" }]
    })
  })

  it("have an e-mail address only where their issuer has verified it", async () => {
    const email = async (claims: Partial<PersonClaims>) => {
      const caller = await world({ roles: ["admin"], ...claims }).ask("Bearer a.b")
      return caller._tag === "Success" && caller.success.kind === "user" ? caller.success.email : caller
    }
    assert.deepStrictEqual(
      [await email({ email: "ann@example.org" }), await email({ email: null }), await email({})],
      ["ann@example.org", null, null]
    )
  })

  it("without a role are 403, not 401", async () => {
    const { ask } = world({ roles: ["king"] })
    const caller = await ask("Bearer a.b")
    assert.strictEqual(caller._tag === "Failure" && caller.failure._tag, "Forbidden")
  })

  it("without a role, because claims are incomplete, are refused with their names", async () => {
    const caller = await world({ incomplete: ["groups: overage"] }).ask("Bearer a.b")
    assert.deepInclude(caller._tag === "Failure" ? caller.failure : {}, { incomplete: ["groups: overage"] })
  })
})

const rule = (claim: "roles" | "groups" | "user_ids", value: string, role: "admin" | "auditor", orgUnit: string) => ({
  id: `${claim}:${value}`,
  claim,
  value,
  role,
  orgUnit
})
const strongest = (grants: Parameters<typeof summaryOf>[0]) => [summaryOf(grants).roles[0], summaryOf(grants).orgUnits]
const person = (found: Awaited<ReturnType<ReturnType<typeof world>["ask"]>>) =>
  found._tag === "Success" && found.success.kind === "user"
    ? strongest(found.success.grants)
    : found._tag === "Failure"
      ? found.failure._tag
      : null

describe("an organisation's people", () => {
  const mapping = {
    rules: [
      rule("groups", "security", "auditor", "*"),
      rule("roles", "boss", "admin", "ops"),
      rule("user_ids", "ann", "auditor", "legal")
    ],
    trustCanonical: false
  }

  it("get their roles from the mapping alone, and none by the names of our roles", async () => {
    const ask = async (claims: Partial<PersonClaims>) =>
      person(await world({ userIds: ["x"], orgUnit: null, ...claims }, mapping, false).ask("Bearer a.b"))
    assert.deepStrictEqual(await ask({ groups: ["security"] }), ["auditor", "*"])
    assert.deepStrictEqual(await ask({ groups: ["security"], roles: ["boss"] }), ["admin", ["ops"]])
    assert.deepStrictEqual(await ask({ userIds: ["ann", "ann@example.org"] }), ["auditor", ["legal"]])
    assert.strictEqual(await ask({ roles: ["admin", "security"], groups: ["boss"] }), "Forbidden")
  })

  it("have a first administrator only while no mapping is set", async () => {
    const first = rule("groups", "founders", "admin", "*")
    const claims = { groups: ["founders"], orgUnit: null }
    assert.deepStrictEqual(person(await world(claims, emptyMapping, false).ask("Bearer a.b", undefined, first)), [
      "admin",
      "*"
    ])
    assert.strictEqual(
      person(await world({ ...claims, userIds: [] }, mapping, false).ask("Bearer a.b", undefined, first)),
      "Forbidden"
    )
    assert.strictEqual(person(await world(claims, emptyMapping, false).ask("Bearer a.b")), "Forbidden")
  })

  it("fail with IssuerUnavailable, and not as unauthorized, while their issuer's keys cannot be fetched", async () => {
    const verifier: TokenVerifier = {
      issuer: "i",
      trustsCanonical: false,
      verify: () => Promise.reject(new IssuerUnavailable({ reason: "x" }))
    }
    assert.strictEqual(person(await world("audience").ask("Bearer a.b", verifier)), "IssuerUnavailable")
  })
})
