import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { decodeJwt, SignJWT, UnsecuredJWT, generateKeyPair, importJWK, exportJWK } from "jose"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { DEV_AUDIENCE, DEV_ISSUER, type DevIssuer, devIssuer, openDevIssuer, TOKEN_SECONDS } from "./dev-issuer.ts"

const NOW = Date.UTC(2026, 0, 1)
const request = { role: "admin", subject: "ann", orgUnit: "*" } as const
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flyball-issuer-"))
})
afterAll(() => rm(folder, { recursive: true }))

describe("tokens", () => {
  it("state subject, role, org unit, audience and expiry", async () => {
    const issuer = await devIssuer()
    const token = await issuer.sign({ role: "auditor", subject: "ann", orgUnit: "claims" }, NOW)
    assert.deepInclude(decodeJwt<{ readonly roles: ReadonlyArray<string>; readonly org_unit: string }>(token), {
      iss: DEV_ISSUER,
      aud: DEV_AUDIENCE,
      sub: "ann",
      roles: ["auditor"],
      org_unit: "claims",
      exp: NOW / 1_000 + TOKEN_SECONDS
    })
    assert.deepStrictEqual(await issuer.verify(token, NOW), {
      subject: "ann",
      name: null,
      roles: ["auditor"],
      groups: [],
      userIds: ["ann"],
      orgUnit: "claims"
    })
  })

  it("live a quarter of an hour", async () => {
    const issuer = await devIssuer()
    const token = await issuer.sign(request, NOW)
    assert.isObject(await issuer.verify(token, NOW + 899_000))
    assert.isString(await issuer.verify(token, NOW + 900_000))
  })

  it("of another issuer, or for another audience, are refused", async () => {
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
    const issuer = await devIssuer(await exportJWK(privateKey))
    const token = (changes: { readonly [claim: string]: unknown }, alg = "EdDSA") =>
      new SignJWT({
        iss: DEV_ISSUER,
        aud: DEV_AUDIENCE,
        sub: "ann",
        roles: ["admin"],
        org_unit: "*",
        exp: NOW / 1_000 + 60,
        ...changes
      })
        .setProtectedHeader({ alg })
        .sign(privateKey)
    assert.isObject(await issuer.verify(await token({}), NOW))
    for (const changes of [
      { iss: "https://elsewhere.example" },
      { iss: undefined },
      { aud: "another" },
      { aud: undefined },
      { exp: undefined },
      { exp: NOW / 1_000 - 1 },
      { nbf: NOW / 1_000 + 60 },
      { sub: undefined },
      { sub: "" },
      { roles: undefined },
      { roles: "admin" },
      { org_unit: undefined },
      { org_unit: "" },
      { org_unit: 1 }
    ])
      assert.isString(await issuer.verify(await token(changes), NOW), JSON.stringify(changes))
    assert.isString(await (await devIssuer()).verify(await token({}), NOW))
    const other = await devIssuer()
    assert.isString(await issuer.verify(await other.sign(request, NOW), NOW))
  })

  it("without a signature, with another algorithm or garbled are refused", async () => {
    const issuer = await devIssuer()
    const claims = {
      iss: DEV_ISSUER,
      aud: DEV_AUDIENCE,
      sub: "ann",
      roles: ["admin"],
      org_unit: "*",
      exp: NOW / 1_000 + 60
    }
    assert.isString(await issuer.verify(new UnsecuredJWT(claims).encode(), NOW))
    const secret = new TextEncoder().encode("x".repeat(32))
    assert.isString(
      await issuer.verify(await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret), NOW)
    )
    const token = await issuer.sign(request, NOW)
    for (const garbled of ["", ".", "a.b.c", `${token}.x`, token.slice(0, -4), token.replace(".", "..")])
      assert.isString(await issuer.verify(garbled, NOW))
  })
})

describe("the key in the data folder", () => {
  it("is made once, even by many at once, and only its owner reads it", async () => {
    const dir = join(folder, "new")
    const issuers = await Promise.all(Array.from({ length: 8 }, () => openDevIssuer(dir)))
    const token = await issuers[0]!.sign(request, NOW)
    for (const issuer of issuers) assert.isObject(await issuer.verify(token, NOW))
    const again: DevIssuer = await openDevIssuer(dir)
    assert.isObject(await again.verify(token, NOW))
    assert.strictEqual((await stat(join(dir, "dev-issuer.jwk"))).mode & 0o777, 0o600)
    const jwk = JSON.parse(await readFile(join(dir, "dev-issuer.jwk"), "utf8"))
    assert.strictEqual(((await importJWK(jwk, "EdDSA")) as CryptoKey).type, "private")
  })

  it("that is something else is named, never shown or replaced", async () => {
    await writeFile(join(folder, "dev-issuer.jwk"), '{"kty":"oct","k":"hunter2"}')
    const error = await openDevIssuer(folder).catch((problem: Error) => problem)
    assert.match((error as Error).message, /dev-issuer\.jwk: expected an Ed25519 private key as JWK/)
    assert.notInclude((error as Error).message, "hunter2")
  })
})
