/** `token_burn`: tokens that an agent, or one of its runs, used. */
import { GroupedWindow } from "../grouped.ts"
import { type Metric, windowMs } from "../metric.ts"
import { tokensOf, Usage, usageKinds } from "../usage.ts"

/** The metric. */
export const tokenBurn: Metric = {
  name: "token_burn",
  about:
    "Input and output tokens of decisions: of the agent, or with `per` `run` of the run that used most. A settlement " +
    "adds what it states beyond its decision.",
  trips: "at `cap_tokens` and above",
  params: {
    window_ms: windowMs,
    cap_tokens: { type: "integer", min: 1, max: Number.MAX_SAFE_INTEGER },
    per: { type: "word", words: ["agent", "run"], default: "agent" }
  },
  kinds: usageKinds,
  perRun: { threshold: "cap_tokens", beyond: 1 },
  // A settlement in the window reads what its decision stated up to a window earlier.
  reachMs: (params) => 2 * Number(params["window_ms"]),
  start: (params) => {
    const windowLength = Number(params["window_ms"])
    const cap = BigInt(params["cap_tokens"]!)
    const window = new GroupedWindow()
    const usage = new Usage(windowLength, tokensOf)
    return {
      add: (record) => {
        const used = usage.take(record)
        if (used !== null) window.add(record.seq, record.atMs, params["per"] === "run" ? used.run : "", used.amount)
      },
      read: ({ ms, seq }) => {
        const { fromSeq, samples, sum, toSeq } = window.within(ms, windowLength, seq)
        return { value: String(sum), samples, tripped: sum >= cap, fromSeq, toSeq }
      },
      forget: (beforeMs) => {
        window.forget(beforeMs - windowLength)
        // A record that the window still holds may settle a decision of up to a window before it.
        usage.forget(beforeMs - 2 * windowLength)
      }
    }
  }
}
