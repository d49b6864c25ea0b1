import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { retryAfterMs } from "./retry-after.ts"

interface Case {
  readonly value: string | null
  readonly expect?: null
  readonly expect_unix?: number
  readonly expect_delay_s?: number
}
const { cases } = JSON.parse(
  readFileSync(new URL("../../../../fixtures/vectors/webhooks/retry-after.json", import.meta.url), "utf8")
) as { readonly cases: ReadonlyArray<Case> }
const NOW = 1_445_412_000_000

describe("Retry-After", () => {
  test.each(cases)("vector $value", ({ expect_delay_s, expect_unix, value }) => {
    const wanted =
      expect_unix !== undefined
        ? expect_unix * 1_000 - NOW
        : expect_delay_s !== undefined
          ? expect_delay_s * 1_000
          : null
    expect(retryAfterMs(value, NOW)).toBe(wanted)
  })

  test.each([
    ["Wednesday, 21-Oct-15 07:28:00 GMT", 480_000],
    ["Wed Oct 21 07:28:00 2015", 480_000],
    ["Sun Nov  6 08:49:37 1994", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["0", 0],
    [" 7 ", 7_000],
    ["99999999999999999999999999", 2_678_400_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 2_678_400_000],
    ["-1", null],
    ["1e3", null],
    ["0x10", null],
    ["", null],
    ["Wed, 21 Oct 2015 07:28:00 PST", null],
    ["Wed, 21 Foo 2015 07:28:00 GMT", null],
    ["Wed, 21 Oct 2015 25:28:00 GMT", null],
    ["2015-10-21T07:28:00Z", null],
    ["1".repeat(65), null]
  ])("%j asks for %s ms", (value, wanted) => {
    expect(retryAfterMs(value, NOW)).toBe(wanted)
  })
})
