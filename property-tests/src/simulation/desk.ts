/**
 * The desk: two agents of one unit under one envelope, and the people who answer what it sends to them. What the
 * envelope asks is stated here in numbers, so that the checkers know it without any code of the service.
 */
import { createHash } from "node:crypto"

/** The org unit whose envelope bounds both agents. */
export const DESK = "desk"
/** Its agents, by the name that the ledger keeps. */
export const deskAgents = ["desk a", "desk b"] as const

const person = (digits: string): string => `usr_${digits.padStart(26, "0")}`

/** Writes the envelope, and so may answer nothing that was made under it. */
export const AUTHOR = person("11")
/** Publishes it. */
export const PUBLISHER = person("12")
/** Owns both agents. */
export const OWNER = person("13")
/** The owner's address, as the issuer and the register have it. */
export const OWNER_EMAIL = "ada@example.org"
/** Has no role that answers reviews. */
export const BYSTANDER = person("17")
/** A reviewer who has actions evaluated as well. */
export const ASKER = person("18")
/** Everybody who tries to answer. */
export const people: ReadonlyArray<string> = [
  person("14"),
  person("15"),
  person("16"),
  person("14"),
  person("15"),
  person("16"),
  OWNER,
  ASKER,
  AUTHOR,
  BYSTANDER
]
/** The callers that have actions evaluated: two keys and a person. */
export const askers: ReadonlyArray<string> = [`key_${"0".repeat(25)}1`, `key_${"0".repeat(25)}2`, ASKER]

/** The approvals that an amount needs. */
export interface Need {
  readonly rule: string
  /** Amounts above the first and up to the second. */
  readonly from: number
  readonly to: number
  readonly approvals: number
  readonly withoutOwner: boolean
  /** Unit: milliseconds. */
  readonly ttlMs: number
}

/** Ascending. Amounts up to the first `from` need nobody. */
export const needs: ReadonlyArray<Need> = [
  { rule: "quick", from: 200, to: 300, approvals: 1, withoutOwner: false, ttlMs: 2_000 },
  { rule: "one", from: 300, to: 400, approvals: 1, withoutOwner: false, ttlMs: 20_000 },
  { rule: "two", from: 400, to: 500, approvals: 2, withoutOwner: false, ttlMs: 40_000 },
  { rule: "pair", from: 500, to: 600, approvals: 2, withoutOwner: true, ttlMs: 40_000 }
]

/** The need of an amount; undefined where it needs nobody. */
export const needOf = (amount: number): Need | undefined => needs.find(({ from, to }) => from < amount && amount <= to)

/** Most actions of an agent within {@link PACE_MS}: what is approved above that is denied all the same. */
const PACE = 12
const PACE_MS = 10_000

/** The envelope. `revision` makes another version of it that asks the same. */
export const deskEnvelope = (revision: number): { readonly [member: string]: unknown } => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["search", "pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 5_000, source: "caller", on_missing: 0 }
  },
  effects: { search: "read", pay: "read" },
  meters: { pace: { op: "count", where: { tool: ["pay"] }, window_ms: PACE_MS, key: ["agent_id"] } },
  rules: [
    {
      id: "pay",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["pay"] },
        { signal: "amount", lte: needs.at(-1)!.to + revision }
      ]
    },
    { id: "pace", outcome: "deny", when: [{ meter: "pace", after_gt: PACE }] },
    ...needs.map(({ approvals, from, rule, to, ttlMs, withoutOwner }) => ({
      id: rule,
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["pay"] },
        { signal: "amount", gt: from },
        { signal: "amount", lte: to }
      ],
      obligations: [
        { type: "reviewers", role: "reviewer", approvals, ttl_ms: ttlMs },
        ...(withoutOwner ? [{ type: "two_person" }] : [])
      ]
    }))
  ],
  default: { outcome: "deny" }
})

/** The signals of an action, which are its arguments too. */
export const deskAction = (amount: number) => ({ amount, tool: "pay" })

/** The digest of its arguments, made here: 64 hex digits. */
export const digestOfAmount = (amount: number): string =>
  createHash("sha256")
    .update(JSON.stringify(deskAction(amount)))
    .digest("hex")
