import { createHash, createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import { actionDigest, digestKeyOf, keyedActionDigest } from "./action-digest.ts"

const args = { order: "W100", amount: 5 }
const canonical = '{"amount":5,"order":"W100"}'

describe("the digest of an action", () => {
  it("is SHA-256 over the canonical form of its arguments", () =>
    assert.strictEqual(actionDigest(args), `sha256:${createHash("sha256").update(canonical).digest("hex")}`))

  it("is an HMAC where something is redacted, as OpenSSL computes it", () => {
    const key = digestKeyOf("flb_secret")
    assert.strictEqual(
      keyedActionDigest(key, args),
      `sha256:${createHmac("sha256", key).update(canonical).digest("hex")}`
    )
  })

  it("is the same in every process with the same key, and another with another", () => {
    assert.deepStrictEqual(digestKeyOf("a"), digestKeyOf("a"))
    assert.notStrictEqual(keyedActionDigest(digestKeyOf("a"), args), keyedActionDigest(digestKeyOf("b"), args))
    assert.notStrictEqual(keyedActionDigest(digestKeyOf("a"), args), actionDigest(args))
  })
})
