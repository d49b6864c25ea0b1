/**
 * Keys that move and end: an issuer may change where they are, and which, while the server runs. Time is what each
 * question brings along.
 */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { IssuerUnavailable } from "../request/issuer-unavailable.ts"
import { COOLDOWN_MS, KEEP_MS, oidcIssuer } from "./issuer.ts"
import { type TestIssuer, testIssuer } from "./test-issuer.ts"

const NOW = Date.UTC(2026, 10, 21)
const DISCOVERY = "/.well-known/openid-configuration"
let issuer: TestIssuer
let verify: (token: string, nowMs: number) => Promise<unknown>
/** A token that is good for an hour of the test's time. */
const token = (kid: string) => issuer.sign(kid, NOW + 3_600_000)
const outcome = (kid: string, nowMs: number) =>
  token(kid)
    .then((one) => verify(one, nowMs))
    .then(
      (claims) => (typeof claims === "string" ? "refused" : "known"),
      (cause: unknown) => (cause instanceof IssuerUnavailable ? cause.reason : String(cause))
    )

/** From now on the keys are at `path`, and `old` answers for the address they were at. */
const moveKeys = (path: string, old: { readonly status: number; readonly body: string }): void =>
  issuer.answer((requested, response) => {
    if (requested === DISCOVERY) response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}${path}` }))
    else if (requested === path)
      response.end(JSON.stringify({ keys: [{ ...issuer.publicJwk("two"), kid: "two", alg: "EdDSA", use: "sig" }] }))
    else response.writeHead(old.status).end(old.body)
    return true
  })
const gone = { status: 404, body: "" }
const nothing = (): void =>
  issuer.answer((_, response) => {
    response.writeHead(503).end()
    return true
  })

beforeEach(async () => {
  issuer = await testIssuer()
  await issuer.addKey("one")
  const claim = (path: string) => ({ path, separator: null })
  verify = oidcIssuer({
    issuer: issuer.url,
    audience: "flyball",
    roles: claim("roles"),
    groups: claim("groups")
  }).verify
})
afterEach(() => issuer.close())

describe("an issuer's keys", () => {
  it("are found at their new address after their time in the cache, though the old one is gone", async () => {
    assert.strictEqual(await outcome("one", NOW), "known")
    await issuer.addKey("two")
    moveKeys("/new/keys", gone)
    assert.strictEqual(await outcome("one", NOW + KEEP_MS - 1), "known")
    assert.strictEqual(await outcome("two", NOW + KEEP_MS), "known")
    assert.strictEqual(await outcome("one", NOW + KEEP_MS), "refused")
  })

  it("that were withdrawn end with their time, though the old address still names them", async () => {
    assert.strictEqual(await outcome("one", NOW), "known")
    await issuer.addKey("two")
    moveKeys("/new/keys", {
      status: 200,
      body: JSON.stringify({ keys: [{ ...issuer.publicJwk("one"), kid: "one", alg: "EdDSA", use: "sig" }] })
    })
    assert.strictEqual(await outcome("one", NOW + KEEP_MS), "refused")
    assert.strictEqual(await outcome("two", NOW + KEEP_MS), "known")
  })

  it("are fetched at once where a token names an unknown one, and not more often than the cooldown", async () => {
    assert.strictEqual(await outcome("one", NOW), "known")
    await issuer.addKey("two")
    moveKeys("/new/keys", gone)
    assert.strictEqual(await outcome("two", NOW + COOLDOWN_MS - 1), "refused")
    assert.deepStrictEqual(issuer.requested, [DISCOVERY, "/keys"])
    assert.deepStrictEqual(await Promise.all([1, 2, 3].map(() => outcome("two", NOW + COOLDOWN_MS))), [
      "known",
      "known",
      "known"
    ])
    assert.deepStrictEqual(issuer.requested, [DISCOVERY, "/keys", DISCOVERY, "/new/keys"])
  })

  it("stay good while the issuer is away, for any number of unknown keys, until their time is over", async () => {
    assert.strictEqual(await outcome("one", NOW), "known")
    await issuer.addKey("two")
    nothing()
    assert.match(await outcome("two", NOW + COOLDOWN_MS), /answers 503/)
    for (let n = 0; n < 5; n++) assert.strictEqual(await outcome("two", NOW + COOLDOWN_MS + n), "refused")
    assert.strictEqual(await outcome("one", NOW + COOLDOWN_MS), "known")
    assert.deepStrictEqual(issuer.requested, [DISCOVERY, "/keys", DISCOVERY])
    assert.match(await outcome("one", NOW + KEEP_MS), /answers 503/)
    issuer.answer(null)
    assert.strictEqual(await outcome("one", NOW + KEEP_MS), "known")
  })

  it("are fetched again where the clock was set back: their age is unknown", async () => {
    assert.strictEqual(await outcome("one", NOW), "known")
    issuer.dropKey("one")
    await issuer.addKey("two")
    const old = await issuer.sign("two", NOW)
    assert.isNotNull(await verify(old, NOW - 60_000))
  })

  it("are refused where there is no end to them", async () => {
    issuer.answer((requested, response) => {
      if (requested === DISCOVERY) return false
      response.end(`{"keys":[],"x":"${"x".repeat(300_000)}"}`)
      return true
    })
    assert.match(await outcome("one", NOW), /more than/)
  })
})
