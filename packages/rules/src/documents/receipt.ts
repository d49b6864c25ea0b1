/** Finds what a receipt took: the total that was paid, after it was rounded. */
import type { Candidate, Page } from "./candidates.ts"
import type { Guess } from "./guess.ts"
import { hundredthsOf } from "./values.ts"

/** Labels of other amounts, and those of a tax where nothing says that it is included. */
const others =
  /sub|qty|quantity|items?\b|disc|sav(?:e|ing)|excl|before|change|tender|point|rounding(?! *total)|included/
const tax = /gst|tax|vat|mwst/
/** The heading of a table of taxes. */
const summary = /(?:gst|tax|vat|mwst).{0,8}(?:summary|analysis|details|code)/
/** Labels of totals, the surest first. */
const totals: ReadonlyArray<readonly [pattern: RegExp, score: number]> = [
  [/round.{0,6}total|total.{0,20}round|after round|round(?:ed)? ?(?:amt|amount)/, 97],
  [/grand ?total|nett? ?(?:total|amt|amount)|total.{0,8}(?:due|payable|incl)|(?:amount|balance) due|zu zahlen/, 94],
  [/total sales|^\W*(?:total|summe|gesamt|totaal)\b/, 90],
  [/total|summe|gesamt|\btl\b/, 80],
  [/amount|amt|paid/, 58]
]
const RULE = "receipt_total"
/** Amounts that are weighed, the last ones, and letters of a label: a page may be made to be slow. */
const MAX_AMOUNTS = 200
const MAX_LABEL = 80
const cash = /\bcash\b|tender|bar\b|gegeben/
const change = /change|rück(?:geld)?|balance/

/** An amount with the words of its line, or of the line above where it has none. */
const labelled = ({ candidates, lines }: Page): ReadonlyArray<{ readonly one: Candidate; readonly label: string }> => {
  const table = lines.findIndex((line) => line.some(({ text }) => summary.test(text.toLowerCase())))
  return candidates
    .filter(({ kind, segment }) => kind === "amount" && (table < 0 || segment.line < table))
    .slice(-MAX_AMOUNTS)
    .map((one) => {
      const { segment } = one
      const line = lines[segment.line]!
      const before = line.filter(({ x }) => x < segment.x).map(({ text }) => text)
      const own = [...before, segment.text.slice(0, one.from)].join(" ").slice(-MAX_LABEL).toLowerCase()
      const above =
        lines[segment.line - 1]
          ?.map(({ text }) => text)
          .join(" ")
          .slice(-MAX_LABEL) ?? ""
      const isAlone = !/\p{L}{3}/u.test(own) && !/\d[.,]\d\d/.test(above)
      return { one, label: isAlone ? `${above.toLowerCase()} ${own}` : own }
    })
}

/** The total of a receipt; null where no label says it. What was given less the change speaks for it. */
export const receiptTotal = (page: Page): Guess | null => {
  const amounts = labelled(page)
  const of = (pattern: RegExp): ReadonlyArray<number> =>
    amounts.filter(({ label }) => pattern.test(label)).map(({ one }) => hundredthsOf(one.value))
  const given = of(cash)
  const paid = new Set(of(change).flatMap((back) => given.filter((all) => all > back).map((all) => all - back)))
  const ranked = amounts
    .flatMap(({ label, one }) => {
      const cents = hundredthsOf(one.value)
      if (cents <= 0) return []
      const isOther = others.test(label) || (tax.test(label) && !label.includes("incl"))
      const found = isOther ? undefined : totals.find(([pattern]) => pattern.test(label))
      const isPaid = paid.has(cents)
      if (found === undefined) return []
      return [{ one, label, isPaid, score: Math.min(99, found[1] + (isPaid ? 12 : 0)) }]
    })
    .sort((a, b) => b.score - a.score || b.one.segment.line - a.one.segment.line)
  const [labelledBest] = ranked
  if (labelledBest === undefined) return null
  // Where cash is rounded to five cents, the rounded amount is printed too, not always with a label.
  const cents = hundredthsOf(labelledBest.one.value)
  const rounded = 5 * Math.round(cents / 5)
  const other = rounded === cents ? undefined : amounts.find(({ one }) => hundredthsOf(one.value) === rounded)
  const best = other === undefined ? labelledBest : { ...labelledBest, ...other, isPaid: paid.has(rounded) }
  const next = ranked.find(({ one }) => one.value !== best.one.value)
  return {
    ...best.one,
    rule: RULE,
    label: best.label.slice(0, 60).trim(),
    score: best.score,
    margin: best.score - (next?.score ?? 0),
    arithmetic: paid.size === 0 ? null : best.isPaid
  }
}

/**
 * The most for a field of a receipt, in thousandths: what was right of labelled receipts. The table was fitted on
 * invoices.
 */
export const mostOnReceipt = (name: string, { arithmetic, rule }: Guess): number => {
  if (name === "company") return 890
  if (name !== "total") return 980
  return rule !== RULE ? 550 : arithmetic === true ? 970 : 890
}
