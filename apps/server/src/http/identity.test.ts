/**
 * Identities over HTTP: what is verified, what is rejected, and who may attach. Spec: document 1, IdentityIn; api.md
 * "agents and registry".
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { generateKeyPairSync, sign } from "node:crypto"
import { TrustStore, type TrustedKey } from "@flyball/core"
import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "./http-world.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url")
const acme: TrustedKey = {
  keyId: "acme",
  thumbprint: "t",
  alg: "EdDSA",
  publicKey: Uint8Array.from(raw),
  notBeforeMs: null,
  expiresAtMs: null,
  revoked: false,
  agents: null
}

let world: World
beforeAll(async () => {
  world = await openWorld({ trust: Layer.succeed(TrustStore, { keys: Effect.succeed([acme]) }) })
})
afterAll(() => world.close())

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64")
const signed = (card: string, key: object = { key_id: "acme" }) => ({
  signed_card: { card: base64(card), signature: base64(sign(null, Buffer.from(card), privateKey)), ...key }
})
const attach = (agent: string, json: unknown, token = world.key) =>
  world.send("POST", `/api/v1/agents/${agent}/identity`, { token, json })

describe("POST /agents/{agent_id}/identity", () => {
  it("answers 201 with the verdict, and the agent shows it", async () => {
    const agent = await world.register("courier")
    for (const key of [{ key_id: "acme" }, { public_key: base64(raw) }, { key_id: null, public_key: base64(raw) }]) {
      const got = await attach(agent, signed('{"name":"courier"}', key))
      assert.deepStrictEqual(
        [got.status, got.json.verdict, got.json.reason_code, got.json.identity_verified],
        [201, "verified", "ok", true]
      )
      assert.deepStrictEqual(Object.keys(got.json).sort(), [
        "agent_id",
        "alg",
        "card_digest",
        "checked_at",
        "identity_ref",
        "identity_source",
        "identity_verified",
        "key_id",
        "reason_code",
        "record_hash",
        "seq",
        "standing",
        "verdict"
      ])
    }
    const shown = await world.send("GET", `/api/v1/agents/${agent}`, { token: world.key })
    assert.deepInclude(shown.json, { identity_verified: true, identity_source: "signed_card" })
    const record = await world.send("GET", `/api/v1/chain/records?kind=agent.identity_attested&agent_id=${agent}`, {
      token: world.admin
    })
    assert.lengthOf(record.json, 3)
  })

  it("a rejected card is 201 and a record too", async () => {
    const agent = await world.register("refunds")
    const before = await world.size()
    const got = await attach(agent, signed('{"name":"courier"}'))
    assert.deepStrictEqual(
      [
        got.status,
        got.json.verdict,
        got.json.reason_code,
        got.json.identity_verified,
        got.json.identity_source,
        got.json.identity_ref
      ],
      [201, "rejected", "name_mismatch", false, null, null]
    )
    assert.strictEqual(await world.size(), before + 1)
    assert.strictEqual((await attach(agent, signed('{"name":"refunds"}'))).json.verdict, "verified")
    const later = await attach(agent, signed('{"name":"courier"}'))
    assert.deepInclude(later.json, {
      verdict: "rejected",
      identity_verified: false,
      identity_source: null,
      identity_ref: null
    })
    assert.deepInclude(later.json.standing, { identity_verified: true, identity_source: "signed_card" })
  })

  it("a card may be a JSON object, whose RFC 8785 bytes are verified", async () => {
    const agent = await world.register("object card")
    const { signed_card } = signed('{"name":"object card","skills":[1]}')
    const sent = { signed_card: { ...signed_card, card: { skills: [1.0], name: "object card" } } }
    assert.deepInclude((await attach(agent, sent)).json, {
      verdict: "verified",
      card_digest: (await attach(agent, { signed_card })).json.card_digest
    })
    const beyond = await attach(agent, { signed_card: { ...signed_card, card: { name: "object card", n: 2 ** 53 } } })
    assert.deepStrictEqual([beyond.status, beyond.json.detail[0].loc.join(".")], [422, "body.signed_card.card"])
  })

  it("an ingest key attaches only in draft; a governor afterwards too", async () => {
    const agent = await world.register("grown up")
    assert.strictEqual((await attach(agent, signed('{"name":"grown up"}'))).status, 201)
    await world.send("POST", `/api/v1/agents/${agent}/suspend`, { token: world.admin })
    const late = await attach(agent, signed('{"name":"grown up"}'))
    assert.deepStrictEqual([late.status, late.json.code], [403, "key_not_allowed"])
    assert.strictEqual((await attach(agent, signed('{"name":"grown up"}'), world.tokens.governor)).status, 201)
  })

  it("a declaration does not replace a verified identity, which a governor may withdraw", async () => {
    const agent = await world.register("vouched for")
    const spiffe = { declared_source: "spiffe", declared_ref: "spiffe://example.org/x" }
    await attach(agent, signed('{"name":"vouched for"}'))
    for (const token of [world.key, world.tokens.governor]) {
      const got = await attach(agent, spiffe, token)
      assert.deepStrictEqual([got.status, got.json.code], [409, "identity_already_verified"])
    }
    const byKey = await attach(agent, { ...spiffe, withdraw_verified: true })
    assert.deepStrictEqual([byKey.status, byKey.json.code], [403, "key_not_allowed"])
    const withdrawn = await attach(agent, { ...spiffe, withdraw_verified: true }, world.tokens.governor)
    assert.deepInclude(withdrawn.json, { verdict: "declared", identity_verified: false })
  })

  it("a declared identity is a claim", async () => {
    const agent = await world.register("claims bot")
    const got = await attach(agent, { declared_source: "entra_agent_id", declared_ref: "0f0e" })
    assert.deepStrictEqual(
      [got.status, got.json.verdict, got.json.identity_verified, got.json.identity_source, got.json.identity_ref],
      [201, "declared", false, "entra_agent_id", "0f0e"]
    )
  })

  it("a body with neither or both of card and declaration is 422", async () => {
    const agent = await world.register("nobody")
    const before = await world.size()
    const seen = async (json: unknown) => {
      const got = await attach(agent, json)
      return [got.status, got.json.detail[0].type, got.json.detail[0].loc.join(".")]
    }
    assert.deepStrictEqual(await seen({}), [422, "missing", "body.signed_card"])
    assert.deepStrictEqual(await seen({ signed_card: null, declared_source: null }), [
      422,
      "missing",
      "body.signed_card"
    ])
    assert.deepStrictEqual(
      await seen({ ...signed('{"name":"nobody"}'), declared_source: "did", declared_ref: "did:web:example.org" }),
      [422, "value_error", "body.signed_card"]
    )
    assert.strictEqual(await world.size(), before)
  })

  it("is for the key of the agent's unit; another's agent is not found, and an agent's end is final", async () => {
    const agent = await world.register("ended")
    assert.strictEqual((await attach(agent, signed('{"name":"ended"}'), world.otherKey)).json.code, "agent_not_found")
    assert.strictEqual((await attach(agent, signed('{"name":"ended"}'), world.tokens.operator)).json.code, "forbidden")
    await world.send("POST", `/api/v1/agents/${agent}/decommission`, { token: world.admin })
    const late = await attach(agent, signed('{"name":"ended"}'), world.admin)
    assert.deepStrictEqual([late.status, late.json.code], [409, "invalid_transition"])
  })
})
