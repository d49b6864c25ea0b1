import { assert, describe, it } from "@effect/vitest"
import { compareText, isStorable, maxTextBytes } from "./text.ts"

const texts = [
  "",
  "A",
  "a",
  "aa",
  "a\u0000",
  "é",
  "e\u0301",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "\u{10000}",
  "\u{10ffff}",
  "a\u{1f600}",
  "a\ufffd",
  "z",
  "日本"
]

describe("text as stores hold it", () => {
  it("is ordered as the bytes of its UTF-8", () => {
    for (const a of texts) {
      for (const b of texts) {
        assert.strictEqual(
          Math.sign(compareText(a, b)),
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
          `${JSON.stringify(a)} and ${JSON.stringify(b)}`
        )
      }
    }
  })

  it("has no U+0000, no lone surrogate, and at most 1,024 bytes", () => {
    for (const text of ["", "a", "é".repeat(512), "x".repeat(maxTextBytes), "😀".repeat(256)])
      assert.isTrue(isStorable(text))
    for (const text of [
      "\0",
      "a\0",
      "\ud800",
      "\udc00\ud800",
      "é".repeat(513),
      "x".repeat(maxTextBytes + 1),
      "日".repeat(342)
    ])
      assert.isFalse(isStorable(text))
  })
})
