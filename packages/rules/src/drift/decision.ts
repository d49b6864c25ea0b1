/** A decision as drift reads it: members of the bodies of two records, which nobody can erase. Never a part. */
import type { JsonMap } from "../records/record.ts"

/** A witnessed decision with its outcome. */
export interface DriftDecision {
  readonly seq: number
  /** Of the record: 64 hex digits. */
  readonly hash: string
  /** Null: the writer names none. */
  readonly run: string | null
  readonly action: string
  readonly toolServer: string | null
  readonly kind: string
  readonly model: string | null
  /** Of the settlement, or else as witnessed. */
  readonly outcome: string
  readonly latencyMs: number | null
  readonly costMicroUsd: number | null
  /** Input and output. */
  readonly tokens: number | null
}

/** Reads a decision. `settled`: the body of its settlement, as far as that counts. */
export const driftDecision = (
  { body, hash, seq }: { readonly seq: number; readonly hash: string; readonly body: JsonMap },
  settled: JsonMap | null
): DriftDecision => {
  const usage = { ...mapOf(body["usage"]), ...mapOf(settled?.["usage"]) }
  const [input, output] = [numberOf(usage["input_tokens"]), numberOf(usage["output_tokens"])]
  return {
    seq,
    hash,
    run: textOf(body["run_id"]),
    action: String(body["action"]),
    toolServer: textOf(body["tool_server"]),
    kind: String(body["kind"]),
    model: textOf(body["model"]),
    outcome: String(settled?.["status"] ?? body["status"]),
    latencyMs: numberOf(settled?.["latency_ms"] ?? body["latency_ms"]),
    costMicroUsd: numberOf(usage["cost_micro_usd"]),
    tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0)
  }
}

/** A run of decisions, in the order of the chain; alone where it names no run. */
export interface DriftRun {
  readonly decisions: ReadonlyArray<DriftDecision>
}

/** The runs of decisions, by the middle of their places: the order in which they were made. */
export const runsOf = (decisions: ReadonlyArray<DriftDecision>): ReadonlyArray<DriftRun> => {
  const runs = new Map<string, { readonly decisions: Array<DriftDecision>; places: number }>()
  decisions.forEach((decision, place) => {
    const key = decision.run === null ? `#${decision.seq}` : `.${decision.run}`
    const run = runs.get(key) ?? { decisions: [], places: 0 }
    run.decisions.push(decision)
    run.places += place
    runs.set(key, run)
  })
  const middle = (run: { readonly decisions: ReadonlyArray<unknown>; readonly places: number }): number =>
    run.places / run.decisions.length
  return [...runs.values()].toSorted((a, b) => middle(a) - middle(b) || a.decisions[0]!.seq - b.decisions[0]!.seq)
}

const mapOf = (value: unknown): JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonMap) : {}
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)
/** Numbers that are none, or below zero, are no values: a record may say anything. */
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null
