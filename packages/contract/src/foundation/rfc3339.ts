/** Reads RFC 3339 times with any offset. Spec: api.md, Conventions: inputs take any offset, outputs are UTC. */

const FORM = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,32}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/**
 * The time as `YYYY-MM-DDTHH:MM:SS.mmmZ`; null when the text is no real instant of the years 0000 to 9998: a day may
 * be added to what is kept. What is finer than a millisecond is cut off, and a leap second, 23:59:60 in UTC, is the
 * second after it. Spec: RFC 3339; api.md, Conventions and "Small things decided".
 */
export const parseRfc3339 = (text: string): string | null => {
  const match = FORM.exec(text)
  if (match === null) return null
  const shift = match[8]
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60)
    return null
  const ms = (match[7] ?? "").padEnd(3, "0").slice(0, 3)
  // Most times come in UTC: no calendar arithmetic then.
  if (shift === undefined && second < 60)
    return year > MAX_YEAR ? null : `${text.slice(0, 10)}T${text.slice(11, 19)}.${ms}Z`
  const offsetHour = Number(match[9] ?? 0)
  const offsetMinute = Number(match[10] ?? 0)
  if (offsetHour > 23 || offsetMinute > 59) return null
  const time = new Date(0)
  time.setUTCFullYear(year, month - 1, day)
  time.setUTCHours(hour, minute, second, Number(ms))
  const shifted = new Date(time.getTime() - (offsetHour * 60 + offsetMinute) * 60_000 * (shift === "-" ? -1 : 1))
  const inDay = shifted.getUTCHours() + shifted.getUTCMinutes() + shifted.getUTCSeconds()
  if (second === 60 && inDay > 0) return null
  return shifted.getUTCFullYear() < 0 || shifted.getUTCFullYear() > MAX_YEAR ? null : shifted.toISOString()
}

/** Times of later years are refused. */
const MAX_YEAR = 9_998

const daysIn = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31
