/**
 * Evaluating records again: the rule step of recomputation, with parsed records in memory. Signals checked, outcome,
 * rule and trace compared.
 */
import type { Decision } from "../packages/envelope/src/decide/decision.ts"
import type { Input } from "./envelopes-set.ts"
import { absolute, figure, type Line, median, timed } from "./harness.ts"

const ROUNDS = 7
const REPEATS = 25
/** Unit: evaluations a second. */
const GOAL = 500_000

interface Recorded {
  readonly signals: Input["caller"]
  readonly tier: number
  readonly outcome: string
  readonly matched_rule: string
  readonly trace: ReadonlyArray<number>
}

/** Two lines: how many a second from parsed records, and from their JSON. */
export const evaluateAgain = async (
  inputs: ReadonlyArray<Input>,
  evaluate: (input: Input) => Decision
): Promise<ReadonlyArray<Line>> => {
  const records = inputs.map((input) => {
    const { failedOn, matchedRule, outcome } = evaluate(input)
    return JSON.stringify({
      signals: input.caller,
      tier: input.server.tier,
      outcome,
      matched_rule: matchedRule,
      trace: failedOn
    })
  })
  const parsed = records.map((record): Recorded => JSON.parse(record))
  const isSame = ({ matched_rule, outcome, signals, tier, trace }: Recorded): boolean => {
    const again = evaluate({ caller: signals, server: { tier } })
    return (
      again.outcome === outcome &&
      again.matchedRule === matched_rule &&
      again.failedOn.length === trace.length &&
      again.failedOn.every((failed, i) => failed === trace[i])
    )
  }
  if (!parsed.every(isSame) || isSame({ ...parsed[0]!, trace: parsed[0]!.trace.map((failed) => failed + 1) }))
    throw new Error("A record is not what evaluating it again says, or a changed one is.")
  const rateOf = async (again: () => void): Promise<number> => {
    const times: Array<number> = []
    for (let round = 0; round < ROUNDS + 2; round++)
      times.push(
        await timed(() => {
          for (let i = 0; i < REPEATS; i++) again()
        })
      )
    return figure(((REPEATS * records.length) / median(times.slice(2))) * 1_000)
  }
  const line = (what: string, rate: number): Line => ({
    name: `evaluations made again ${what} and compared, one core`,
    value: rate,
    unit: "evaluations/s",
    ...absolute,
    goal: `over ${GOAL}`,
    met: rate > GOAL
  })
  const refuse = (): never => {
    throw new Error("A record changed.")
  }
  return [
    line(
      "from parsed records",
      await rateOf(() => {
        for (const record of parsed) if (!isSame(record)) refuse()
      })
    ),
    line(
      "from records as JSON text, parsed each time,",
      await rateOf(() => {
        for (const record of records) if (!isSame(JSON.parse(record))) refuse()
      })
    )
  ]
}
