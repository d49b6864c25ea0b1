/** Which events the response policy is about, and the letters that follow from them. Pure. */
import { formatInstant } from "@flyball/evidence"
import {
  type AgentDocument,
  type KillTarget,
  type PolicyTrigger,
  responseFor,
  type ResponsePolicyDocument
} from "@flyball/rules"
import type { EventType } from "@flyball/contract"
import type { StoredEvent } from "../../storage/outbox/outbox.ts"
import type { Mail } from "../webhooks/ports.ts"

/** Events that the response policy is about. */
export const policyEvents = [
  "agent.suspended",
  "breaker.tripped",
  "drift.alarmed",
  "kill.activated",
  "kill.requested",
  "mcp_manifest_changed",
  "review.opened"
] as const satisfies ReadonlyArray<EventType>

/** Something that triggered a response. */
export interface Occurrence {
  readonly trigger: PolicyTrigger
  readonly target: KillTarget
  /** Description of the occurrence, without names of people. */
  readonly what: string
  /** The policy may add a response of its own. */
  readonly adds: boolean
}

/**
 * Derives the policy trigger from an event; null where the policy has no response to it. A drill is no trigger. An
 * activation that the policy itself added is none either: what it was added to was reported with it.
 */
export const occurrenceOf = ({ data, type }: StoredEvent): Occurrence | null => {
  const of = (trigger: PolicyTrigger, what: string, more: Partial<Occurrence> = {}): Occurrence => ({
    trigger,
    what,
    target: { type: "agent", id: String(data["agent_id"]) },
    adds: false,
    ...more
  })
  switch (type) {
    case "agent.suspended":
      return data["reason"] === "orphan_grace"
        ? of("orphan", "was suspended: it had no owner for a week", { adds: true })
        : data["reason"] === "recert_overdue"
          ? of("recert", "was suspended: its recertification is overdue", { adds: true })
          : null
    // One that activated something is reported by that activation.
    case "breaker.tripped":
      return data["activation_id"] === null
        ? of("breaker", `has a breaker that tripped (${String(data["metric"])})`)
        : null
    case "drift.alarmed":
      return data["activation_id"] === null
        ? of("drift", `behaves otherwise than it did (${String(data["dimension"])})`)
        : null
    case "kill.requested":
      return data["activation_id"] === null
        ? of("agent_request", "requested to be stopped and was not: an operator decides")
        : null
    // What came or went, and what no model reads, is reported and stops nobody.
    case "mcp_manifest_changed":
      return of("mcp", `saw a tool server that lists other tools (severity ${String(data["severity"])})`, {
        adds: data["severity"] !== "low"
      })
    case "review.opened":
      return of("review", `waits for people: an action needs a review until ${String(data["expires_at"])}`)
    case "kill.activated": {
      const writer = String(data["writer"])
      if (data["drill"] !== null || ownActor.test(writer)) return null
      return of(
        writer.startsWith("breaker:") ? "breaker" : (byPolicy[writer] ?? "manual"),
        `is under the response ${String(data["response"])} of the kill switch`,
        { target: { type: data["target_type"], id: data["target_id"] } as KillTarget }
      )
    }
    default:
      return null
  }
}

/** Triggers of activations that a rule of the policy makes. */
const byPolicy: { readonly [writer: string]: PolicyTrigger } = {
  "policy:agent_request": "agent_request",
  "policy:drift": "drift"
}

const ownActor = /^policy:(mcp|orphan|recert)$/

/** Writer of an activation that a row of the policy adds by itself. */
export const policyActor = (trigger: PolicyTrigger): string => `policy:${trigger}`

/** Maximum number of letters for one event. Further owners get none; the webhook event lists all. */
export const MAX_LETTERS = 200

/** A letter without its outbox. */
export type PolicyLetter = Omit<Mail, "messageId">

/**
 * The letters about an event: one for each address of the owners and of the rows that count, at most
 * {@link MAX_LETTERS}.
 */
export const lettersOf = (
  stored: Pick<StoredEvent, "atMs" | "data">,
  { trigger, what }: Occurrence,
  policy: ResponsePolicyDocument,
  agents: ReadonlyArray<{ readonly id: string; readonly body: AgentDocument }>
): ReadonlyArray<PolicyLetter> => {
  const about = new Map<string, Array<{ readonly id: string; readonly name: string }>>()
  for (const { body, id } of agents) {
    const row = responseFor(policy, { id, tier: body.autonomyTier, orgUnit: body.orgUnit }, trigger)
    const addresses = new Set([...(body.ownerEmail === null ? [] : [body.ownerEmail]), ...(row?.notify ?? [])])
    for (const address of addresses) {
      const own = about.get(address) ?? []
      own.push({ id, name: body.name })
      about.set(address, own)
    }
  }
  return [...about].slice(0, MAX_LETTERS).map(([to, own]) => ({
    to,
    subject: own.length === 1 ? `Flyball: ${own[0]!.id} ${what}` : `Flyball: ${own.length} agents: each ${what}`,
    text: [
      ...own.slice(0, MAX_NAMED).map(({ id, name }) => `${name} (${id}) ${what}.`),
      ...(own.length > MAX_NAMED ? [`${own.length - MAX_NAMED} more agents.`] : []),
      "",
      `When: ${formatInstant(stored.atMs)}`,
      `Trigger: ${trigger}`,
      `More: ${String(stored.data["resource"])} of the server`,
      "",
      "You get this e-mail as the owner of the agent, or because the response policy names you."
    ].join("\n")
  }))
}

/** Agents that one letter names. */
const MAX_NAMED = 50
