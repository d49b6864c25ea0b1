/** Judges digests of positions: an hour that was over, and revisions that only grow. Spec: decision 0082. */
import type { PositionsRecordedBody } from "@flyball/evidence"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The rule that records digests of positions. */
export const TRACKING_WRITER = "policy:tracking"

const HOUR_MS = 3_600_000

const wrong = (reason: string): Problem => problem("positions_mismatch", reason)

/** The hours of a chain. It keeps a line for each. */
export class PositionJudge {
  readonly #hours = new Map<string, PositionsRecordedBody>()
  readonly #fromGenesis: boolean

  constructor(fromGenesis: boolean) {
    this.#fromGenesis = fromGenesis
  }

  /** Judges a record that matches the catalogue, and keeps what it says. */
  take({ body }: ReplayRecord, atMs: number | null): Problem | null {
    const recorded = body as unknown as PositionsRecordedBody
    const before = this.#hours.get(recorded.bucket_id)
    this.#hours.set(recorded.bucket_id, recorded)
    const { from_ms: fromMs, positions, revision } = recorded
    if (fromMs % HOUR_MS !== 0) return wrong("Positions are of a whole hour.")
    if (atMs !== null && fromMs + HOUR_MS > atMs) return wrong("The hour was not over.")
    if (before === undefined) return revision === 1 || !this.#fromGenesis ? null : wrong("Its first revision is 1.")
    if (before.from_ms !== fromMs) return wrong("The hour was another.")
    if (revision !== before.revision + 1) return wrong(`Revision ${before.revision + 1} comes next.`)
    return positions > before.positions ? null : wrong("A revision has more positions.")
  }
}
