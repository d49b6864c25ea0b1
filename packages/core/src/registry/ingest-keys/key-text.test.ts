import { createHash } from "node:crypto"
import { portableCrypto } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { isKeyText, keyDigest, keyText } from "./key-text.ts"

describe("the text of an ingest key", () => {
  it("has a known beginning, 43 more characters and no dot", () => {
    for (let byte = 0; byte < 256; byte++) {
      const key = keyText(new Uint8Array(32).fill(byte))
      assert.match(key, /^fbk_[A-Za-z0-9_-]{43}$/)
      assert.isTrue(isKeyText(key))
    }
  })

  it("is not any other token", () => {
    for (const token of [
      "",
      "fbk_",
      `fbk_${"a".repeat(42)}`,
      `fbk_${"a".repeat(44)}`,
      `fbk_${"a".repeat(42)}.`,
      `xbk_${"a".repeat(43)}`,
      `fbk_${"a".repeat(43)}\n`
    ]) {
      assert.isFalse(isKeyText(token), JSON.stringify(token))
    }
  })

  it("is looked up by its plain SHA-256, as the specification says", () => {
    assert.strictEqual(
      keyDigest(portableCrypto, "abc"),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    for (const byte of [0, 1, 254]) {
      const key = keyText(new Uint8Array(32).fill(byte))
      assert.strictEqual(keyDigest(portableCrypto, key), createHash("sha256").update(key).digest("hex"))
    }
  })
})
