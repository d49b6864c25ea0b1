import { Unauthorized } from "@flyball/contract"
import { IngestKeys, type IngestKeysApi } from "@flyball/core"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { authenticate, bearerToken, type TokenVerifier } from "./authenticate.ts"

const unused = Effect.die("not asked for")

/** Who was asked about which token. */
const world = (claims: { readonly roles: ReadonlyArray<string>; readonly org_unit?: string } | null) => {
  const asked: Array<string> = []
  const keys: IngestKeysApi = {
    mint: () => unused, list: unused, revoke: () => unused,
    authenticate: (token) => Effect.suspend(() => {
      asked.push(`key ${token}`)
      return Effect.fail(new Unauthorized())
    })
  }
  const verifier: TokenVerifier = {
    issuer: "i",
    verify: (token) => {
      asked.push(`jwt ${token}`)
      return Promise.resolve(claims === null ? null : { iss: "i", aud: "a", sub: "ann", org_unit: "claims", exp: 1, ...claims })
    }
  }
  const ask = (header: string | undefined, by: TokenVerifier | null = verifier) =>
    Effect.runPromise(authenticate(header, by).pipe(Effect.result, Effect.provideService(IngestKeys, keys)))
  return { asked, ask }
}

describe("tokens", () => {
  it("are told apart by their shape, and each is shown to one side only", async () => {
    const { ask, asked } = world(null)
    for (const token of ["abc", "fbk_x", "a.b.c", "fbk_a.b", "."]) await ask(`Bearer ${token}`)
    assert.deepStrictEqual(asked, ["key abc", "key fbk_x", "jwt a.b.c", "jwt fbk_a.b", "jwt ."])
  })

  it("with a dot open nothing where nobody vouches for people", async () => {
    const { ask, asked } = world({ roles: ["admin"] })
    assert.strictEqual((await ask("Bearer a.b.c", null))._tag, "Failure")
    assert.deepStrictEqual(asked, [])
  })

  it("stand behind the word Bearer, in any case", () => {
    for (const header of ["Bearer a", "bearer a", "BEARER  a "]) assert.strictEqual(bearerToken(header), "a")
    for (const header of [undefined, "", "a", "Bearer", "Bearer ", "Basic a", "Bearer a b", "Bearer a,b", "Bearer \u00e4", `Bearer ${"a".repeat(8_192)}`]) assert.isNull(bearerToken(header))
  })
})

describe("people", () => {
  it("have the strongest of their roles", async () => {
    const { ask } = world({ roles: ["auditor", "governor", "reviewer", "king"] })
    const caller = await ask("Bearer a.b")
    assert.deepInclude(caller, { _tag: "Success" })
    assert.deepStrictEqual(caller._tag === "Success" && caller.success, { kind: "user", issuer: "i", subject: "ann", role: "governor", orgUnit: "claims" })
  })

  it("are of the org unit that is stored, however their issuer writes its accents", async () => {
    const { ask } = world({ roles: ["auditor"], org_unit: "cafe\u0301" })
    const caller = await ask("Bearer a.b")
    assert.deepInclude(caller._tag === "Success" ? caller.success : {}, { orgUnit: "caf\u00e9" })
  })

  it("without a role of ours are forbidden, not unknown", async () => {
    const { ask } = world({ roles: ["king"] })
    const caller = await ask("Bearer a.b")
    assert.strictEqual(caller._tag === "Failure" && caller.failure._tag, "Forbidden")
  })
})
