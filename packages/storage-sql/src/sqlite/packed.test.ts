import { assert, describe, it } from "vitest"
import { PackReader, PackWriter, Scratch } from "./packed.ts"

describe("packed values", () => {
  it("round-trip unchanged, even when the buffer grows in between", () => {
    const texts = ["", "plain", "Grüße", "\ud83d\ude00".repeat(2000)]
    const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => index)
    const out = new PackWriter(0)
    out.u8(255)
    for (const text of texts) out.text(text)
    out.bytes(bytes)
    out.u32(0xffff_ffff)
    out.f64(Number.MAX_SAFE_INTEGER)
    out.raw(bytes.subarray(0, 3))
    out.hex32("0f".repeat(32))
    const from = new PackReader(out.finish().buffer)
    assert.equal(from.u8(), 255)
    for (const text of texts) assert.equal(from.text(), text)
    assert.deepEqual(from.bytes(), bytes)
    assert.equal(from.u32(), 0xffff_ffff)
    assert.equal(from.f64(), Number.MAX_SAFE_INTEGER)
    assert.deepEqual(from.raw(3), bytes.subarray(0, 3))
    assert.equal(from.hex32(), "0f".repeat(32))
  })

  it("are wiped from a buffer that is replaced by a larger one", () => {
    const scratch = new Scratch(4_096)
    scratch.buffer.fill(0)
    const out = new PackWriter(100, scratch)
    out.raw(new Uint8Array(32).fill(7))
    out.text("name@example.org")
    out.text("x".repeat(3_000))
    assert.equal(out.finish().length, 32 + 20 + 3_004)
    assert.deepEqual(new Set(scratch.buffer), new Set([0]))
  })
})
