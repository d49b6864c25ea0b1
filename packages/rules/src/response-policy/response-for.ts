/** Finds the response that the response policy defines for an agent and a trigger. */
import {
  type PolicyFacts,
  type PolicyRow,
  policyScopes,
  type PolicyTrigger,
  type ResponsePolicyDocument
} from "./document.ts"
import type { KillResponse } from "../kill/response.ts"

/** The response, and the people who are notified besides the owner. Spec: decision 0046. */
export interface PolicyAnswer {
  readonly response: KillResponse
  readonly notify: ReadonlyArray<string>
}

/**
 * The row that counts for an agent and a trigger; null where none does, and the caller takes its own default. The most
 * specific scope wins whole: rows are not merged, so a narrower row can name fewer people and a milder response. Spec:
 * decision 0046.
 */
export const responseFor = (
  { rows }: ResponsePolicyDocument,
  agent: PolicyFacts,
  trigger: PolicyTrigger
): PolicyAnswer | null => {
  const found = rows.filter((row) => row.trigger === trigger && isAbout(row, agent))
  for (const scope of policyScopes) {
    const row = found.find((one) => one.scope === scope)
    if (row !== undefined) return { response: row.response, notify: row.notify }
  }
  return null
}

const isAbout = ({ scope, target }: PolicyRow, { id, orgUnit, tier }: PolicyFacts): boolean => {
  switch (scope) {
    case "agent":
      return target === id
    case "org_unit":
      return orgUnit !== null && target === orgUnit
    case "tier":
      return target === tier
    case "default":
      return true
  }
}
