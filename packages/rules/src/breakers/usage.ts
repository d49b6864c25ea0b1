/**
 * Adds up usage of decisions, tokens or cost, as witnessed and settled. A settlement counts by what it states beyond
 * what its decision stated, so that nothing counts twice.
 */
import type { JsonMap } from "../records/record.ts"
import type { MetricRecord } from "./metric.ts"

/** Amount that a record adds, and the run it adds to. */
export interface Used {
  readonly amount: number
  readonly run: string
}

/** Kinds of records with usage. */
export const usageKinds: ReadonlyArray<string> = ["decision.witnessed", "decision.settled"]

/** Remembers what decisions stated until they are settled, or a window has passed. */
export class Usage {
  readonly #stated = new Map<number, Used & { readonly atMs: number }>()
  readonly #windowMs: number
  readonly #amountOf: (usage: { readonly [name: string]: unknown }) => number

  /** `windowMs`: a settlement that comes later than this counts whole. Unit: milliseconds. */
  constructor(windowMs: number, amountOf: (usage: { readonly [name: string]: unknown }) => number) {
    this.#windowMs = windowMs
    this.#amountOf = amountOf
  }

  /** Takes a record, and answers what it adds; null where it states no usage. */
  take({ atMs, body, kind, seq }: MetricRecord): Used | null {
    const usage = body["usage"]
    const amount = typeof usage === "object" && usage !== null ? this.#amountOf(usage as JsonMap) : 0
    if (kind === "decision.witnessed") {
      const used = { amount, run: typeof body["run_id"] === "string" ? body["run_id"] : "" }
      // One that ended will not be settled.
      if (body["status"] === "intended") this.#stated.set(seq, { ...used, atMs })
      return amount > 0 ? used : null
    }
    if (kind !== "decision.settled") return null
    const decision = Number(body["decision_seq"])
    const stated = this.#stated.get(decision)
    this.#stated.delete(decision)
    const isKnown = stated !== undefined && atMs - stated.atMs < this.#windowMs
    const more = isKnown ? Math.max(0, amount - stated.amount) : amount
    return more > 0 ? { amount: more, run: isKnown ? stated.run : "" } : null
  }

  /** Drops decisions that were witnessed at or before a time. */
  forget(beforeMs: number): void {
    for (const [seq, { atMs }] of this.#stated) {
      if (atMs > beforeMs) return
      this.#stated.delete(seq)
    }
  }
}

/** Input and output tokens of a usage. */
export const tokensOf = (usage: { readonly [name: string]: unknown }): number =>
  Math.min(Number.MAX_SAFE_INTEGER, count(usage["input_tokens"]) + count(usage["output_tokens"]))

/** Cost of a usage in millionths of a dollar. */
export const costOf = (usage: { readonly [name: string]: unknown }): number => count(usage["cost_micro_usd"])

const count = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) ? value : 0)
