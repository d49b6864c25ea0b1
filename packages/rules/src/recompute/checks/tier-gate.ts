/** Checks that an activated agent met the conditions of its tier that records show. Spec: decision 0038. */
import { isCompleteOwner } from "../../agents/owner.ts"
import type { AgentDocument } from "../../agents/document.ts"
import { hasAttestedDrill } from "../../drills/document.ts"
import { missingFor, type TierCondition } from "../../agents/tier-gate.ts"
import { areNewerRules, newerRules } from "../../records/rules-version.ts"
import type { JsonMap } from "../../records/record.ts"
import type { KnownAgent } from "../../evaluations/known-agents.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { LATE_MS } from "../tolerances.ts"

/**
 * Conditions that are not judged: the first depends on the time of the decision, and an envelope may be withdrawn at
 * the same time.
 */
const notJudged: ReadonlyArray<TierCondition> = ["recertification", "published_envelope"]

/**
 * Checks a record `agent.activated`; answers the problem, or null.
 */
export const judgeActivation = (agent: KnownAgent | undefined, body: JsonMap, atMs: number | null): Problem | null => {
  if (areNewerRules(body)) return problem("withheld", newerRules(body))
  if (agent === undefined) return null
  const { unknown } = agent.document
  const document = agent.document.body as unknown as AgentDocument
  const met = new Set(notJudged)
  // The part that names the owner may not be shown. That an owner is incomplete stands in a body.
  if (document.ownerComplete !== false && (unknown.includes("ownerName") || isCompleteOwner(document))) met.add("owner")
  if (document.identityVerified === true) met.add("verified_identity")
  // An activation is recorded a little after it was decided on.
  if (hasAttestedDrill(document, (atMs ?? 0) - LATE_MS)) met.add("attested_drill")
  const missing = missingFor(document.autonomyTier, met)
  return missing.length === 0
    ? null
    : problem("tier_mismatch", `The agent was activated at ${document.autonomyTier} without ${missing.join(" and ")}.`)
}
