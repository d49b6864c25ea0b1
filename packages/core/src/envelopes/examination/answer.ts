/** Answers questions about envelopes. Pure, and without Effect: a thread for it starts fast. */
import { beyondOutcomes, withNotes } from "../rules/analysis/beyond-outcomes.ts"
import { longerNotice } from "../rules/analysis/longer-notice.ts"
import { unitsOf } from "../rules/analysis/render/names.ts"
import { readEnvelope } from "../rules/read-envelope.ts"
import { budgetsOf, combinationOf, compare, fit, type Fitted, lintRead, test } from "./examine.ts"
import { historyOf } from "./history-json.ts"
import type { Answers, Kind, Limits, Questions, Surroundings } from "./questions.ts"
import { withAgents } from "./with-agents.ts"

/** Answers one question, as far as `limits` go. */
export const answer = <K extends Kind>({ about, kind }: { readonly kind: K; readonly about: Questions[K] }, limits: Limits): Answers[K] => answering[kind](about, limits)

const answering: { readonly [K in Kind]: (about: Questions[K], limits: Limits) => Answers[K] } = {
  lint: ({ acknowledged, history, json, surroundings }, limits) => lintRead(fit(json, surroundings), surroundings, historyOf(history), acknowledged, limits),
  diff: ({ before, history, json, surroundings }, limits) => {
    const reading = fit(json, surroundings)
    if (reading.fitted === null) return { unfit: lintRead(reading, surroundings, null, [], limits).findings }
    return { report: compared(before, surroundings, reading.fitted, historyOf(history), limits) }
  },
  backtest: ({ history, json, meters, surroundings }, limits) => {
    const reading = fit(json, surroundings)
    if (reading.fitted === null) return { unfit: lintRead(reading, surroundings, null, [], limits).findings }
    return { backtest: test(reading.fitted, historyOf(history), meters) }
  },
  publish: ({ acknowledged, before, history, json, surroundings }, limits) => {
    const reading = fit(json, surroundings)
    const recorded = historyOf(history)
    const lint = lintRead(reading, surroundings, recorded, acknowledged, limits)
    if (!lint.publishable || reading.fitted === null) return { lint, found: null }
    return { lint, found: { report: compared(before, surroundings, reading.fitted, recorded, limits), backtest: test(reading.fitted, recorded, "recorded") } }
  }
}

const compared = ({ layers, own }: Questions["diff"]["before"], surroundings: Surroundings, later: Fitted, history: ReturnType<typeof historyOf>, limits: Limits) => {
  const earlier = combinationOf(layers)
  const beside = beyondOutcomes(compare(earlier, later, history, limits), own === null ? null : readEnvelope(own).envelope, later.envelope)
  const notices = longerNotice(earlier, later.floored, budgetsOf(limits, earlier, later.floored), unitsOf(later.envelope))
  return withAgents(withNotes(beside, notices), { layers, own }, later.envelope, surroundings, limits)
}
