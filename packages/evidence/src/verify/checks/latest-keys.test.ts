/** Which keys are kept of many. */
import { describe, expect, it } from "vitest"
import { LatestKeys, MAX_LATEST } from "./latest-keys.ts"

const key = (n: number): Uint8Array => {
  const bytes = new Uint8Array(32).fill(7)
  new DataView(bytes.buffer).setUint32(28, n)
  return bytes
}
const numbers = (keys: LatestKeys): ReadonlyArray<number> =>
  keys.all().map((bytes) => new DataView(bytes.buffer).getUint32(28))
const range = (from: number, to: number): ReadonlyArray<number> => Array.from({ length: to - from }, (_, i) => from + i)

describe("the latest keys", () => {
  it("are those named last, each once, and report when one was dropped", () => {
    const keys = new LatestKeys()
    for (const n of range(0, MAX_LATEST)) expect(keys.add(key(n))).toBe(false)
    expect(numbers(keys)).toEqual(range(0, MAX_LATEST))
    for (const n of [0, 5, MAX_LATEST - 1]) expect(keys.add(key(n))).toBe(false)
    const named = [...range(0, MAX_LATEST).filter((n) => ![0, 5, MAX_LATEST - 1].includes(n)), 0, 5, MAX_LATEST - 1]
    expect(numbers(keys)).toEqual(named)
    expect(keys.add(key(1000))).toBe(true)
    expect(numbers(keys)).toEqual([...named.slice(1), 1000])
  })
})
