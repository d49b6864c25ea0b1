/** The other engines over the twenty rules: equal answers first, then in turn with ours. */
import type { Combination } from "../../packages/envelope/src/compile/compile.ts"
import { envelopeJson, handWritten, type Input } from "../envelopes-set.ts"
import { alternate, figure, type Line } from "../harness.ts"
import { type Answer, type Engine, engines, type Signals } from "./engines.ts"

const ROUNDS = 5
/** About how long a round takes, and how many calls it has at least. */
const ROUND_MS = 100
const LEAST_CALLS = 50

const signalsOf = ({ caller, server }: Input): Signals => ({ ...caller, ...server })

/** One line an engine. `ours` makes one evaluation of an input and answers a number, so that it cannot be left out. */
export const compareRivals = async (
  combination: Combination,
  checked: ReadonlyArray<Input>,
  timed: ReadonlyArray<Input>,
  ours: (input: Input) => number,
  say: (text: string) => void
): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  for (const engine of engines) lines.push(await compareOne(engine, combination, checked, timed, ours, say))
  return lines
}

const compareOne = async (
  engine: Engine,
  combination: Combination,
  checked: ReadonlyArray<Input>,
  timed: ReadonlyArray<Input>,
  ours: (input: Input) => number,
  say: (text: string) => void
): Promise<Line> => {
  const loaded = await engine.load(combination, envelopeJson)
  const startedAt = performance.now()
  for (const input of checked) {
    const expected = handWritten(input)
    const answer = await loaded(signalsOf(input))()
    if (answer.outcome !== expected.outcome || answer.rule !== expected.rule)
      throw new Error(
        `${engine.name} says ${answer.outcome} by ${answer.rule}, the hand-written rules ${expected.outcome} ` +
          `by ${expected.rule}, of ${JSON.stringify(input)}.`
      )
  }
  const calls = Math.max(LEAST_CALLS, Math.ceil((ROUND_MS * checked.length) / (performance.now() - startedAt)))
  say(`${engine.name}: ${checked.length} inputs, equal outcomes and rules; ${calls} calls a round`)
  const ready = timed.map((input) => loaded(signalsOf(input)))
  const isLater = ready[0]!() instanceof Promise
  let sum = 0
  const { limitMs, ratio, subjectMs } = await alternate(
    ROUNDS,
    async () => {
      if (isLater) for (let i = 0; i < calls; i++) sum += (await ready[i % ready.length]!()).rule.length
      else for (let i = 0; i < calls; i++) sum += atOnce(ready[i % ready.length]!()).rule.length
    },
    () => {
      for (let i = 0; i < calls; i++) sum += ours(timed[i % timed.length]!)
    }
  )
  if (sum === 0) throw new Error("Nothing was evaluated.")
  const times = figure(ratio)
  return {
    name: `ours, against ${engine.name} (${engine.does})`,
    value: figure((subjectMs * 1e6) / calls),
    unit: "ns",
    limit: figure((limitMs * 1e6) / calls),
    ratio: times,
    goal: "ahead of it",
    met: times > 1
  }
}

const atOnce = (answer: Answer | Promise<Answer>): Answer => {
  if (answer instanceof Promise) throw new Error("An engine answers now at once and now later.")
  return answer
}
