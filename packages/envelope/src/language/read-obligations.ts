/** Reads `obligations`. Spec: `SPEC.md` section 7. */
import type { Obligation } from "./envelope.ts"
import { MAX_APPROVALS, MAX_DURATION_MS, MAX_LISTED, MAX_OBLIGATIONS, MAX_VALUE_TEXT } from "./limits.ts"
import { allThere, type Members, type Reading } from "./reading.ts"

const types = ["notify", "redact_fields", "reviewers", "sample_for_eval_bp", "cooldown_ms", "two_person"] as const

/** The obligations of a rule; null after a finding. */
export const readObligations = (reading: Reading, value: unknown, path: string): ReadonlyArray<Obligation> | null => {
  const obligations =
    reading.list(value, path, 0, MAX_OBLIGATIONS)?.map((item, i) => readObligation(reading, item, `${path}/${i}`)) ??
    null
  return obligations !== null && allThere(obligations) ? obligations : null
}

const readObligation = (reading: Reading, value: unknown, path: string): Obligation | null => {
  const given = reading.map(value, path, 8)
  const type = given === null ? null : reading.word(reading.need(given, path, "type"), `${path}/type`, types)
  if (type === null) return null
  const read = (...names: ReadonlyArray<string>): Members | null => reading.object(value, path, ["type", ...names])
  switch (type) {
    case "notify": {
      const to = reading.texts(read("to")?.["to"], `${path}/to`, MAX_LISTED, MAX_VALUE_TEXT)
      return to === null ? null : { type, to }
    }
    case "redact_fields": {
      const fields = reading.texts(read("fields")?.["fields"], `${path}/fields`, MAX_LISTED, MAX_VALUE_TEXT)
      return fields === null ? null : { type, fields }
    }
    case "reviewers": {
      const members = read("role", "approvals", "ttl_ms")
      const role = reading.text(members?.["role"], `${path}/role`, MAX_VALUE_TEXT)
      const approvals = reading.integer(members?.["approvals"], `${path}/approvals`, 0, MAX_APPROVALS)
      const ttlMs = reading.integer(members?.["ttl_ms"], `${path}/ttl_ms`, 1, MAX_DURATION_MS)
      return role === null || approvals === null || ttlMs === null ? null : { type, role, approvals, ttlMs }
    }
    case "sample_for_eval_bp": {
      const bp = reading.integer(read("bp")?.["bp"], `${path}/bp`, 0, 10_000)
      return bp === null ? null : { type, bp }
    }
    case "cooldown_ms": {
      const ms = reading.integer(read("ms")?.["ms"], `${path}/ms`, 1, MAX_DURATION_MS)
      return ms === null ? null : { type, ms }
    }
    case "two_person":
      read()
      return { type }
  }
}
