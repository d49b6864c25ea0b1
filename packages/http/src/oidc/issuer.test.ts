import fc from "fast-check"
import { SignJWT, UnsecuredJWT } from "jose"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { IssuerUnavailable } from "../request/issuer-unavailable.ts"
import { type ClaimPlace, readClaim } from "./claims.ts"
import { CLOCK_TOLERANCE_SECONDS, KEEP_MS, oidcIssuer } from "./issuer.ts"
import { isIssuerUrl } from "./issuer-url.ts"
import { type TestIssuer, testIssuer } from "./test-issuer.ts"
import type { IgnoredKey } from "./usable-keys.ts"

const NOW = Date.UTC(2026, 10, 21)
let issuer: TestIssuer
const claim = (path: string, separator: string | null = null): ClaimPlace => ({ path, separator })
const verifier = (more: Partial<Parameters<typeof oidcIssuer>[0]> = {}) =>
  oidcIssuer({ issuer: issuer.url, audience: "flyball", roles: claim("roles"), groups: claim("groups"), ...more })
const fault = (tried: Promise<unknown>): Promise<unknown> =>
  tried.then(
    () => "no fault",
    (cause: unknown) => (cause instanceof IssuerUnavailable ? cause.reason : cause)
  )

beforeEach(async () => {
  issuer = await testIssuer()
  await issuer.addKey("one")
})
afterEach(() => issuer.close())

describe("a token of the organisation's issuer", () => {
  it("is accepted with every supported algorithm, and identifies the person", async () => {
    const { verify } = verifier()
    for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
      await issuer.addKey(alg, alg)
      const claims = {
        name: "Ann",
        roles: ["boss"],
        groups: "a b",
        email: "ann@example.org",
        email_verified: true,
        org_unit: "x"
      }
      const fresh = verifier()
      assert.deepStrictEqual(await fresh.verify(await issuer.sign(alg, NOW, claims), NOW), {
        subject: "ann",
        name: "Ann",
        email: "ann@example.org",
        roles: ["boss"],
        groups: ["a b"],
        userIds: ["ann", "ann@example.org"],
        orgUnit: null,
        incomplete: []
      })
    }
    const unverified = await verify(
      await issuer.sign("one", NOW, { email: "boss@example.org", aud: ["x", "flyball"] }),
      NOW
    )
    assert.deepInclude(unverified, { email: null, userIds: ["ann"] }, "an address that nobody verified is anybody's")
  })

  it("is refused with another issuer or audience, expired, not yet valid, without subject or expiry", async () => {
    const { verify } = verifier()
    const now = NOW / 1_000
    for (const [problem, claims] of [
      ["issuer", { iss: "https://elsewhere.example" }],
      ["issuer", { iss: `${issuer.url}/` }],
      ["issuer", { iss: undefined }],
      ["audience", { aud: "another", azp: "flyball" }],
      ["audience", { aud: undefined }],
      ["audience", { aud: [] }],
      ["expired", { exp: undefined }],
      ["expired", { exp: now - CLOCK_TOLERANCE_SECONDS }],
      ["expired", { nbf: now + CLOCK_TOLERANCE_SECONDS + 1 }],
      ["subject", { sub: undefined }],
      ["subject", { sub: "" }],
      ["subject", { sub: 7 }],
      ["subject", { sub: "x".repeat(300) }]
    ] as const)
      assert.strictEqual(
        await verify(await issuer.sign("one", NOW, claims as never), NOW),
        problem,
        JSON.stringify(claims)
      )
    assert.isObject(
      await verify(
        await issuer.sign("one", NOW, { exp: now - CLOCK_TOLERANCE_SECONDS + 1, nbf: now + CLOCK_TOLERANCE_SECONDS }),
        NOW
      ),
      "the clocks of two hosts differ"
    )
  })

  it("is refused unsigned, signed by a shared secret, another kind of key or an unknown key, or garbled", async () => {
    await issuer.addKey("rsa", "RS256")
    const { verify } = verifier()
    const claims = { iss: issuer.url, aud: "flyball", sub: "ann", exp: NOW / 1_000 + 60 }
    assert.strictEqual(await verify(new UnsecuredJWT(claims).encode(), NOW), "algorithm")
    // The public key taken for a secret: what everybody can read would sign.
    for (const secret of [JSON.stringify(issuer.publicJwk("rsa")), issuer.publicJwk("rsa").n!]) {
      assert.strictEqual(
        await verify(
          await new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256", kid: "rsa" })
            .sign(new TextEncoder().encode(secret.padEnd(32))),
          NOW
        ),
        "algorithm"
      )
    }
    const good = await issuer.sign("one", NOW)
    const stranger = await testIssuer()
    await stranger.addKey("one")
    assert.strictEqual(await verify(await stranger.sign("one", NOW, { iss: issuer.url }), NOW), "key")
    await stranger.close()
    const [head, body, signature] = good.split(".")
    for (const garbled of [".", "a.b.c", `${good}.x`, good.slice(0, -4), `${head}.${body}.`, `${head}..${signature}`])
      assert.match(String(await verify(garbled, NOW)), /^(form|key)$/, garbled)
    assert.isString(await verify(await issuer.sign("one", NOW, {}, { kid: "rsa" }), NOW))
    assert.isString(
      await verify(await issuer.sign("one", NOW, {}, { crit: ["x"], x: 1 } as never).catch(() => "a.b.c"), NOW)
    )
  })
})

