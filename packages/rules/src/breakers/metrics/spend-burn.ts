/** `spend_burn`: how fast a budget burns, over a long and a short window. */
import { Amounts } from "../amounts.ts"
import { type Metric, windowMs as length } from "../metric.ts"
import { costOf, Usage, usageKinds } from "../usage.ts"

/** The metric. */
export const spendBurn: Metric = {
  name: "spend_burn",
  about:
    "How many times faster than `budget` per `period_ms` allows `usage.cost_micro_usd` of decisions adds up, in " +
    "hundredths of a percent: the smaller of the rates over `long_ms` and `short_ms`, so that both must exceed.",
  trips: "at `burn_bp` and above",
  params: {
    budget: { type: "integer", min: 1, max: Number.MAX_SAFE_INTEGER },
    period_ms: length,
    long_ms: { ...length, default: 3_600_000 },
    short_ms: { ...length, default: 300_000 },
    burn_bp: { type: "integer", min: 1, max: 1_000_000_000, default: 144_000 }
  },
  kinds: usageKinds,
  // A settlement in the window reads what its decision stated up to a window earlier.
  reachMs: (params) => 2 * Math.max(Number(params["long_ms"]), Number(params["short_ms"])),
  start: (params) => {
    const [longMs, shortMs] = [Number(params["long_ms"]), Number(params["short_ms"])]
    const windowMs = Math.max(longMs, shortMs)
    const [budget, period] = [BigInt(params["budget"]!), BigInt(params["period_ms"]!)]
    const amounts = new Amounts()
    const usage = new Usage(windowMs, costOf)
    const rate = (sum: bigint, lengthMs: number): bigint => (sum * period * 10_000n) / (budget * BigInt(lengthMs))
    return {
      add: (record) => {
        const used = usage.take(record)
        if (used !== null) amounts.add(record.seq, record.atMs, used.amount)
      },
      read: ({ ms: atMs, seq }) => {
        const long = amounts.within(atMs, longMs, seq)
        const short = amounts.within(atMs, shortMs, seq)
        const [longRate, shortRate] = [rate(long.sum, longMs), rate(short.sum, shortMs)]
        const burn = longRate < shortRate ? longRate : shortRate
        const { end, first } = longMs < shortMs ? short.range : long.range
        return {
          value: String(burn),
          samples: end - first,
          tripped: burn >= BigInt(params["burn_bp"]!),
          fromSeq: end === first ? null : amounts.seqAt(first),
          toSeq: end === first ? null : amounts.seqAt(end - 1)
        }
      },
      forget: (beforeMs) => {
        amounts.forget(beforeMs - windowMs)
        // A record that the window still holds may settle a decision of up to a window before it.
        usage.forget(beforeMs - 2 * windowMs)
      }
    }
  }
}
