/** Checks the rules that a record names. Spec: decision 0038. */
import type { ReplayRecord } from "../../records/record.ts"
import { areNewerRules, newerRules, RULES } from "../../records/rules-version.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The kinds whose records name the rules that decided them. */
const naming: ReadonlySet<string> = new Set([
  "agent.activated",
  "evaluation.made",
  "extraction.completed",
  "kill.activated",
  "kill.requested",
  "standing_approval.proposed"
])

/** Checks that a record names these rules, or newer ones; answers the problem, or null. */
export const judgeRules = ({ body, kind }: Pick<ReplayRecord, "body" | "kind">): Problem | null =>
  !naming.has(kind) || body["rules"] === RULES
    ? null
    : areNewerRules(body)
      ? problem("withheld", newerRules(body))
      : problem("rules_mismatch", `Rules ${RULES} decide; the record names ${String(body["rules"] ?? "none")}.`)