describe("the issuer's keys", () => {
  it("are fetched once, and again for an unknown key, but not for every such token", async () => {
    const { verify } = verifier()
    for (let n = 0; n < 5; n++) assert.isObject(await verify(await issuer.sign("one", NOW), NOW))
    assert.deepStrictEqual(issuer.requested, ["/.well-known/openid-configuration", "/keys"])
    for (let n = 0; n < 20; n++)
      assert.isString(await verify(await issuer.sign("one", NOW, {}, { kid: `made up ${n}` }), NOW))
    assert.isAtMost(issuer.requested.length, 3)
  })

  it("that cannot be fetched are the fault of the issuer, not of the token, and are fetched later", async () => {
    const { verify } = verifier()
    const good = await issuer.sign("one", NOW)
    issuer.answer((_, response) => {
      response.writeHead(503).end()
      return true
    })
    assert.match(String(await fault(verify(good, NOW))), /answers 503/)
    issuer.answer(null)
    assert.isObject(await verify(good, NOW))
  })

  it("are refused from another issuer's document, a redirect, an address without https, an endless body", async () => {
    const good = await issuer.sign("one", NOW)
    const json = (value: unknown) => (_: string, response: ServerResponse) => {
      response.end(JSON.stringify(value))
      return true
    }
    type ServerResponse = Parameters<Parameters<TestIssuer["answer"]>[0] & {}>[1]
    const bad: ReadonlyArray<readonly [Parameters<TestIssuer["answer"]>[0], RegExp]> = [
      [json({ issuer: "https://elsewhere.example", jwks_uri: `${issuer.url}/keys` }), /another issuer/],
      [json({ issuer: issuer.url, jwks_uri: "http://elsewhere.example/keys" }), /no https address/],
      [json({ issuer: issuer.url }), /no https address/],
      [json([]), /another issuer/],
      [
        (_, response) => {
          response.writeHead(302, { location: `${issuer.url}/keys` }).end()
          return true
        },
        /redirect/
      ],
      [
        (_, response) => {
          response.end("x".repeat(300_000))
          return true
        },
        /more than/
      ],
      [
        (path, response) => {
          if (path !== "/keys") return false
          response.end("{}")
          return true
        },
        /malformed/
      ]
    ]
    for (const [answer, says] of bad) {
      issuer.answer(answer)
      assert.match(String(await fault(verifier().verify(good, NOW))), says)
    }
    await issuer.close()
    assert.match(String(await fault(verifier().verify(good, NOW))), /cannot be read/)
  })
})

