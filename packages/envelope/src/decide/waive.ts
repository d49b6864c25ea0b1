/** Waivers: further exceptions of single rules, for as long as the service says. Spec: `SPEC.md` section 5. */
import type { Condition, Envelope } from "../language/envelope.ts"
import type { Finding } from "../language/findings.ts"
import { Reading } from "../language/reading.ts"
import { readConditions } from "../language/read-conditions.ts"

/** An exception to a rule: where all of its conditions hold, the rule does not. Spec: `envelope/1` section 5. */
export interface Waiver {
  readonly ruleId: string
  readonly unless: ReadonlyArray<Condition>
}

/**
 * Reads the conditions of a waiver in the words of an envelope; null with findings. A waiver without a condition would
 * switch its rule off, and is refused. Spec: `envelope/1` section 5.
 */
export const readWaiver = (
  envelope: Envelope,
  ruleId: string,
  unless: unknown
): { readonly waiver: Waiver | null; readonly findings: ReadonlyArray<Finding> } => {
  const reading = new Reading()
  if (!envelope.rules.some((rule) => rule.id === ruleId))
    reading.say("E100", "/rule_id", "There is no such rule in this envelope. Name one of its own.")
  const conditions = readConditions(reading, unless, "/unless", envelope)
  if (conditions?.length === 0 || unless === undefined)
    reading.say("E113", "/unless", "A waiver says where the rule shall not hold. Write a condition.")
  return {
    waiver: conditions !== null && reading.findings.length === 0 ? { ruleId, unless: conditions } : null,
    findings: reading.findings
  }
}

/**
 * Returns an envelope with waivers applied. Waivers of rules that it does not have are ignored. Spec: `envelope/1`
 * section 5; decision 0025.
 */
export const waive = (envelope: Envelope, waivers: ReadonlyArray<Waiver>): Envelope =>
  waivers.length === 0
    ? envelope
    : {
        ...envelope,
        rules: envelope.rules.map((rule) => ({
          ...rule,
          unless: [
            ...rule.unless,
            ...waivers.filter((waiver) => waiver.ruleId === rule.id).map((waiver) => waiver.unless)
          ]
        }))
      }
