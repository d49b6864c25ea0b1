/** `review_backlog`: how many reviews of an agent wait for people. */
import type { Metric, MetricRecord } from "../metric.ts"

/** The longest that a review waits: the longest time that an envelope can set. Unit: milliseconds. */
const LONGEST_MS = 366 * 86_400_000

/** A review that opened, and where it ended; null while it waits. */
interface Waiting {
  readonly id: string
  readonly seq: number
  readonly untilMs: number
  endSeq: number | null
  endMs: number | null
}

/** The metric. */
export const reviewBacklog: Metric = {
  name: "review_backlog",
  about: "Reviews that wait for people. Expired ones do not count.",
  trips: "above `max_open`",
  params: { max_open: { type: "integer", min: 1, max: 10_000 } },
  kinds: ["review.cancelled", "review.expired", "review.opened", "review.resolved"],
  reachMs: () => LONGEST_MS,
  start: (params) => {
    let waiting: Array<Waiting> = []
    const byId = new Map<string, Waiting>()
    return {
      add: ({ atMs, body, kind, seq }: MetricRecord) => {
        const id = String(body["review_id"])
        if (kind === "review.opened") {
          const one: Waiting = { id, seq, untilMs: Number(body["expires_at_ms"]), endSeq: null, endMs: null }
          waiting.push(one)
          byId.set(id, one)
        } else if (kind !== "review.resolved" || body["ends"] === true) {
          const one = byId.get(id)
          if (one !== undefined && one.endSeq === null) Object.assign(one, { endSeq: seq, endMs: atMs })
        }
      },
      read: ({ ms, seq }) => {
        const open = waiting.filter(
          (one) => one.seq <= seq && one.untilMs > ms && (one.endSeq === null || one.endSeq > seq)
        )
        return {
          value: String(open.length),
          samples: open.length,
          tripped: open.length > Number(params["max_open"]),
          fromSeq: open[0]?.seq ?? null,
          toSeq: open.at(-1)?.seq ?? null
        }
      },
      forget: (beforeMs) => {
        waiting = waiting.filter(({ endMs, id, untilMs }) => {
          const isKept = (endMs ?? untilMs) >= beforeMs
          if (!isKept) byId.delete(id)
          return isKept
        })
      }
    }
  }
}
