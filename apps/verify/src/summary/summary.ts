/** Who did what, as the records and disclosed parts of a pack say: the member `summary` of `--json`. */
import type { Capture } from "../assurance.ts"

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

/** A change of what agents may do. `approved_by`: the second person; null where the record names none. */
export interface ChangeSummary {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly about: string
  readonly by: string
  readonly approved_by: string | null
  readonly note: string | null
}

/** A reported gap: decisions that were made and not witnessed. */
export interface GapSummary {
  readonly seq: number
  readonly agent: string
  readonly from: string
  readonly to: string
  readonly missing: number
  readonly reason: string
}

/** An erasure. `record` is the one whose part was erased. */
export interface ErasureSummary {
  readonly seq: number
  readonly at: string
  readonly record: number
  readonly part: string
  readonly reason: string
}

/** The summary of the records that a pack holds. A list holds at most {@link MAX_LISTED} entries. */
export interface Summary {
  readonly records: number
  readonly agents: Listed<AgentSummary>
  /** Records of agents above {@link MAX_TRACKED}: `agents.more` does not count those. */
  readonly untracked_agent_records: number
  /** `witnessed`: by the status at capture. `settled`: later outcomes of these, by status. */
  readonly decisions: { readonly witnessed: Counted; readonly settled: Counted }
  readonly capture: Capture
  /** Binding evaluations by outcome; and those that bound nobody. */
  readonly verdicts: Counted
  readonly verdicts_on_trial: Counted
  /** The most frequent first. */
  readonly denials: Listed<DenialSummary>
  /** Denials by rules above {@link MAX_TRACKED}: no entry counts them. */
  readonly untracked_denials: number
  readonly changes: Listed<ChangeSummary>
  readonly gaps: Listed<GapSummary> & { readonly missing: number }
  readonly erasures: Listed<ErasureSummary>
}

/** Entries of one list of a summary. */
export const MAX_LISTED = 50

/** Agents, people, envelopes and rules that a summary remembers of either: memory does not grow with a pack. */
export const MAX_TRACKED = 1_000
