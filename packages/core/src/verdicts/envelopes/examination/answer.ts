/** Answers questions about envelopes and behaviour. Pure, and without Effect: a thread for it starts fast. */
import { fromUtf8, inOneGo, portableCrypto, type Slices } from "@flyball/evidence"
import {
  changeOf,
  checkPlan,
  extractFields,
  modelQuestion,
  readProblem,
  routingMatrix,
  solveRoutes
} from "@flyball/rules"
import { comparePublication, readEnvelope, recordedInputs } from "@flyball/envelope"
import { fit, type Fitted, lintRead, readLayer, test } from "./examine.ts"
import { historyOf } from "./history-json.ts"
import {
  type Answers,
  IN_PLACE_SEARCH_MS,
  inPlaceLimits,
  type Kind,
  type Limits,
  type Questions,
  type Surroundings
} from "./questions.ts"

/** Answers one question within `limits`. */
export const answer = <K extends Kind>(question: Question<K>, limits: Limits): Answers[K] =>
  inOneGo(answerInSlices(question, limits))

/** Answers one question within `limits`, in slices. Of the answers about envelopes each is one slice. */
export const answerInSlices = <K extends Kind>({ about, kind }: Question<K>, limits: Limits): Slices<Answers[K]> =>
  answering[kind](about, limits)

interface Question<K extends Kind> {
  readonly kind: K
  readonly about: Questions[K]
}

const oneSlice = <K extends Kind>(act: (about: Questions[K], limits: Limits) => Answers[K]) =>
  function* (about: Questions[K], limits: Limits): Slices<Answers[K]> {
    return act(about, limits)
  }

const answering: { readonly [K in Kind]: (about: Questions[K], limits: Limits) => Slices<Answers[K]> } = {
  change: (question) => changeOf(question, portableCrypto.sha256),
  routes: oneSlice<"routes">(({ bytes, maxMs, seed, stop }, limits) => {
    const problem = readProblem(JSON.parse(fromUtf8(bytes)!))!
    const matrix = routingMatrix(problem.distances)
    const found = solveRoutes(problem, matrix, {
      seed,
      maxMs: limits.nodes === inPlaceLimits.nodes ? Math.min(maxMs, IN_PLACE_SEARCH_MS) : maxMs,
      now: () => performance.now(),
      stop: () => Atomics.load(stop, 0) === 1
    })
    return { ...found, fault: checkPlan(problem, matrix, found.plan) }
  }),
  fields: oneSlice<"fields">(({ document, own, requested, said }) => {
    const found = extractFields(document, requested, said)
    return own === undefined ? found : { ...found, question: modelQuestion(document, found.type, own) }
  }),
  lint: oneSlice<"lint">(({ acknowledged, history, json, surroundings }, limits) =>
    lintRead(fit(json, surroundings), surroundings, historyOf(history), acknowledged, limits)
  ),
  diff: oneSlice<"diff">(({ before, history, json, surroundings }, limits) => {
    const reading = fit(json, surroundings)
    if (reading.fitted === null) return { unfit: lintRead(reading, surroundings, null, [], limits).findings }
    return { report: compared(before, surroundings, reading.fitted, historyOf(history), limits) }
  }),
  backtest: oneSlice<"backtest">(({ history, json, meters, surroundings }, limits) => {
    const reading = fit(json, surroundings)
    if (reading.fitted === null) return { unfit: lintRead(reading, surroundings, null, [], limits).findings }
    return { backtest: test(reading.fitted, historyOf(history), meters) }
  }),
  publish: oneSlice<"publish">(({ acknowledged, before, history, json, surroundings }, limits) => {
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
  })
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
