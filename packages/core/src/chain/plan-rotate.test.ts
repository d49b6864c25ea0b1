import { assert, describe, it } from "@effect/vitest"
import { checkBody, noteSigner, portableCrypto } from "@flyball/evidence"
import { Result } from "effect"
import { type KeySince, vkeyAt, vkeysToSign } from "./keys/chain-keys.ts"
import { planRotate } from "./plan-rotate.ts"

const vkey = (digit: number): string =>
  noteSigner(portableCrypto, { name: "flyball.example/test", seed: new Uint8Array(32).fill(digit) }).vkey
const [a, b, c] = [vkey(1), vkey(2), vkey(3)]
const keys: ReadonlyArray<KeySince> = [
  { vkey: a, seq: 0 },
  { vkey: b, seq: 7 }
]

describe("planning a rotation", () => {
  it("appends a record of the catalogue that names both keys, once for the key that goes", () => {
    const { records } = Result.getOrThrow(planRotate(portableCrypto, keys, { current: b, next: c }))
    assert.deepStrictEqual(
      records!.map(({ body, kind, parts }) => ({ body, kind, parts })),
      [{ kind: "key.rotated", body: { from_key_id: b.split("+")[1]!, to_vkey: c }, parts: [] }]
    )
    assert.isNull(checkBody("key.rotated", records![0]!.body))
    assert.deepInclude(records![0]!.once, { scope: "key.rotated", key: b })
    const other = Result.getOrThrow(planRotate(portableCrypto, keys, { current: b, next: vkey(4) })).records![0]!.once!
    assert.deepStrictEqual(
      [other.key === b, other.digest === records![0]!.once!.digest],
      [true, false],
      "another next key is a conflict"
    )
  })

  it.each<[string, { readonly current: string; readonly next: string | null }, RegExp]>([
    ["away from a key that is not the current one", { current: a, next: c }, /the key here is .*start again/i],
    ["to no key", { current: b, next: null }, /no next key/],
    ["back to an earlier key", { current: b, next: a }, /is never used again/],
    ["to itself", { current: b, next: b }, /is never used again/]
  ])("refuses one %s", (_name, held, sentence) => {
    const planned = planRotate(portableCrypto, keys, held)
    assert.isTrue(Result.isFailure(planned))
    if (Result.isFailure(planned)) assert.match(planned.failure.message, sentence)
  })
})

describe("who signs a checkpoint", () => {
  const twice: ReadonlyArray<KeySince> = [...keys, { vkey: c, seq: 9 }]

  it.each<[number, number, ReadonlyArray<string>]>([
    [0, 1, [a]],
    [0, 7, [a]],
    [5, 7, [a]],
    // Size 8 is the first that covers record 7.
    [7, 8, [a, b]],
    [0, 8, [a, b]],
    [7, 9, [a, b]],
    [8, 9, [b]],
    [9, 10, [b, c]],
    [8, 20, [b, c]],
    [7, 10, [a, b, c]],
    [10, 11, [c]]
  ])("after one of %i records, one of %i", (covered, size, expected) => {
    assert.deepStrictEqual(vkeysToSign(twice, covered, size), expected)
    assert.strictEqual(vkeyAt(twice, size), expected.at(-1))
  })

  it("of several keys in record 0 is the last", () => {
    assert.deepStrictEqual(
      vkeysToSign(
        [
          { vkey: a, seq: 0 },
          { vkey: b, seq: 0 }
        ],
        0,
        3
      ),
      [b]
    )
  })
})