describe("a key that is too weak or cannot be read", () => {
  it("is refused, does not affect tokens of other keys, and is reported once", async () => {
    issuer.addRsaKey("weak", 1_024)
    const ignored: Array<IgnoredKey> = []
    const { verify } = verifier({ onIgnoredKey: (key) => void ignored.push(key) })
    for (let n = 0; n < 3; n++) {
      assert.isString(await verify(issuer.signWeakly("weak", NOW), NOW))
      assert.isObject(await verify(await issuer.sign("one", NOW), NOW))
    }
    const reason = "it is too weak: RSA with 1024 bits, at least 2048 are expected"
    assert.deepStrictEqual(
      ignored.map((key) => [key.kid, key.reason]),
      [["weak", reason]]
    )
    // The keys are fetched again, and the key is no news.
    assert.isObject(await verify(await issuer.sign("one", NOW + KEEP_MS), NOW + KEEP_MS))
    assert.isAbove(issuer.requested.length, 2)
    assert.lengthOf(ignored, 1)
  })

  it("is refused, without an issuer fault, where it is the issuer's only key", async () => {
    issuer.dropKey("one")
    issuer.addRsaKey("weak", 1_024)
    const { verify } = verifier()
    for (let n = 0; n < 3; n++) assert.isString(await verify(issuer.signWeakly("weak", NOW), NOW))
  })

  it("may have a weak exponent, or members that are no key, or be private", async () => {
    await issuer.addKey("rsa", "RS256")
    await issuer.addKey("p256", "ES256")
    const rsa = { ...issuer.publicJwk("rsa"), alg: "RS256", use: "sig" }
    const p256 = { ...issuer.publicJwk("p256"), alg: "ES256" }
    const bad = {
      one: { ...rsa, e: "AQ" },
      even: { ...rsa, e: "AQAC" },
      empty: { ...rsa, n: "" },
      text: { ...rsa, n: 7 },
      curve: { ...p256, x: p256.y },
      secret: { ...p256, d: p256.x }
    }
    const weak = { ...rsa, n: "AQ" }
    const shared = { kty: "oct", k: "AAAA" }
    const unused = { encrypts: { ...weak, use: "enc" }, other: { ...weak, alg: "RS512" }, shared }
    const keys = Object.entries({ rsa, ...bad, ...unused }).map(([kid, jwk]) => ({ ...jwk, kid }))
    issuer.answer((path, response) => path === "/keys" && (response.end(JSON.stringify({ keys })), true))
    const ignored: Array<string | null> = []
    const { verify } = verifier({ onIgnoredKey: ({ kid }) => void ignored.push(kid) })
    assert.isObject(await verify(await issuer.sign("rsa", NOW), NOW))
    assert.deepStrictEqual(ignored, Object.keys(bad))
    for (const kid of Object.keys(bad)) {
      assert.isString(await verify(await issuer.sign("rsa", NOW, {}, { kid }), NOW), kid)
      assert.isString(await verify(await issuer.sign("p256", NOW, {}, { kid }), NOW), kid)
    }
  })
})

describe("claims", () => {
  it("are read from the configured members: a name, a path with dots, a JSON pointer", () => {
    const payload = {
      realm_access: { roles: ["a"] },
      "https://x.example/roles": ["b"],
      resource_access: { "app.example.com": { roles: ["c"] }, "a~b/c": ["d"] }
    }
    for (const [path, values] of [
      ["realm_access.roles", ["a"]],
      ["/realm_access/roles", ["a"]],
      ["https://x.example/roles", ["b"]],
      ["/https:~1~1x.example~1roles", ["b"]],
      ["/resource_access/app.example.com/roles", ["c"]],
      ["/resource_access/a~0b~1c", ["d"]],
      ["resource_access.app.example.com.roles", []],
      ["nothing", []],
      ["constructor.name", []],
      ["/__proto__", []]
    ] as const)
      assert.deepStrictEqual(readClaim(payload, claim(path)), { values, problem: null }, path)
  })

  it("mean the same as a text and as a list of that text, and are split only by a separator", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("platform support", "a,b", " ")), (text) =>
        assert.deepStrictEqual(
          readClaim({ groups: text }, claim("groups")),
          readClaim({ groups: [text] }, claim("groups"))
        )
      ),
      { seed: 19 }
    )
    assert.deepStrictEqual(readClaim({ groups: "platform support" }, claim("groups")).values, ["platform support"])
    assert.deepStrictEqual(readClaim({ groups: "a  b" }, claim("groups", " ")).values, ["a", "b"])
    assert.deepStrictEqual(readClaim({ groups: ["a b"] }, claim("groups", " ")).values, ["a b"])
  })

  it("say that they are incomplete: left out by the issuer, cut, or of another form", () => {
    for (const [problem, payload] of [
      ["overage", { _claim_names: { groups: "src1" }, _claim_sources: { src1: {} } }],
      ["overage", { hasgroups: "true" }],
      ["overage", { hasgroups: true }],
      ["cut", { groups: Array(1_001).fill("g") }],
      ["form", { groups: ["a", 1] }],
      ["form", { groups: { a: 1 } }],
      ["form", { groups: "x".repeat(257) }],
      [null, { groups: [], _claim_names: { roles: "src1" } }],
      [null, { groups: null }],
      [null, {}]
    ] as const)
      assert.strictEqual(readClaim(payload, claim("groups")).problem, problem, JSON.stringify(payload).slice(0, 60))
    assert.lengthOf(readClaim({ groups: Array(2_000).fill("g") }, claim("groups")).values, 1_000)
  })

  it("come from an issuer at https, or on this host", () => {
    for (const good of [
      "https://idp.example",
      "https://idp.example/realms/x",
      "http://127.0.0.1:9",
      "http://localhost:9/x"
    ])
      assert.isTrue(isIssuerUrl(good), good)
    for (const bad of [
      "",
      "idp.example",
      "http://idp.example",
      "https://a:b@idp.example",
      "https://idp.example#x",
      "ftp://idp.example",
      "http://127.0.0.1.example"
    ])
      assert.isFalse(isIssuerUrl(bad), bad)
  })
})
