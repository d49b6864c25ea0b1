/** The published cases: cards signed by four SDKs, JWS of ES256, and Ed25519 as a card's key meets it. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { fromHex, portableCrypto, utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import { judgeCard } from "./judge-card.ts"
import { fromBase64url } from "@flyball/rules"
import type { TrustedKey } from "@flyball/rules"
import { holds } from "./verify-signature.ts"

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../../../fixtures/vectors/${name}`, import.meta.url), "utf8"))
const es256 = (jwk: { readonly kid: string; readonly x: string; readonly y: string }): TrustedKey => ({
  keyId: jwk.kid,
  thumbprint: "",
  alg: "ES256",
  publicKey: Uint8Array.from([4, ...fromBase64url(jwk.x)!, ...fromBase64url(jwk.y)!]),
  notBeforeMs: null,
  expiresAtMs: null,
  revoked: false,
  agents: null
})
const ed25519 = (publicKey: Uint8Array): TrustedKey => ({
  keyId: "k",
  thumbprint: "",
  alg: "EdDSA",
  publicKey,
  notBeforeMs: null,
  expiresAtMs: null,
  revoked: false,
  agents: null
})

describe("published cards", () => {
  const { test_key, vectors } = read("agent-card/a2a-signing-interop.json") as {
    readonly test_key: { readonly jwk: { readonly kid: string; readonly x: string; readonly y: string } }
    readonly vectors: ReadonlyArray<{
      readonly id: string
      readonly disposition: string
      readonly served_card: { readonly name: string; readonly skills: ReadonlyArray<object> }
    }>
  }

  for (const vector of vectors) {
    it.effect(`${vector.id} is accepted, and nothing else of it`, () =>
      Effect.gen(function* () {
        assert.strictEqual(vector.disposition, "MUST-ACCEPT")
        const judge = (card: object) =>
          Effect.map(
            judgeCard(
              { card: utf8(JSON.stringify(card)), detached: null },
              { crypto: portableCrypto, keys: [es256(test_key.jwk)], agentName: "Interop Probe", nowMs: 0 }
            ),
            ({ reason }) => reason
          )
        assert.strictEqual(yield* judge(vector.served_card), "ok")
        assert.strictEqual(yield* judge({ ...vector.served_card, version: "1.0.1" }), "signature_invalid")
        assert.strictEqual(yield* judge({ ...vector.served_card, skills: [] }), "signature_invalid")
        assert.strictEqual(yield* judge({ ...vector.served_card, documentationUrl: "" }), "signature_invalid")
        assert.strictEqual(yield* judge({ ...vector.served_card, note: "" }), "card_malformed")
      })
    )
  }
  it("are complete", () => assert.isAtLeast(vectors.length, 2))
})

describe("JWS of ES256, as Wycheproof has them", () => {
  const { testGroups } = read("agent-card/wycheproof-jws-es256.json") as {
    readonly testGroups: ReadonlyArray<{
      readonly public: { readonly kid: string; readonly x: string; readonly y: string }
      readonly tests: ReadonlyArray<{ readonly tcId: number; readonly jws: string; readonly result: string }>
    }>
  }
  const tests = testGroups.flatMap((group) => group.tests.map((test) => ({ ...test, key: es256(group.public) })))

  it.effect("are refused", () =>
    Effect.gen(function* () {
      assert.strictEqual(tests.length, 19)
      for (const { jws, key, result, tcId } of tests) {
        assert.strictEqual(result, "invalid")
        const [head = "", payload = "", signature = ""] = jws.split(".")
        const bytes = fromBase64url(signature)
        const isGood =
          bytes === null
            ? false
            : yield* holds(
                portableCrypto,
                { alg: "ES256", key: { keyId: key.keyId }, message: utf8(`${head}.${payload}`), signature: bytes },
                key
              )
        assert.isFalse(isGood, `tcId ${tcId}`)
      }
    })
  )
})

describe("Ed25519 by a key of the trust store", () => {
  const bytes = (digits: string): Uint8Array => fromHex(digits)!
  for (const crypto of [portableCrypto, nodeCrypto]) {
    it.effect(`says what the published cases say, ${crypto.name}`, () =>
      Effect.gen(function* () {
        const check = (publicKey: string, message: string, signature: string) =>
          holds(
            crypto,
            { alg: "EdDSA", key: { keyId: "k" }, message: bytes(message), signature: bytes(signature) },
            ed25519(bytes(publicKey))
          )
        const wycheproof = read("ed25519/wycheproof-ed25519.json") as {
          readonly testGroups: ReadonlyArray<{
            readonly publicKey: { readonly pk: string }
            readonly tests: ReadonlyArray<{
              readonly tcId: number
              readonly msg: string
              readonly sig: string
              readonly result: string
            }>
          }>
        }
        for (const { publicKey, tests } of wycheproof.testGroups)
          for (const test of tests)
            assert.strictEqual(
              yield* check(publicKey.pk, test.msg, test.sig),
              test.result === "valid",
              `tcId ${test.tcId}`
            )
        const { cases } = read("ed25519/speccheck.json") as {
          readonly cases: ReadonlyArray<{
            readonly message: string
            readonly pub_key: string
            readonly signature: string
            readonly accepted_by: { readonly [library: string]: boolean }
          }>
        }
        for (const one of cases)
          assert.strictEqual(yield* check(one.pub_key, one.message, one.signature), one.accepted_by["LibSodium"])
        for (const one of read("ed25519/rfc8032.json") as ReadonlyArray<
          Record<"public" | "message" | "signature", string>
        >)
          assert.isTrue(yield* check(one.public, one.message, one.signature))
      })
    )
  }
})
