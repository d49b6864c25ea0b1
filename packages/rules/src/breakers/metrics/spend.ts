/** `spend`: what evaluations added to one meter, with what settlements said instead. */
import type { Json } from "../../records/record.ts"
import { Amounts } from "../amounts.ts"
import { type Metric, type MetricRecord, windowMs } from "../metric.ts"

/** Outcomes that add to meters. */
const letsThrough = (outcome: Json | undefined): boolean => outcome === "allow" || outcome === "allow_with_notice"

/** The metric. */
export const spend: Metric = {
  name: "spend",
  about:
    "The sum that evaluations which allowed an action added to the meter `meter` of an envelope. A settlement " +
    "with an amount replaces what its evaluation added, and a void removes it.",
  trips: "at `cap` and above",
  params: {
    meter: { type: "name", max: 64 },
    window_ms: windowMs,
    cap: { type: "integer", min: 1, max: Number.MAX_SAFE_INTEGER }
  },
  kinds: ["evaluation.made", "decision.settled", "meter.voided"],
  reachMs: (params) => Number(params["window_ms"]),
  start: (params) => {
    const meter = params["meter"]
    const windowLength = Number(params["window_ms"])
    const cap = BigInt(params["cap"]!)
    const amounts = new Amounts()
    /** By the record of the evaluation, in order: where its amount is. */
    const reserved = new Map<number, { readonly position: number; readonly atMs: number; amount: number }>()
    const replace = (evaluationSeq: number, seq: number, amount: number): void => {
      const one = reserved.get(evaluationSeq)
      if (one === undefined) return
      amounts.replace(one.position, seq, one.amount, amount)
      one.amount = amount
    }
    const add = ({ atMs, body, kind, seq }: MetricRecord): void => {
      if (kind === "evaluation.made" && letsThrough(body["outcome"])) {
        const amount = sumOf(body["meters"], "id", meter)
        if (amount !== null) reserved.set(seq, { position: amounts.add(seq, atMs, amount), atMs, amount })
      }
      if (kind === "decision.settled") {
        const actual = sumOf(body["actual"], "meter", meter)
        if (actual !== null) replace(Number(body["evaluation_seq"]), seq, actual)
      }
      if (kind === "meter.voided") replace(Number(body["evaluation_seq"]), seq, 0)
    }
    return {
      add,
      read: ({ ms, seq }) => {
        const { range, sum } = amounts.within(ms, windowLength, seq)
        const samples = range.end - range.first
        return {
          value: String(sum),
          samples,
          tripped: sum >= cap,
          fromSeq: samples === 0 ? null : amounts.seqAt(range.first),
          toSeq: samples === 0 ? null : amounts.seqAt(range.end - 1)
        }
      },
      forget: (beforeMs) => {
        amounts.forget(beforeMs - windowLength)
        for (const [seq, { position }] of reserved) {
          if (position >= amounts.held.first) return
          reserved.delete(seq)
        }
      }
    }
  }
}

/** The amounts of a list that name this meter; null where none does. */
const sumOf = (list: Json | undefined, named: string, meter: unknown): number | null => {
  if (!Array.isArray(list)) return null
  let sum: number | null = null
  for (const one of list as ReadonlyArray<{ readonly [name: string]: Json }>) {
    const amount = one[named] === meter ? one["amount"] : undefined
    if (typeof amount === "number") sum = Math.min(Number.MAX_SAFE_INTEGER, (sum ?? 0) + amount)
  }
  return sum
}
