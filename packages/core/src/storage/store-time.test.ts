import { LAST_INSTANT_MS } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { instantMs, LAST_STORE_MS, plannedTimeMs, storeTimeMs, timeProblem } from "./store-time.ts"

describe("the store's time", () => {
  it("ends where instants of format 1 end", () => assert.strictEqual(LAST_STORE_MS, LAST_INSTANT_MS))

  it("is the clock's in whole milliseconds, and never before the newest record's", () => {
    assert.deepStrictEqual(
      [storeTimeMs(7.9, null), storeTimeMs(7.9, { atMs: 3 }), storeTimeMs(7.9, { atMs: 9 })],
      [7, 7, 9]
    )
  })

  it("is planned with no later than a record can say", () => {
    assert.deepStrictEqual([instantMs(5), instantMs(LAST_STORE_MS + 1)], [5, LAST_STORE_MS])
    assert.deepStrictEqual(
      [plannedTimeMs(1, { atMs: LAST_STORE_MS + 1 }), plannedTimeMs(LAST_STORE_MS + 1, null)],
      [LAST_STORE_MS, LAST_STORE_MS]
    )
  })

  it("is refused past the year 9999, and says whether the clock or the newest record is past it", () => {
    assert.isNull(timeProblem(LAST_STORE_MS + 0.5, { atMs: LAST_STORE_MS }))
    assert.match(
      timeProblem(LAST_STORE_MS + 1, null)!,
      /^the clock is at 253402300800000 ms since 1970, past the year 9999/
    )
    assert.match(
      timeProblem(1, { atMs: LAST_STORE_MS + 1 })!,
      /^the newest record is of 253402300800000 ms since 1970, .*restore a backup/
    )
  })
})
