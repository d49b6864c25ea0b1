import type { Decision } from "../../decide/decision.ts"
import { decide, type Ready } from "../../decide/decide.ts"
import type { ReadWindow } from "../../meters/meter-reading.ts"
import type { NotReplayable, RecordedEvaluation } from "./recorded-evaluation.ts"
import { countAsLeast, countAsMost, NotRecorded, recordedWindows } from "./recorded-windows.ts"

/**
 * Asks a draft about one recorded evaluation: the same signals, server state and latches, with the windows given.
 *
 * Signals that the envelope in force declared and the draft does not are left out. One that it declares and the
 * envelope in force did not makes the record not replayable, even where the draft has a value for absence: nobody knows
 * what the agent would have sent. So does one of the service that the records do not tell any more. Arguments were
 * there whatever the envelope in force read of them.
 */
export const replayOne = (
  draft: Ready,
  evaluation: RecordedEvaluation,
  windows: ReadWindow
): Decision | NotReplayable => {
  const { actor, approved, args, declared, latches, server, signals, stoppedBy, unreported } = evaluation
  if (stoppedBy !== null) return `stopped:${stoppedBy}`
  if (signals === null) return "withheld"
  const { meters, signals: known } = draft.combination
  const given = known.filter(({ source }) => source !== "args")
  if (args === null && given.length < known.length) return "withheld"
  const unknown = given.find(({ name, source }) =>
    declared === null
      ? source !== "latch" && (source === "caller" ? signals : server)[name] === undefined
      : !declared.signals.has(name)
  )
  if (unknown !== undefined) return `signal_not_recorded:${unknown.name}`
  const lost = known.find(({ name, source }) => source === "server" && unreported.includes(name))
  if (lost !== undefined) return `server_signal_not_recorded:${lost.name}`
  if (unreported.includes("org_unit") && meters.some(({ key }) => key.includes("org_unit")))
    return "org_unit_not_recorded"
  const names = new Set(known.map(({ name }) => name))
  // What neither declares was sent all the same, and is refused again.
  const strange =
    declared === null ? [] : Object.entries(signals).filter(([name]) => !declared.signals.has(name) && !names.has(name))
  const sent = Object.fromEntries([
    ...known.flatMap(({ name, source }) =>
      source === "caller" && signals[name] !== undefined ? [[name, signals[name]] as const] : []
    ),
    ...strange
  ])
  const agent = { id: actor.agentId, orgUnit: actor.orgUnit, isActive: true }
  return decide(
    draft,
    { signals: sent, args, runId: actor.runId },
    { kill: "none", agent, server, latches, windows, approved }
  )
}

/**
 * The same with the windows that the record has.
 *
 * It has their sums, and of their counts as much as its verdict tells. Where the draft would say another thing of the
 * least and of the greatest count there may have been, the record is not replayable.
 */
export const replayRecorded = (draft: Ready, evaluation: RecordedEvaluation): Decision | NotReplayable => {
  try {
    const open: Array<string> = []
    const least = replayOne(draft, evaluation, recordedWindows(evaluation, countAsLeast, open))
    if (open.length === 0 || typeof least === "string") return least
    const most = replayOne(draft, evaluation, recordedWindows(evaluation, countAsMost))
    return typeof most !== "string" && most.outcome === least.outcome ? least : `meter_count:${open[0]!}`
  } catch (error) {
    if (error instanceof NotRecorded) return `meter_not_recorded:${error.message}`
    throw error
  }
}

/**
 * The point of the draft's grid at which the evaluation lies, with the sums that the record has: no rule reads counts.
 */
export const pointOfRecord = (draft: Ready, evaluation: RecordedEvaluation): Float64Array | null => {
  try {
    const result = replayOne(draft, evaluation, recordedWindows(evaluation, countAsLeast))
    return typeof result === "string" || result.stopped !== null ? null : draft.point
  } catch (error) {
    if (error instanceof NotRecorded) return null
    throw error
  }
}
