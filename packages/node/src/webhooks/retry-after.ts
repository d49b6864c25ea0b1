/** `Retry-After` of an answer. Spec: RFC 9110 section 10.2.3. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
/** Unit: milliseconds. Nobody is waited for longer: 31 days. */
const MAX_MS = 31 * 24 * 60 * 60 * 1_000

const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
const LONG_WEEKDAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
const MONTH = "(?<month>[A-Z][a-z]{2})"
const TIME = String.raw`(?<time>\d{2}:\d{2}:\d{2})`

const DATES: ReadonlyArray<RegExp> = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d{2}) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${LONG_WEEKDAY}, (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`)
]

/**
 * The delay that the answer requests.
 *
 * - Unit: milliseconds from `nowMs`, 0 to 31 days. A moment that is over is 0.
 * - Shape: whole seconds (a fraction, which some send, is rounded up) or one of the three dates of RFC 9110.
 * - Answers null for anything else.
 */
export const retryAfterMs = (value: string | null, nowMs: number): number | null => {
  if (value === null || value.length > 64) return null
  const text = value.trim()
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Math.min(Math.ceil(Number(text)) * 1_000, MAX_MS)
  const atMs = httpDate(text, nowMs)
  return atMs === null ? null : Math.min(Math.max(atMs - nowMs, 0), MAX_MS)
}

const httpDate = (text: string, nowMs: number): number | null => {
  const found = DATES.map((pattern) => pattern.exec(text)?.groups).find((groups) => groups !== undefined)
  if (found === undefined) return null
  const month = MONTHS.indexOf(found["month"]!)
  const [hour, minute, second] = found["time"]!.split(":").map(Number)
  const day = Number(found["day"])
  const year = found["year"]!.length === 2 ? fullYear(Number(found["year"]), nowMs) : Number(found["year"])
  if (month < 0 || day < 1 || day > 31 || hour! > 23 || minute! > 59 || second! > 60) return null
  return Date.UTC(year, month, day, hour, minute, second)
}

/** Two digits that lie more than 50 years ahead are of the century before. */
const fullYear = (digits: number, nowMs: number): number => {
  const now = new Date(nowMs).getUTCFullYear()
  const year = now - (now % 100) + digits
  return year > now + 50 ? year - 100 : year
}
