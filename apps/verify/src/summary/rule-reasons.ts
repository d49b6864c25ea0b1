/** Why a rule denies, in words: from disclosed envelopes, and for the rules that every agent has. */
import { memberOf, textOf, textOrNull } from "./bounded.ts"

/** Remembers the reasons of rules by the digest of their envelope. */
export class RuleReasons {
  readonly #byDigest = new Map<string, ReadonlyMap<string, string>>()
  #room = MAX_REASONS

  /** Takes a disclosed envelope, of any content. */
  add(digest: string, envelope: unknown): void {
    const rules = memberOf(envelope, "rules")
    if (this.#byDigest.has(digest) || !Array.isArray(rules)) return
    const reasons = new Map<string, string>()
    for (const rule of rules) {
      const reason = textOrNull(memberOf(rule, "reason"))
      if (reason === null || this.#room === 0) continue
      this.#room--
      reasons.set(textOf(memberOf(rule, "id")), reason)
    }
    if (reasons.size > 0) this.#byDigest.set(digest, reasons)
  }

  /** The reason of a rule of one of these layers; null where none is known. `layers` may be anything. */
  of(rule: string, layers: unknown): string | null {
    if (rule.startsWith("@")) return BUILT_IN[rule] ?? (rule.startsWith("@budget:") ? BUDGET : null)
    if (!Array.isArray(layers)) return null
    for (const layer of layers) {
      const digest = memberOf(layer, "digest")
      const reason = typeof digest === "string" ? this.#byDigest.get(digest)?.get(rule) : undefined
      if (reason !== undefined) return reason
    }
    return null
  }
}

/** Spec: `envelope/1` section 11. */
const BUILT_IN: { readonly [rule: string]: string } = {
  "@default": "No rule of the envelope holds, and this is its default.",
  "@invalid_signal": "A signal was invalid.",
  "@killed": "A kill was in force.",
  "@missing_signal": "A required signal was missing.",
  "@no_envelope": "No envelope was in force for the agent.",
  "@not_active": "The agent was not active.",
  "@suspended": "The agent was suspended.",
  "@tier_floor": "The agent's tier does not allow an action of this class."
}
const BUDGET = "A meter of the envelope was over its budget."

const MAX_REASONS = 10_000
