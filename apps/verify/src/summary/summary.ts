/** Summarises who did what by the records and disclosed parts of a pack: the member `summary` of `--json`. */
import type { Capture } from "../assurance.ts"
import type { SectionName } from "./report-rows.ts"

/** The first entries of a list, and how many more there are. */
export interface Listed<A> {
  readonly listed: ReadonlyArray<A>
  readonly more: number
}

/** How many records have each value. */
export interface Counted {
  readonly [value: string]: number
}

/** An agent. `name`, `owner`: null where the pack does not disclose them. */
export interface AgentSummary {
  readonly agent_id: string
  readonly name: string | null
  readonly owner: string | null
  readonly decisions: number
  readonly evaluations: number
}

/** A rule that denied or halted. `reason`: its reason in words; null where no disclosed envelope states one. */
export interface DenialSummary {
  readonly rule: string
  readonly outcome: string
  readonly reason: string | null
  readonly count: number
}

/**
 * A record, in words. `by` is empty where the record names nobody. `approved_by`: the second person; null where the
 * record names none. `after_ms`: the time since the record that it answers; null where it answers none, or that one is
 * not in the pack. `minted_key`: the approver minted the ingest key whose request was approved.
 */
export interface ActSummary {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly about: string
  readonly by: string
  readonly approved_by: string | null
  readonly after_ms: number | null
  readonly minted_key: boolean
  readonly note: string | null
}

/** Records of one section of the report. The kinds add up to `records`. */
export interface SectionSummary {
  readonly records: number
  readonly kinds: Counted
  readonly acts: Listed<ActSummary>
}

/** An evaluation that allowed an action of a gateway's key. */
export interface UnfollowedSummary {
  readonly seq: number
  readonly at: string
  readonly agent_id: string
  readonly evaluation_id: string
}

/** A version of an envelope, in words: one sentence a rule. */
export interface RulesSummary {
  readonly seq: number
  readonly envelope: string
  readonly sentences: ReadonlyArray<string>
}

/** A total of the report, and the parts that add up to it. */
export interface Sum {
  readonly of: string
  readonly total: number
  readonly parts: Counted
}

/** The file that was read, and the program that read it. `sha256`: of the file as it lies on the disk. */
export interface Source {
  readonly sha256: string
  readonly bytes: number
  readonly verifier: string
}

/** The summary of the records that a pack holds. A list holds at most {@link MAX_LISTED} entries. */
export interface Summary {
  readonly source: Source
  /** Times of the first and the last record; null for a pack without records. */
  readonly period: { readonly from: string; readonly to: string } | null
  readonly records: number
  /** `more_decisions`, `more_evaluations`: those of the agents that are not listed. */
  readonly agents: Listed<AgentSummary> & { readonly more_decisions: number; readonly more_evaluations: number }
  /** Records of agents above {@link MAX_TRACKED}: `agents.more` does not count those. */
  readonly untracked_agent_records: number
  /** `witnessed`: by the status at capture. `settled`: later outcomes of these, by status. */
  readonly decisions: { readonly witnessed: Counted; readonly settled: Counted }
  readonly capture: Capture
  /** Binding evaluations by outcome; and those that bound nobody. */
  readonly verdicts: Counted
  readonly verdicts_on_trial: Counted
  /** The most frequent first. `more_denials`: those by rules that are not listed. */
  readonly denials: Listed<DenialSummary> & { readonly total: number; readonly more_denials: number }
  /** Denials by rules above {@link MAX_TRACKED}: no entry counts them. */
  readonly untracked_denials: number
  /** Published versions whose text is disclosed, oldest first. */
  readonly rules: Listed<RulesSummary>
  readonly sections: { readonly [name in SectionName]: SectionSummary }
  readonly missing_decisions: number
  /**
   * Allowed evaluations of keys minted with `capture: mediated` in these records, which neither a decision nor a gap of
   * the agent follows. `untracked`: those that were not followed, since too many were open.
   */
  readonly unfollowed: Listed<UnfollowedSummary> & { readonly untracked: number }
  /** Approvals by the person who minted the ingest key that requested. */
  readonly approvals_by_key_minter: number
  readonly sums: ReadonlyArray<Sum>
}

/** Entries of one list of a summary. */
export const MAX_LISTED = 50

/** Agents, people, envelopes and rules that a summary remembers of either: memory does not grow with a pack. */
export const MAX_TRACKED = 1_000
