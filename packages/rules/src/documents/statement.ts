/** Fields of bank statements: opening balance, what was booked, closing balance, and whether the sum is right. */
import { type Page, scoreAll, type Scored } from "./candidates.ts"
import { type Guess, guessOf } from "./guess.ts"
import { hundredthsOf } from "./values.ts"

const period = /period|zeitraum|période|periode|from|vom|du|van|statement (?:of|for)|auszug/i

/** Guesses of the balances and the period. */
export const statementGuesses = (page: Page): { readonly [field: string]: Guess } => {
  const guesses: { [field: string]: Guess } = {}
  const scored = scoreAll(page, "amount")
  const best = (field: string): Scored | undefined =>
    scored
      .filter((one) => one.field === field)
      .map((one) => one.scored)
      .sort((a, b) => b.score - a.score)[0]
  const [opening, closing] = [best("opening_balance"), best("closing_balance")]
  const arithmetic = opening === undefined || closing === undefined ? null : agrees(page, opening, closing)
  if (opening !== undefined) guesses["opening_balance"] = { ...guessOf(opening, 20), arithmetic }
  if (closing !== undefined) guesses["closing_balance"] = { ...guessOf(closing, 20), arithmetic }
  const dates = page.candidates.filter(({ kind }) => kind === "date")
  const first = dates.find(({ from, segment }) => {
    const left = page.lines[segment.line]!.filter(({ x }) => x < segment.x)
      .map(({ text }) => text)
      .join(" ")
    return period.test(`${left} ${segment.text.slice(0, from)}`)
  })
  const second = dates.find(
    (date) => first !== undefined && date.segment.line === first.segment.line && date.value > first.value
  )
  if (first !== undefined && second !== undefined) {
    const scoredOf = (candidate: typeof first): Scored => ({ candidate, score: 90, place: "same", label: "period" })
    guesses["period_from"] = guessOf(scoredOf(first), 20)
    guesses["period_to"] = guessOf(scoredOf(second), 20)
  }
  return guesses
}

/** True where the amounts between the balances make the difference; the last amount of a line may be a balance. */
const agrees = (page: Page, opening: Scored, closing: Scored): boolean => {
  const [from, to] = [opening.candidate.segment.line, closing.candidate.segment.line]
  const booked = page.candidates.filter(
    ({ kind, segment }) => kind === "amount" && segment.line > from && segment.line < to
  )
  const sum = (values: ReadonlyArray<{ readonly value: string }>): number =>
    values.reduce((total, { value }) => total + hundredthsOf(value), 0)
  const difference = hundredthsOf(closing.candidate.value) - hundredthsOf(opening.candidate.value)
  const firsts = booked.filter(({ segment }, at) => booked[at - 1]?.segment.line !== segment.line)
  return sum(booked) === difference || sum(firsts) === difference
}
