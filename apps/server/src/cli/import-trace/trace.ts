/**
 * One line of the neutral trace form, as the decision that import witnesses.
 *
 * Spec: issue "record, prove, verify" item 5 (`flyball import`).
 */
import { decisionStatuses } from "@flyball/contract"

/** Content of one line: the agent, and the decision as POST decisions takes it. */
export interface TraceDecision {
  readonly agent: string
  readonly decision: { readonly [member: string]: unknown }
}

/** The outcome of reading one line. */
export type TraceRead =
  | { readonly ok: true; readonly trace: TraceDecision }
  | { readonly ok: false; readonly expected: string }

/**
 * A decimal amount of dollars in millionths, rounded half up, without passing through binary fractions.
 *
 * - Fails: never for a finite number of at least 0; null otherwise.
 */
export const microUsd = (usd: number): number | null => {
  if (!Number.isFinite(usd) || usd < 0) return null
  const [mantissa, exponentText] = String(usd).split("e")
  const [whole, fraction = ""] = mantissa!.split(".")
  const exponent = Number(exponentText ?? 0) - fraction.length + 6
  const digits = BigInt(whole! + fraction)
  if (exponent >= 0) return safe(digits * 10n ** BigInt(exponent))
  const unit = 10n ** BigInt(-exponent)
  return safe((2n * digits + unit) / (2n * unit))
}

const safe = (amount: bigint): number | null => (amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : null)

/** The members that are neither null nor left out. One pass and no pairs: it is done three times a line. */
const present = (members: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } => {
  const there: { [name: string]: unknown } = {}
  for (const name in members) {
    const member = members[name]
    if (member !== undefined && member !== null) there[name] = member
  }
  return there
}

const statuses = new Set<string>(decisionStatuses)

/** Reads one line. The validation of single members is left to the endpoint of captures, which names the member. */
export const readTraceLine = (line: unknown): TraceRead => {
  if (typeof line !== "object" || line === null || Array.isArray(line)) return { ok: false, expected: "a JSON object" }
  const trace = line as { readonly [name: string]: unknown }
  if (trace["v"] !== 1) return { ok: false, expected: "v to be 1, the trace format that this version reads" }
  if (typeof trace["agent"] !== "string" || trace["agent"] === "") return { ok: false, expected: "an agent name" }
  if (typeof trace["status"] === "string" && !statuses.has(trace["status"]))
    return { ok: false, expected: `a status of ${[...statuses].join(", ")}` }
  const cost = trace["cost_usd"]
  const costMicroUsd =
    cost === undefined || cost === null ? undefined : typeof cost === "number" ? microUsd(cost) : null
  if (costMicroUsd === null) return { ok: false, expected: "cost_usd as a number of at least 0" }
  const usage = present({
    input_tokens: trace["tokens_in"],
    output_tokens: trace["tokens_out"],
    cost_micro_usd: costMicroUsd
  })
  // In the order of RFC 8785, which spares the sorting.
  const labels = present({
    labels: trace["labels"],
    parallel_of: trace["parallel_of"],
    result_chars: trace["result_chars"],
    source: trace["source"],
    task_id: trace["task_id"],
    ts_source: trace["ts_source"]
  })
  return {
    ok: true,
    trace: {
      agent: trace["agent"],
      decision: present({
        client_ref: trace["id"],
        kind: trace["kind"] === "final" ? "message" : trace["kind"],
        action: trace["action"],
        run_id: trace["run_id"],
        step: trace["step"],
        observed_at: trace["ts"],
        status: trace["status"],
        model: trace["model"],
        usage: Object.keys(usage).length > 0 ? usage : undefined,
        latency_ms: trace["latency_ms"],
        mode: "observed",
        args: trace["args"],
        result: trace["result"],
        labels: Object.keys(labels).length > 0 ? labels : undefined
      })
    }
  }
}
