/** An entry of the spool: something that waits to be witnessed. */
import type { Decision, Gap, Settlement } from "../wire.ts"

/**
 * One entry of the spool. `decision` has a decision as the server takes it; `settle` settles one that was witnessed.
 * `outcome` settles one whose receipt was not awaited: the decision is sent once more, which adds nothing and returns
 * its id.
 */
export type Entry =
  | { readonly kind: "decision"; readonly agentId: string; readonly decision: Decision }
  | {
      readonly kind: "settle"
      readonly agentId: string
      readonly decisionId: string
      readonly clientRef: string
      readonly settlement: Settlement
    }
  | {
      readonly kind: "outcome"
      readonly agentId: string
      readonly decision: Decision
      readonly settlement: Settlement
    }

/** A gap to report: decisions that the spool had no room for. */
export interface UnreportedGap extends Gap {
  readonly agentId: string
}

/** The gap after one more loss. Times are RFC 3339. */
export const widen = (gap: UnreportedGap | undefined, agentId: string, at: string, count: number): UnreportedGap =>
  gap === undefined
    ? { agentId, from: at, to: at, count, reason: "spool_full" }
    : { ...gap, to: at, count: gap.count + count }

/** The gaps after one of them was reported: losses during the report stay to be reported. */
export const withoutReported = (gaps: ReadonlyArray<UnreportedGap>, gap: UnreportedGap): ReadonlyArray<UnreportedGap> =>
  gaps.flatMap((one) =>
    one.agentId !== gap.agentId
      ? [one]
      : one.count > gap.count
        ? [{ ...one, from: gap.to, count: one.count - gap.count }]
        : []
  )
