/** Acts of people on the bounds of agents, as a replay judges them. */
import type { JsonValue } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"

/**
 * Verdicts on a draft, a publication or a grant. The first that applies; `withheld`: what would be needed is not shown,
 * and what is shown agrees.
 */
export const actVerdicts = [
  "ok",
  "digest_mismatch",
  "second_person_missing",
  "authors_mismatch",
  "draft_mismatch",
  "number_mismatch",
  "waiver_mismatch",
  "withheld"
] as const

/** One of {@link actVerdicts}. */
export type ActVerdictName = (typeof actVerdicts)[number]

/** Verdict on an act that breaks a rule or could not be judged. */
export interface ActVerdict {
  readonly verdict: Exclude<ActVerdictName, "ok">
  readonly reason: string
}

/** One judged act. `about`: the version or the waiver. */
export interface Act {
  readonly seq: number
  readonly kind: string
  readonly about: string
  readonly verdict: ActVerdictName
  readonly reason: string | null
}

/** An act with its verdict. */
export const act = ({ body, kind, seq }: ReplayRecord, problem: ActVerdict | null): Act => ({
  seq,
  kind,
  about:
    kind === "waiver.granted"
      ? shown(body["waiver_id"])
      : `${shown(body["envelope_id"])} version ${shown(body["version"])}`,
  verdict: problem?.verdict ?? "ok",
  reason: problem?.reason ?? null
})

/** A body that is not as the catalogue says may hold anything, also what cannot become a text. */
const shown = (value: JsonValue | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "unknown"
