/**
 * Signals of source `server`, whose values the service takes from the registry. Spec: envelopes.md 3.6; decision 0025.
 */
import type { AgentDocument } from "../agents/document.ts"
import { documentSignalNames } from "../documents/facts.ts"
import type { JsonMap } from "../records/record.ts"

/** Signals that every agent has. Its org unit is not one: the language reserves that name for the windows of meters. */
const always = ["agent_status", "identity_verified", "risk_class", "tier"] as const

/** Signals from an agent's blast radius, where it has a value of the right type. `max_*` are amounts in minor units. */
const ofBlastRadius = [
  "blast_approval_role",
  "blast_max_daily",
  "blast_max_fan_out",
  "blast_max_single",
  "blast_reversible"
] as const

/** Names that a signal of source `server` can have. Spec: `envelope/1` section 3; decision 0025. */
export const serverSignalNames: ReadonlyArray<string> = [...always, ...ofBlastRadius, ...documentSignalNames]

/** Numbers of the tiers, as the signal `tier` has them. */
const tiers = { L0: 0, L1: 1, L2: 2, L3: 3, L4: 4 } as const

/**
 * The values for an agent from its document. A value that the agent lacks is left out; an envelope that requires it
 * denies. Spec: `envelope/1` section 3; decision 0025.
 */
export const serverSignals = (agent: AgentDocument): { readonly [name: string]: string | number | boolean } => {
  const radius = agent.blastRadius as JsonMap
  const values: { [name: string]: string | number | boolean } = {
    tier: tiers[agent.autonomyTier],
    agent_status: agent.status,
    risk_class: agent.riskClass,
    identity_verified: agent.identityVerified === true
  }
  if (typeof radius["approval_role"] === "string") values["blast_approval_role"] = radius["approval_role"]
  if (typeof radius["reversible"] === "boolean") values["blast_reversible"] = radius["reversible"]
  for (const [name, value] of [
    ["blast_max_fan_out", radius["max_fan_out"]],
    ["blast_max_single", amountOf(radius["max_single"])],
    ["blast_max_daily", amountOf(radius["max_daily"])]
  ] as const) {
    if (typeof value === "number" && Number.isSafeInteger(value)) values[name] = value
  }
  return values
}

/** An amount, alone or with its unit. */
const amountOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "amount" in value ? value.amount : value
