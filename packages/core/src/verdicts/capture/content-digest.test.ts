import { concatBytes, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { contentDigest } from "../content/content-digest.ts"

const digest = (bodyText: string, ...parts: ReadonlyArray<readonly [string, string]>): string =>
  contentDigest(
    portableCrypto,
    bodyText,
    parts.map(([name, text]) => ({ name, bytes: utf8(text) }))
  )

describe("the digest of a decision's content", () => {
  it("is stored, so it never changes", () => {
    assert.strictEqual(digest("{}", ["args", "1"]), "a3828c490bc6f0b0880a4294ff4398db1735ca72858e8b543bbdabf373e38101")
  })

  it("differs with any piece, and with where one ends and the next begins", () => {
    const all = [
      digest("{}"),
      digest("{} "),
      digest("{}", ["args", "1"]),
      digest("{}", ["args", "2"]),
      digest("{}", ["result", "1"]),
      digest("{}", ["a", "rgs1"]),
      digest("{}", ["args", "1"], ["result", "1"]),
      digest("{}", ["args", "1result1"])
    ]
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("is what its definition says, at every length", () => {
    const length32 = (length: number): Uint8Array => Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length)
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("x".repeat(21_000), "ä".repeat(22_000), "y".repeat(65_600))
    )
    fc.assert(
      fc.property(texts, fc.array(fc.tuple(fc.string(), texts), { maxLength: 3 }), (bodyText, parts) => {
        const pieces = [
          utf8("flyball/v1 capture content"),
          utf8(bodyText),
          ...parts.flatMap(([name, text]) => [utf8(name), utf8(text)])
        ]
        assert.strictEqual(
          digest(bodyText, ...parts),
          toHex(portableCrypto.sha256(concatBytes(...pieces.flatMap((piece) => [length32(piece.length), piece]))))
        )
      }),
      { numRuns: 60, seed: 20_261_126 }
    )
  })

  it("tells a part that is absent from one that is null", () => {
    assert.notStrictEqual(digest("{}"), digest("{}", ["args", "null"]))
  })
})
