/** `repeat_action`: how often the same action is requested: a loop that succeeds. */
import { GroupedWindow } from "../grouped.ts"
import { type Metric, windowMs } from "../metric.ts"

/** The metric. */
export const repeatAction: Metric = {
  name: "repeat_action",
  about:
    "How often evaluations allowed the same action, by `action_digest`; the most repeated one counts. " +
    "Evaluations " +
    "without a digest do not count.",
  trips: "above `max_identical`",
  params: { window_ms: windowMs, max_identical: { type: "integer", min: 1, max: 1_000_000 } },
  kinds: ["evaluation.made"],
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const window = new GroupedWindow()
    return {
      add: ({ atMs, body, kind, seq }) => {
        const digest = body["action_digest"]
        if (
          kind === "evaluation.made" &&
          typeof digest === "string" &&
          (body["outcome"] === "allow" || body["outcome"] === "allow_with_notice")
        )
          window.add(seq, atMs, digest, 1)
      },
      read: ({ ms, seq }) => {
        const { fromSeq, samples, sum, toSeq } = window.within(ms, windowLength, seq)
        return {
          value: String(sum),
          samples,
          tripped: sum > BigInt(params["max_identical"]!),
          fromSeq,
          toSeq
        }
      },
      forget: (beforeMs) => window.forget(beforeMs - windowLength)
    }
  }
}
