/** Result of the replay checker: plain types, which hosts see. */
import type { AgentCounts, Difference } from "@flyball/rules"

/** Result of a replay. */
export interface ReplayReport {
  readonly ok: boolean
  /** Records folded, those of retired chains included. */
  readonly records: number
  /** Documents compared. */
  readonly documents: number
  /** Idempotency keys compared with their records. Differences are under the collection `once`, by record number. */
  readonly idempotencyKeys: number
  readonly differences: ReadonlyArray<Difference>
  /**
   * Members that no record can tell any more, because their part was erased. They hold the scrubbed value, and were
   * compared with it.
   */
  readonly withheld: ReadonlyArray<{ readonly collection: string; readonly id: string; readonly path: string }>
  /** Counts that each agent's records add up to. */
  readonly agents: ReadonlyMap<string, AgentCounts>
  /** Stored data that this check did not compare with anything. */
  readonly uncovered: ReadonlyArray<string>
}
