/**
 * Evaluating an envelope of twenty rules, with the check of every signal and the full trace, against the same rules as
 * hand-written JavaScript and in other engines; its analysis; evaluating records again. Design section 6.
 */
import { diff } from "../packages/envelope/src/analysis/diff/diff.ts"
import { lint } from "../packages/envelope/src/analysis/lint/lint.ts"
import { compile } from "../packages/envelope/src/compile/compile.ts"
import { decide, prepare, type Situation } from "../packages/envelope/src/decide/decide.ts"
import type { Decision } from "../packages/envelope/src/decide/decision.ts"
import { readEnvelope } from "../packages/envelope/src/language/read-envelope.ts"
import { compareRivals } from "./envelopes-rivals/compare.ts"
import { areInstalled, howToInstall } from "./envelopes-rivals/engines.ts"
import { evaluateAgain } from "./envelopes-again.ts"
import { textLines } from "./envelopes-texts.ts"
import { changedJson, envelopeJson, handWritten, type Input, inputsFrom } from "./envelopes-set.ts"
import { recomputeInMemory } from "./replay/in-memory.ts"
import { absolute, alternate, type Benchmark, figure, type Line, median, quantile, timed } from "./harness.ts"

const CHECKED = 20_000
const CYCLED = 4_096
const PER_ROUND = 200_000
const ROUNDS = 9
const SINGLE_CALLS = 200_000
const ANALYSES = 200
const SEED = 20_261_122

const { combination } = compile([readEnvelope(envelopeJson).envelope!])
const ready = prepare(combination!)
const agent = { id: "agt_1", orgUnit: "fin", isActive: true }
const latches: ReadonlySet<string> = new Set()
const windows: Situation["windows"] = () => ({ value: 0, count: 0 })
const evaluate = ({ caller, server }: Input): Decision =>
  decide(ready, { signals: caller, runId: null }, { kill: "none", agent, server, latches, windows, approved: false })

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "envelopes",
  about:
    `20 rules, 8 signals, ${CYCLED} inputs in turn; equal outcomes and rules on ${CHECKED} inputs are ` +
    "required before anything is timed",
  run: async (say) => {
    const seen = new Map<string, number>()
    for (const input of inputsFrom(SEED, CHECKED)) {
      const [ours, expected] = [evaluate(input), handWritten(input)]
      if (ours.outcome !== expected.outcome || ours.matchedRule !== expected.rule)
        throw new Error(
          `The envelope says ${ours.outcome} by ${ours.matchedRule}, the hand-written rules ` +
            `${expected.outcome} by ${expected.rule}, of ${JSON.stringify(input)}.`
        )
      seen.set(expected.rule, (seen.get(expected.rule) ?? 0) + 1)
    }
    if (seen.size !== envelopeJson.rules.length + 1)
      throw new Error(`Only ${seen.size} of 21 verdicts came up: the inputs prove too little.`)
    say(
      `${CHECKED} inputs: equal outcomes and rules, every rule decided at least ${Math.min(...seen.values())} of them`
    )
    const inputs = inputsFrom(SEED + 1, CYCLED)
    // A sum that is read, so that no call can be optimised away.
    let sum = 0
    const { limitMs, ratio, subjectMs } = await alternate(
      ROUNDS,
      () => {
        for (let i = 0; i < PER_ROUND; i++) sum += handWritten(inputs[i & (CYCLED - 1)]!).rule.length
      },
      () => {
        for (let i = 0; i < PER_ROUND; i++) sum += evaluate(inputs[i & (CYCLED - 1)]!).failedOn.length
      }
    )
    if (sum === 0) throw new Error("Nothing was evaluated.")
    const calls = Array.from({ length: SINGLE_CALLS }, (_, i) => {
      const startedAt = performance.now()
      sum += evaluate(inputs[i & (CYCLED - 1)]!).failedOn.length
      return (performance.now() - startedAt) * 1_000
    })
    const slower = figure(1 / ratio)
    const p99 = figure(quantile(calls, 0.99))
    const lines: ReadonlyArray<Line> = [
      {
        name: "evaluation, 20 rules, with signal check and full trace",
        value: figure((subjectMs * 1e6) / PER_ROUND),
        unit: "ns",
        limit: figure((limitMs * 1e6) / PER_ROUND),
        ratio: slower,
        goal: "at most 15 times hand-written",
        met: slower <= 15
      },
      {
        name: "one evaluation, p99",
        value: p99,
        unit: "us",
        ...absolute,
        goal: "under 5 us",
        met: p99 < 5
      },
      ...(await analysisLines()),
      ...(await textLines()),
      ...(await evaluateAgain(inputs, evaluate)),
      await recomputeInMemory()
    ]
    if (areInstalled())
      return [
        ...lines,
        ...(await compareRivals(
          combination!,
          inputsFrom(SEED, CHECKED),
          inputs,
          (input) => evaluate(input).failedOn.length,
          say
        ))
      ]
    say(howToInstall)
    return lines
  }
}

/** Lint, and diff with a version that has three rules otherwise. The median of many: what comes first compiles code. */
const analysisLines = async (): Promise<ReadonlyArray<Line>> => {
  const { compiled } = combination!
  const changed = compile([readEnvelope(changedJson).envelope!]).combination!.compiled
  if (diff(compiled, changed).transitions.length < 3 || lint(compiled).findings.length === 0)
    throw new Error("The analysis found too little.")
  const line = async (name: string, body: () => unknown): Promise<Line> => {
    const times: Array<number> = []
    for (let i = 0; i < ANALYSES; i++) times.push(await timed(body))
    const value = figure(median(times.slice(ANALYSES / 2)))
    return { name, value, unit: "ms", ...absolute, goal: "under 2 ms", met: value < 2 }
  }
  return [
    await line("lint of 20 rules, every question", () => lint(compiled)),
    await line("diff of 20 rules, three of them changed", () => diff(compiled, changed))
  ]
}
