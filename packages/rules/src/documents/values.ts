/** Dates, amounts and currencies in text, in the forms of several countries. */

/** A value in a text, with its place. */
export interface Found {
  readonly value: string
  readonly from: number
  readonly to: number
  /** ISO 4217, where it stands beside an amount. */
  readonly currency?: string
}

const months: ReadonlyArray<RegExp> = [
  /^(jan|janv|janu?ari|januar|jänner|janvier|january|gen|ene)/,
  /^(feb|f[ée]v)/,
  /^(mar(?!ts)|mär|mrz|maart|mrt|maerz|mars)/,
  /^(apr|avr|abr)/,
  /^(may|mai|mei|mag)/,
  /^(jun|juin|giu)/,
  /^(jul|juil|lug)/,
  /^(aug|ao[uû]t|ago)/,
  /^(sep|set)/,
  /^(oct|okt|ott)/,
  /^(nov)/,
  /^(dec|dez|d[ée]c|dic)/
]
const monthOf = (word: string): number => months.findIndex((month) => month.test(word.toLowerCase())) + 1

const numericDate = /(?<![\d.,/-])(\d{1,4})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})(?![\d/-]|[.,]\d)/g
const month = `((?:${[
  "jan|jän|gen|ene|feb|fév|fev|mar|mär|mrz|maa|mrt|apr|avr|abr|may|mai|mei|mag|jun|jui|giu|jul|lug|aug|aou|aoû|ago",
  "sep|set|oct|okt|ott|nov|dec|dez|déc|dic"
].join("|")})\\p{L}{0,7})`
const dayFirst = new RegExp(
  `(?<![\\d.,])(\\d{1,2})(?:st|nd|rd|th|er)?[.\\s-]+(?:de |of )?${month}\\.?,?[\\s-]+(\\d{4}|\\d{2}\\b)`,
  "giu"
)
const monthFirst = new RegExp(`(?<!\\p{L})${month}\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?\\s?,?\\s+(\\d{4})(?!\\d)`, "giu")

const iso = (year: number, month: number, day: number): string | null => {
  const whole = year < 100 ? 2000 + year : year
  if (whole < 1980 || whole > 2099 || month < 1 || month > 12 || day < 1 || day > 31) return null
  const pad = (value: number): string => String(value).padStart(2, "0")
  return `${whole}-${pad(month)}-${pad(day)}`
}

/** Dates in a text. `monthFirst`: how `03/04/2020` is read. */
export const datesIn = (text: string, american: boolean): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const add = (match: RegExpExecArray, value: string | null): void => {
    if (value !== null) found.push({ value, from: match.index, to: match.index + match[0].length })
  }
  for (const match of text.matchAll(numericDate)) {
    const [first, second, third] = [Number(match[1]), Number(match[3]), Number(match[4])]
    if (match[1]!.length === 4) add(match, match[4]!.length === 2 ? iso(first, second, third) : null)
    else if (match[1]!.length > 2) continue
    else if (second > 12 || (american && match[2] !== "." && first <= 12)) add(match, iso(third, first, second))
    else add(match, iso(third, second, first))
  }
  for (const match of text.matchAll(dayFirst)) add(match, iso(Number(match[3]), monthOf(match[2]!), Number(match[1])))
  for (const match of text.matchAll(monthFirst)) add(match, iso(Number(match[3]), monthOf(match[1]!), Number(match[2])))
  return found.sort((a, b) => a.from - b.from)
}

/** True where the numeric dates of a text can only be read with the month first. */
export const isAmerican = (text: string): boolean => {
  let [american, other] = [0, 0]
  for (const [, first, , second] of text.matchAll(numericDate)) {
    if (first!.length > 2) continue
    if (Number(second) > 12) american += 1
    else if (Number(first) > 12) other += 1
  }
  return american > other || (american === other && /\$|\bUSD\b/.test(text) && !/€|\bEUR\b/.test(text))
}

const signs: { readonly [sign: string]: string } = { "€": "EUR", "£": "GBP", $: "USD", "₹": "INR", "¥": "JPY" }
const words: { readonly [word: string]: string } = {
  US$: "USD",
  A$: "AUD",
  C$: "CAD",
  CA$: "CAD",
  "RS.": "INR",
  RS: "INR",
  RM: "MYR",
  EURO: "EUR",
  EUROS: "EUR"
}
const codes = "EUR|USD|GBP|CHF|INR|JPY|AUD|CAD|SEK|NOK|DKK|PLN|CZK|MYR|SGD|CNY|HUF|NZD|ZAR|BRL|RON"
const currency = `(?:US\\$|CA\\$|[AC]\\$|[€£$₹¥]|\\b(?:${codes}|RM|Euros?|Rs\\.?)(?![\\p{L}]))`
const number = "\\d{1,3}(?:[.,'’ ]\\d{2,3})+[.,]\\d{2}|\\d+[.,]\\d{2}|[1-9]\\d{0,2}(?:[.,'’]\\d{3})+|\\d+"
const amount = new RegExp(
  `(?<![\\d.,/\\p{L}-])([-−–]\\s?)?(${currency})?\\s?([-−–]\\s?)?(?<![\\d.,])(${number})` +
    `(?![\\d/]|[.,]\\d)(?:\\s?(${currency}))?([-−])?(?!\\s?%|\\p{L})`,
  "giu"
)

/** ISO 4217 of a sign or a word; null for none. */
export const currencyOf = (text: string | undefined): string | null => {
  if (text === undefined) return null
  const upper = text.trim().toUpperCase()
  return signs[upper] ?? words[upper] ?? (new RegExp(`^(?:${codes})$`).test(upper) ? upper : null)
}

/** Currencies in a text, each as often as it stands there. */
export const currenciesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(currency, "giu"))].flatMap(([sign]) => currencyOf(sign) ?? [])

/** Amounts in a text: with cents, or with a currency beside them. */
export const amountsIn = (text: string): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  for (const match of text.matchAll(amount)) {
    const [all, minus, before, inner, digits, after, behind] = match
    const unit = currencyOf(before) ?? currencyOf(after)
    const cents = /[.,](\d{2})$/.exec(digits!)
    if (cents === null && unit === null) continue
    if (
      unit === null &&
      /^\d{1,2}[.,]\d{2}$/.test(digits!) &&
      /^\s?(?:uhr|h\b)/i.test(text.slice(match.index + all.length))
    )
      continue
    const whole = (cents === null ? digits! : digits!.slice(0, -3)).replace(/\D/g, "")
    if (whole.length > 12) continue
    const negative = minus !== undefined || inner !== undefined || behind !== undefined
    const value = `${negative ? "-" : ""}${Number(whole)}.${cents?.[1] ?? "00"}`
    const lead = all.length - all.trimStart().length
    found.push({
      value,
      from: match.index + lead,
      to: match.index + all.length,
      ...(unit === null ? {} : { currency: unit })
    })
  }
  return found
}

/** An amount in hundredths. */
export const hundredthsOf = (value: string): number => Math.round(Number(value) * 100)
