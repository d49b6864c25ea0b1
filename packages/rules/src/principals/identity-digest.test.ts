import { assert, describe, it } from "vitest"
import { identityDigest } from "./identity-digest.ts"

describe("the look-up key of a principal", () => {
  it("differs for each pair of issuer and subject, even when their concatenation is the same", () => {
    const all = [
      identityDigest("a", "bc"),
      identityDigest("ab", "c"),
      identityDigest("", "abc"),
      identityDigest("abc", ""),
      identityDigest("a", "bC")
    ]
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(identityDigest("https://id.example", "ada"), identityDigest("https://id.example", "ada"))
  })
})
