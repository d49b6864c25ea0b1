/** `heartbeat_missing`: how long an active agent has been silent. */
import type { Metric } from "../metric.ts"
import { firstAbove } from "../series.ts"

/** Kinds of records that an agent causes itself. */
const signs: ReadonlyArray<string> = [
  "capture.gap",
  "decision.settled",
  "decision.witnessed",
  "evaluation.made",
  "kill.acknowledged",
  "kill.stopped"
]

/** The metric. */
export const heartbeatMissing: Metric = {
  name: "heartbeat_missing",
  about:
    "Milliseconds since the last record that the agent caused: a decision, a settlement, a gap, an evaluation, an " +
    "acknowledgement. It trips while the agent is active.",
  trips: "above `max_silence_ms`",
  params: { max_silence_ms: { type: "integer", min: 1_000, max: 31_622_400_000 } },
  kinds: signs,
  isAbsence: true,
  reachMs: () => 0,
  start: (params, start) => {
    const seqs = [start.seq]
    const times = [start.atMs]
    return {
      add: ({ atMs, kind, seq }) => {
        if (!signs.includes(kind)) return
        // A window that was carried over begins with its first sign.
        if (times[0]! > atMs) seqs.length = times.length = 0
        seqs.push(seq)
        times.push(atMs)
      },
      read: ({ ms, seq }, { isActive }) => {
        const last = Math.max(0, firstAbove(seqs, seq) - 1)
        const silence = Math.max(0, ms - times[last]!)
        const isSign = seqs[last] !== start.seq
        return {
          value: String(silence),
          samples: isSign ? 1 : 0,
          tripped: isActive && silence > Number(params["max_silence_ms"]),
          fromSeq: isSign ? seqs[last]! : null,
          toSeq: isSign ? seqs[last]! : null
        }
      },
      forget: (beforeMs) => {
        const old = Math.min(firstAbove(times, beforeMs) - 1, times.length - 1)
        if (old < 32) return
        seqs.splice(0, old)
        times.splice(0, old)
      }
    }
  }
}
