/** Merges what several rules oblige to. Spec: `SPEC.md` section 7. */
import type { Obligation } from "./envelope.ts"

/**
 * One obligation of each type, of `reviewers` one for each role. An agent that fulfils it fulfils all of those merged
 * into it: lists are joined, of numbers the stricter stays. In the order of first mention.
 */
export const mergeObligations = (obligations: ReadonlyArray<Obligation>): ReadonlyArray<Obligation> => {
  const merged = new Map<string, Obligation>()
  for (const one of obligations) {
    const key = one.type === "reviewers" ? `reviewers ${one.role}` : one.type
    const before = merged.get(key)
    merged.set(key, before === undefined ? one : join(before, one))
  }
  return [...merged.values()]
}

/** Returns an obligation as the JSON that it was read from. Spec: `envelope/1` section 7. */
export const obligationJson = (
  obligation: Obligation
): { readonly [name: string]: string | number | ReadonlyArray<string> } => {
  if (obligation.type !== "reviewers") return { ...obligation }
  const { approvals, role, ttlMs, type } = obligation
  return { type, role, approvals, ttl_ms: ttlMs }
}

const join = (a: Obligation, b: Obligation): Obligation => {
  if (a.type === "notify" && b.type === "notify") return { type: "notify", to: union(a.to, b.to) }
  if (a.type === "redact_fields" && b.type === "redact_fields")
    return { type: "redact_fields", fields: union(a.fields, b.fields) }
  if (a.type === "reviewers" && b.type === "reviewers")
    return { ...a, approvals: Math.max(a.approvals, b.approvals), ttlMs: Math.min(a.ttlMs, b.ttlMs) }
  if (a.type === "sample_for_eval_bp" && b.type === "sample_for_eval_bp")
    return { type: "sample_for_eval_bp", bp: Math.max(a.bp, b.bp) }
  if (a.type === "cooldown_ms" && b.type === "cooldown_ms") return { type: "cooldown_ms", ms: Math.max(a.ms, b.ms) }
  return a
}

const union = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set([...a, ...b])]
