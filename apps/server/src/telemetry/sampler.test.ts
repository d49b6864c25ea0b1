import { assert, describe, it } from "vitest"
import { type SamplerName, samplerOf, samplers } from "./sampler.ts"

const low = `${"f".repeat(19)}${"0".repeat(13)}`
const high = `${"0".repeat(19)}${"f".repeat(13)}`

/**
 * For each sampler with ratio 0.5: a low and a high id without a parent, then with one that is not kept and one that
 * is.
 */
const expected: { readonly [name in SamplerName]: readonly [boolean, boolean, boolean, boolean] } = {
  always_on: [true, true, true, true],
  always_off: [false, false, false, false],
  traceidratio: [true, false, true, false],
  parentbased_always_on: [true, true, false, true],
  parentbased_always_off: [false, false, false, true],
  parentbased_traceidratio: [true, false, false, true]
}

describe("samplers", () => {
  it.each(samplers)("%s", (name) => {
    const sampler = samplerOf(name, 0.5)
    assert.deepStrictEqual(
      [sampler(low, null), sampler(high, null), sampler(low, false), sampler(high, true)],
      [...expected[name]]
    )
  })

  it("keep none by the ratio 0 and all by the ratio 1", () => {
    for (const traceId of [low, high]) {
      assert.isFalse(samplerOf("traceidratio", 0)(traceId, null))
      assert.isTrue(samplerOf("traceidratio", 1)(traceId, null))
    }
  })
})
