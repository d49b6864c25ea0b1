import { decodeId, encodeId } from "@flyball/evidence"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { eventIdAfter, eventRandom } from "./ids.ts"

const numberOf = (id: string): bigint => decodeId("evt_", id)!.reduce((value, byte) => value * 256n + BigInt(byte), 0n)
const bytesOf = (number: bigint): Uint8Array =>
  Uint8Array.from({ length: 16 }, (_, at) => Number((number >> BigInt(8 * (15 - at))) & 255n))
const entropy = fc.oneof(
  fc.uint8Array({ minLength: 10, maxLength: 10 }),
  fc.integer({ min: 0, max: 10 }).map((zeros) => new Uint8Array(10).fill(255, zeros))
)

describe("ids of events", () => {
  it("are the time and what is random, or the number behind the last one where that is not below them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), entropy), { minLength: 1, maxLength: 30 }),
        fc.constantFrom(0, 1_795_219_200_123, 2 ** 48 - 5),
        (events, fromMs) => {
          let last: string | null = null
          for (const [afterMs, random] of events) {
            const id = eventIdAfter(last, fromMs + afterMs, eventRandom(random))
            const own: bigint = random.reduce((value, byte) => value * 256n + BigInt(byte), BigInt(fromMs + afterMs))
            const expected: bigint = last === null || own > numberOf(last) ? own : numberOf(last) + 1n
            assert.equal(id, encodeId("evt_", bytesOf(expected)))
            last = id
          }
        }
      ),
      { numRuns: 500, seed: 20_261_126 }
    )
  })

  it.each([
    "evt_7",
    `evt_7${"z".repeat(26)}`,
    `foo_${"9".repeat(26)}`,
    `evt_9${"z".repeat(25)}`,
    `evt_7${"z".repeat(25)}`,
    `evt_7${"z".repeat(24)}u`
  ])("do not follow what no store makes: %s", (last) => {
    assert.throws(() => eventIdAfter(last, 0, eventRandom(new Uint8Array(10))), RangeError)
  })
})
