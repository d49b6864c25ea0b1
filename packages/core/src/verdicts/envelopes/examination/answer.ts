/** Answers questions about envelopes. Pure, and without Effect: a thread for it starts fast. */
import { comparePublication, readEnvelope, recordedInputs } from "@flyball/envelope"
import { fit, type Fitted, lintRead, readLayer, test } from "./examine.ts"
import { historyOf } from "./history-json.ts"
import type { Answers, Kind, Limits, Questions, Surroundings } from "./questions.ts"

/** Answers one question within `limits`. */
export const answer = <K extends Kind>(
  { about, kind }: { readonly kind: K; readonly about: Questions[K] },
  limits: Limits
): Answers[K] => answering[kind](about, limits)

const answering: { readonly [K in Kind]: (about: Questions[K], limits: Limits) => Answers[K] } = {
  lint: ({ acknowledged, history, json, surroundings }, limits) =>
    lintRead(fit(json, surroundings), surroundings, historyOf(history), acknowledged, limits),
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
    return {
      lint,
      found: {
        report: compared(before, surroundings, reading.fitted, recorded, limits),
        backtest: test(reading.fitted, recorded, "recorded")
      }
    }
  }
}

const compared = (
  { layers, own }: Questions["diff"]["before"],
  { inner, outer }: Surroundings,
  { envelope, floored }: Fitted,
  history: ReturnType<typeof historyOf>,
  limits: Limits
) => {
  const distinct = [
    ...new Map(
      inner.flatMap((layer) => (layer.envelope === null ? [] : [[JSON.stringify(layer.envelope), layer] as const]))
    ).values()
  ]
  const sight = {
    before: layers.map(readLayer),
    own: own === null ? null : readEnvelope(own).envelope,
    outer: outer.map(readLayer),
    inner: distinct.map(readLayer)
  }
  return comparePublication(envelope, floored, sight, limits, recordedInputs(history.evaluations, floored)).report
}
