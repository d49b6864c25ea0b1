/** Instants as records write them: `YYYY-MM-DDTHH:MM:SS.mmmZ`. Spec: format 1 section 1. */

/** Milliseconds of 0000-01-01T00:00:00.000Z, the first instant that has a form. */
export const FIRST_INSTANT_MS = -62_167_219_200_000
/** Milliseconds of 9999-12-31T23:59:59.999Z, the last. */
export const LAST_INSTANT_MS = 253_402_300_799_999

/**
 * The 24 characters of an instant.
 *
 * - Unit: milliseconds since 1970 UTC, an integer in years 0000 to 9999; anything else throws `RangeError`.
 * - Spec: format 1 section 1.
 */
export const formatInstant = (ms: number): string => {
  if (!(Number.isInteger(ms) && ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS)) {
    throw new RangeError(`An instant is a whole number of milliseconds in the years 0000 to 9999; this is ${ms}.`)
  }
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastDay) {
    lastDay = day
    lastDayText = dayText(day)
  }
  const rest = ms - day * DAY_MS
  const hour = Math.floor(rest / 3_600_000)
  const minute = Math.floor(rest / 60_000) % 60
  const second = Math.floor(rest / 1000) % 60
  return `${lastDayText}T${pad2(hour)}:${pad2(minute)}:${pad2(second)}.${String(rest % 1000).padStart(3, "0")}Z`
}

const DAY_MS = 86_400_000
// Neighbouring records share their day.
let lastDay = Number.NaN
let lastDayText = ""

/** `YYYY-MM-DD` of a day since 1970. Years are counted from March, so that the leap day is the last of its year. */
const dayText = (day: number): string => {
  const fromMarchZero = day + DAYS_FROM_MARCH_ZERO_TO_1970
  const era = Math.floor(fromMarchZero / DAYS_OF_ERA)
  const dayOfEra = fromMarchZero - era * DAYS_OF_ERA
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  return `${String(year).padStart(4, "0")}-${pad2(month)}-${pad2(dayOfMonth)}`
}

/** Days of 400 years, after which the calendar repeats. */
const DAYS_OF_ERA = 146_097
const DAYS_FROM_MARCH_ZERO_TO_1970 = 719_468

const pad2 = (value: number): string => (value < 10 ? `0${value}` : String(value))

/**
 * Milliseconds of a 24-character instant; null unless it is exactly such a text and a day and time that exist (no leap
 * second). Spec: format 1 section 1.
 */
export const parseInstant = (text: string): number | null => {
  if (text.length !== 24) return null
  for (let i = 0; i < 24; i++) codes[i] = text.charCodeAt(i) < 128 ? text.charCodeAt(i) : 0
  const ms = instantAt(codes, 0)
  return Number.isNaN(ms) ? null : ms
}

const codes = new Uint8Array(24)

/**
 * Milliseconds of the instant whose 24 ASCII bytes start at `at`; NaN when it is none. Reads bytes only, for the
 * scanner.
 */
export const instantAt = (bytes: Uint8Array, at: number): number => {
  const century = two(bytes, at)
  const yearOfCentury = two(bytes, at + 2)
  const month = two(bytes, at + 5)
  const day = two(bytes, at + 8)
  const hour = two(bytes, at + 11)
  const minute = two(bytes, at + 14)
  const second = two(bytes, at + 17)
  const hundredths = two(bytes, at + 20)
  const thousandth = bytes[at + 22]! - 0x30
  if (
    bytes[at + 4] !== 0x2d ||
    bytes[at + 7] !== 0x2d ||
    bytes[at + 10] !== 0x54 ||
    bytes[at + 13] !== 0x3a ||
    bytes[at + 16] !== 0x3a ||
    bytes[at + 19] !== 0x2e ||
    bytes[at + 23] !== 0x5a ||
    century < 0 ||
    yearOfCentury < 0 ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    hour < 0 ||
    hour > 23 ||
    minute < 0 ||
    minute > 59 ||
    second < 0 ||
    second > 59 ||
    hundredths < 0 ||
    !(thousandth >= 0 && thousandth <= 9)
  )
    return Number.NaN
  const year = century * 100 + yearOfCentury
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (day > (month === 2 && leap ? 29 : daysOfMonth[month]!)) return Number.NaN
  return (
    (daysBefore(year, month, leap) + day - 1) * DAY_MS +
    hour * 3_600_000 +
    minute * 60_000 +
    second * 1000 +
    hundredths * 10 +
    thousandth
  )
}

const daysOfMonth = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const daysBeforeMonth = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
const daysFromYearZeroTo1970 = 719_528

/** Days from 1970-01-01 to the first of this month in the proleptic Gregorian calendar, where year 0 is a leap year. */
const daysBefore = (year: number, month: number, leap: boolean): number => {
  const past = year - 1
  const leapDays = year === 0 ? 0 : Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) + 1
  return year * 365 + leapDays + daysBeforeMonth[month]! + (leap && month > 2 ? 1 : 0) - daysFromYearZeroTo1970
}

/** Two decimal digits; negative when they are none. */
const two = (bytes: Uint8Array, at: number): number => {
  const high = bytes[at]! - 0x30
  const low = bytes[at + 1]! - 0x30
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : -1
}
