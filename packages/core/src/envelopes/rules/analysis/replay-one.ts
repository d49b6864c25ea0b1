import type { Decision } from "../decision.ts"
import { decide, type Ready } from "../decide.ts"
import type { ReadWindow, WindowState } from "../meter-reading.ts"
import type { Meter } from "../envelope.ts"
import type { NotReplayable, RecordedEvaluation } from "./recorded-evaluation.ts"

/**
 * Asks a draft about one recorded evaluation: the same signals, server state and latches, with the windows given.
 *
 * Signals that the draft does not declare are left out. One that it declares and the envelope in force did not makes the record not replayable, even where the draft has a value
 * for absence: nobody knows what the agent would have sent.
 */
export const replayOne = (draft: Ready, evaluation: RecordedEvaluation, windows: ReadWindow = recordedWindows(evaluation)): Decision | NotReplayable => {
  const { actor, approved, declared, latches, server, signals, stoppedBy } = evaluation
  if (stoppedBy !== null) return `stopped:${stoppedBy}`
  if (signals === null) return "withheld"
  const known = draft.combination.signals
  const unknown = known.find(({ name, source }) => (declared === null ? source !== "latch" && (source === "caller" ? signals : server)[name] === undefined : !declared.signals.has(name)))
  if (unknown !== undefined) return `signal_not_recorded:${unknown.name}`
  const sent = Object.fromEntries(known.flatMap(({ name, source }) => (source === "caller" && signals[name] !== undefined ? [[name, signals[name]]] : [])))
  const agent = { id: actor.agentId, orgUnit: actor.orgUnit, isActive: true }
  try {
    return decide(draft, { signals: sent, runId: actor.runId }, { kill: "none", agent, server, latches, windows, approved })
  } catch (error) {
    if (error instanceof MeterNotRecorded) return `meter_not_recorded:${error.message}`
    throw error
  }
}

/** Thrown by windows out of a record, and caught above. The message is the meter's id. */
class MeterNotRecorded extends Error {}

/** Windows as the record has them. A meter counts as recorded only where the envelope in force defined it alike. */
const recordedWindows = ({ declared, meters }: RecordedEvaluation): ReadWindow => (meter, key): WindowState => {
  const reading = meters.find((one) => one.id === meter.id && one.key === key)
  if (reading === undefined || !(declared?.meters.some((one) => sameMeter(one, meter)) ?? false)) throw new MeterNotRecorded(meter.id)
  return { value: reading.value, count: 0 }
}

/** Bounds apart: a sum is the same sum under another cap. */
const sameMeter = (one: Meter, other: Meter): boolean =>
  one.id === other.id && one.op === other.op && one.of === other.of && one.windowMs === other.windowMs && JSON.stringify([one.where, one.key]) === JSON.stringify([other.where, other.key])
