/** Recomputes the threshold of a breaker that good runs set. Spec: decision 0075. */
import { calibrate } from "../../breakers/calibration.ts"
import type { BreakerDocument } from "../../breakers/document.ts"
import { breakerOfBody } from "../../breakers/fold.ts"
import type { Metric } from "../../breakers/metric.ts"
import { metricOf } from "../../breakers/metrics.ts"
import { partMembers } from "../../records/part-json.ts"
import type { Json, ReplayRecord } from "../../records/record.ts"
import type { KeptDecisions } from "../kept-decisions.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Judges the record that arms or changes a breaker. `before`: the breaker that was changed, where it is known. */
export const judgeCalibration = (
  record: ReplayRecord,
  before: BreakerDocument | null,
  decisions: KeptDecisions,
  fromGenesis: boolean
): Problem | null => {
  const { body, kind, parts } = record
  const breaker = breakerOfBody(body, null)
  const { goodRuns, maxFalseStopBp, metric: name, params } = breaker
  const wrong = (reason: string): Problem => problem("breaker_value_mismatch", reason)
  if (kind === "breaker.changed") {
    const isSame = before === null || calibrationOf(before) === calibrationOf(breaker)
    return isSame ? null : wrong("A threshold that runs set, and these runs, are not changed.")
  }
  if ((body["good_runs"] === undefined) !== (body["max_false_stop_bp"] === undefined))
    return wrong("A bound on false stops has good runs, and good runs have a bound.")
  if (goodRuns === undefined || maxFalseStopBp === undefined) return null
  const metric = metricOf(name)
  if (metric === null) return problem("withheld", `This version does not know the metric ${name}.`)
  if (metric.perRun === undefined || params["per"] !== "run") return wrong(`${name} reads no runs singly.`)
  if (goodRuns.toSeq > Number(body["as_of_seq"])) return wrong("The range of good runs ends behind the record.")
  const part = partMembers(parts.get("good_runs"))
  if (part.state !== "known") return problem("withheld", "Which runs of the range do not count is not shown.")
  const except = part.members["except"]
  if (!isNames(except)) return wrong("The part lists no runs.")
  const records = decisions.around(breaker.agentId, goodRuns, Number(body["as_of_seq"]), fromGenesis)
  if (records === null)
    return { ...problem("withheld", "The good runs lie further back than replay keeps decisions."), because: "budget" }
  const work = calibrate(metric, params, records, { ...goodRuns, except }, maxFalseStopBp)
  let step = work.next()
  while (step.done !== true) step = work.next()
  const { runs, threshold } = step.value
  if (runs !== goodRuns.runs) return wrong(`The range has ${runs} good runs; the record says ${goodRuns.runs}.`)
  return threshold === thresholdOf(metric, breaker)
    ? null
    : wrong(`The good runs set ${metric.perRun.threshold} to ${threshold}; the record says another.`)
}

const thresholdOf = ({ perRun }: Metric, { params }: BreakerDocument) => params[perRun!.threshold]

/** The members of a breaker that are fixed once runs set its threshold; the parameters are not, where none did. */
const calibrationOf = ({ goodRuns, maxFalseStopBp, params }: BreakerDocument): string =>
  maxFalseStopBp === undefined ? "" : JSON.stringify([maxFalseStopBp, goodRuns, Object.entries(params).toSorted()])

const isNames = (value: Json | undefined): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")
