/** The limits of a caller of document 2, and the headers that say them. Spec: document 2 section 8. */
import { createHash } from "node:crypto"
import { type OperationLimit, operationLimits, planLimits, type Plan, type PlanLimits } from "@flyball/contract"
import type { AnyEndpoint } from "@flyball/contract/http"
import type { Account, LimitRow, PolicyStanding } from "@flyball/core"
import { askerOf, type PersonCaller, type PlatformCaller } from "../request/caller.ts"

/** A caller of document 2. */
export type LimitedCaller = PlatformCaller | PersonCaller

/** The caller as limits count it, and how headers name it without naming it: the IETF's partition key. */
export interface Limited extends Account {
  readonly partition: string
}

const MINUTE = 60

/** Limits of a caller. A person has those of the server's plan. */
export const limitedOf = (caller: LimitedCaller, planOfPeople: Plan): Limited => {
  const isKey = caller.kind === "platform"
  const subject = isKey ? caller.writer.id : `person:${digest(askerOf(caller))}`
  const limits = isKey ? caller.limits : planLimits[planOfPeople]
  return {
    subject,
    agentId: isKey ? caller.agentId : null,
    plan: isKey ? caller.plan : planOfPeople,
    limits,
    row: planRow(subject, limits),
    reservation: null,
    use: null,
    partition: digest(`flyball partition ${subject}`)
  }
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22)

/** The share of the caller's plan that any request takes. */
const planRow = (subject: string, limits: PlanLimits): LimitRow => ({
  subject: `plan:${subject}`,
  policies: [
    policy("plan-minute", limits.requestsPerMinute, MINUTE),
    policy("plan-day", limits.requestsPerDay, "day")
  ].filter((one) => one !== null)
})

type LimitPolicy = LimitRow["policies"][number]

const policy = (name: string, limit: number | null, window: LimitPolicy["window"]): LimitPolicy | null =>
  limit === null ? null : { name, limit, window }

const DAY_S = 86_400

/** The share of its operation's limit that a request takes; null where there is no limit. */
export const operationRow = ({ platform }: AnyEndpoint, { subject }: Limited, body: unknown): LimitRow | null => {
  const name = platform?.operation ?? null
  const limit: OperationLimit | null = name === null ? null : operationLimits[name]
  if (name === null || limit === null) return null
  const of =
    limit.per === undefined ? "" : `:${digest(String((body as { readonly [name: string]: unknown })[limit.per]))}`
  return {
    subject: `operation:${name}:${subject}${of}`,
    policies: [{ name: `operation:${name}`, limit: limit.limit, window: limit.window }]
  }
}

/**
 * Headers of every answer: `X-RateLimit-*` of the policy that binds, and the IETF's fields for all of them. Where no
 * rate is limited they say how many requests may be under way. Spec: document 2 section 8; platform section 2.
 */
export const limitHeaders = (
  { limits, partition }: Limited,
  known: {
    readonly rows: ReadonlyArray<LimitRow>
    readonly standings: ReadonlyArray<PolicyStanding>
    readonly inFlight: number
    readonly nowS: number
  }
): { readonly [name: string]: string } => {
  const { inFlight, nowS, rows, standings } = known
  const { concurrent } = limits
  const left = Math.max(0, concurrent - inFlight)
  const binding = bindingOf(standings) ?? { limit: concurrent, remaining: left, resetS: nowS + 1 }
  const pk = `;pk=:${Buffer.from(partition).toString("base64")}:`
  const policies = rows.flatMap((row) => row.policies)
  return {
    "x-ratelimit-limit": String(binding.limit),
    "x-ratelimit-remaining": String(binding.remaining),
    "x-ratelimit-reset": String(binding.resetS),
    "ratelimit-policy": [
      ...policies.map(({ limit, name, window }) => `"${name}";q=${limit};w=${window === "day" ? DAY_S : window}${pk}`),
      `"concurrency";q=${concurrent};qu="concurrent-requests"${pk}`
    ].join(", "),
    ratelimit: [
      ...standings.map(
        ({ policy: name, remaining, resetS }) => `"${name}";r=${remaining};t=${Math.max(0, resetS - nowS)}${pk}`
      ),
      `"concurrency";r=${left}${pk}`
    ].join(", ")
  }
}

/** The policy that binds: one that is used up, the longest first; else the one with the least left. */
const bindingOf = (standings: ReadonlyArray<PolicyStanding>): PolicyStanding | null => {
  const used = standings.filter(({ remaining }) => remaining === 0).sort((a, b) => b.resetS - a.resetS)
  const least = [...standings].sort((a, b) => a.remaining / a.limit - b.remaining / b.limit)
  return used[0] ?? least[0] ?? null
}
