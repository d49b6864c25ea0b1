/** `kill_ack_missing`: how long an instance of the agent has not acknowledged an activation that stops it. */
import { denyingResponses } from "../../kill/response.ts"
import type { Metric } from "../metric.ts"

/** An activation that stops the agent. `acks`: by instance, the record that acknowledged; none while it is silent. */
interface Stopping {
  readonly seq: number
  readonly atMs: number
  readonly acks: Map<string, number>
  silent: number
  releasedSeq: number
  /** When it was released or the last instance answered. Unit: milliseconds since 1970 UTC. */
  endedAtMs: number
}

const NEVER = Number.POSITIVE_INFINITY

/** The metric. */
export const killAckMissing: Metric = {
  name: "kill_ack_missing",
  about:
    "Milliseconds since the oldest `drain`, `halt` or `quarantine` that an expected instance of the agent has " +
    "not acknowledged, for any target; 0 if there is none. Drills and released activations do not count.",
  trips: "above `max_ms`",
  params: { max_ms: { type: "integer", min: 1_000, max: 31_622_400_000, default: 30_000 } },
  kinds: ["kill.acknowledged", "kill.expected", "kill.released", "kill.stopped"],
  isAbsence: true,
  reachMs: () => 0,
  start: (params) => {
    /** In the order of their records. */
    const stopping = new Map<string, Stopping>()
    /** Answers to activations of which it is not known yet whom they expect. */
    const early = new Map<string, { readonly bySeq: Map<string, number>; atMs: number }>()
    const end = (one: Stopping, atMs: number): void => void (one.endedAtMs = Math.min(one.endedAtMs, atMs))
    return {
      add: ({ atMs, body, instances = [], kind, seq }) => {
        const id = String(body["activation_id"])
        if (kind === "kill.expected") {
          if (instances.length === 0 || body["drill"] !== undefined || !denyingResponses.has(String(body["response"])))
            return
          const answered = early.get(id)
          early.delete(id)
          const acks = new Map(instances.map((instance) => [instance, answered?.bySeq.get(instance) ?? NEVER]))
          const silent = [...acks.values()].filter((ack) => ack === NEVER).length
          stopping.set(id, { seq, atMs, acks, silent, releasedSeq: NEVER, endedAtMs: silent === 0 ? atMs : NEVER })
          return
        }
        const one = stopping.get(id)
        if (one === undefined) {
          if (kind === "kill.released") return
          const answered = early.get(id) ?? { bySeq: new Map<string, number>(), atMs }
          const instance = String(body["instance_id"])
          if (!answered.bySeq.has(instance)) answered.bySeq.set(instance, seq)
          early.set(id, { ...answered, atMs })
          return
        }
        if (kind === "kill.released") {
          one.releasedSeq = Math.min(one.releasedSeq, seq)
          end(one, atMs)
        } else if (kind === "kill.acknowledged" || kind === "kill.stopped") {
          const instance = String(body["instance_id"])
          if (one.acks.get(instance) !== NEVER) return
          one.acks.set(instance, seq)
          if (--one.silent === 0) end(one, atMs)
        }
      },
      read: ({ ms, seq }) => {
        let [oldest, latest, samples] = [null as Stopping | null, null as Stopping | null, 0]
        for (const one of stopping.values()) {
          if (one.seq > seq || one.releasedSeq <= seq) continue
          let silent = 0
          for (const ackSeq of one.acks.values()) if (ackSeq > seq) silent++
          if (silent === 0) continue
          oldest ??= one
          latest = one
          samples += silent
        }
        const age = oldest === null ? 0 : Math.max(0, ms - oldest.atMs)
        return {
          value: String(age),
          samples,
          tripped: age > Number(params["max_ms"]),
          fromSeq: oldest?.seq ?? null,
          toSeq: latest?.seq ?? null
        }
      },
      forget: (beforeMs) => {
        for (const [id, { endedAtMs }] of stopping) if (endedAtMs < beforeMs) stopping.delete(id)
        for (const [id, { atMs }] of early) if (atMs < beforeMs) early.delete(id)
      }
    }
  }
}
