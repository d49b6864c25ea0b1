import { describe, expect, it } from "vitest"
import { FIRST_INSTANT_MS, formatInstant, LAST_INSTANT_MS, parseInstant } from "./instant.ts"

describe("instants", () => {
  it("parse what they format, at the ends and in between", () => {
    const step = Math.floor((LAST_INSTANT_MS - FIRST_INSTANT_MS) / 9973)
    for (let ms = FIRST_INSTANT_MS; ms <= LAST_INSTANT_MS; ms += step) {
      expect(formatInstant(ms)).toBe(new Date(ms).toISOString())
      expect(parseInstant(formatInstant(ms))).toBe(ms)
    }
    for (let day = Date.UTC(1996, 0, 1); day < Date.UTC(2005, 0, 1); day += 86_400_000)
      expect(formatInstant(day + 999)).toBe(new Date(day + 999).toISOString())
    expect(formatInstant(FIRST_INSTANT_MS)).toBe("0000-01-01T00:00:00.000Z")
    expect(formatInstant(LAST_INSTANT_MS)).toBe("9999-12-31T23:59:59.999Z")
  })

  it("know every day of leap and common years", () => {
    for (const year of [0, 4, 100, 400, 1900, 1970, 1999, 2000, 2023, 2024, 2100, 9999]) {
      for (let month = 1; month <= 12; month++) {
        for (let day = 1; day <= 31; day++) {
          const padded = (value: number, length: number): string => String(value).padStart(length, "0")
          const text = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T12:34:56.789Z`
          const date = new Date(text)
          const real = date.getUTCDate() === day
          expect([text, parseInstant(text)]).toEqual([text, real ? date.getTime() : null])
        }
      }
    }
  })

  it.each([
    "2026-02-29T00:00:00.000Z",
    "2026-00-10T00:00:00.000Z",
    "2026-13-10T00:00:00.000Z",
    "2026-01-00T00:00:00.000Z",
    "2026-01-01T24:00:00.000Z",
    "2026-01-01T23:60:00.000Z",
    "2026-06-30T23:59:60.000Z",
    "2026-01-01 00:00:00.000Z",
    "2026-01-01T00:00:00.000z",
    "2026-01-01T00:00:00,000Z",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.000+00:00",
    "+002026-01-01T00:00:00.0",
    "2026-01-01T00:00:00.00 Z",
    "２026-01-01T00:00:00.000Z",
    ""
  ])("refuse %s", (text) => {
    expect(parseInstant(text)).toBeNull()
  })

  it("are whole milliseconds within four-digit years", () => {
    for (const ms of [FIRST_INSTANT_MS - 1, LAST_INSTANT_MS + 1, 0.5, Number.NaN, Infinity])
      expect(() => formatInstant(ms)).toThrow(RangeError)
  })
})
