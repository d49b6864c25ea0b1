import { assert, describe, it } from "@effect/vitest"
import { pooledEntropy } from "./entropy.ts"

describe("pooled entropy", () => {
  it("gives as many bytes as requested, across the end of the pool too", () => {
    const { bytes } = pooledEntropy()
    for (const n of [0, 1, 31, 65_500, 40, 200_000]) assert.strictEqual(bytes(n).length, n)
  })

  it("never gives the same bytes twice, and no zeros that were left behind", () => {
    const { bytes } = pooledEntropy()
    const seen = Array.from({ length: 5000 }, () => Buffer.from(bytes(32)).toString("hex"))
    assert.strictEqual(new Set(seen).size, 5000)
    assert.isTrue(seen.every((hex) => !hex.includes("0".repeat(24))))
  })

  it("keeps no copy of what it gave", () => {
    const { bytes } = pooledEntropy()
    const given = bytes(16)
    given.fill(0)
    const next = bytes(16)
    assert.notDeepEqual(given, next)
    assert.notStrictEqual(given.buffer, next.buffer)
  })
})
