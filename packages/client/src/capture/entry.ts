/** An entry of the spool: something that waits to be witnessed. */
import type { Decision, Gap, Settlement } from "../wire.ts"

/** A decision without what a server may refuse of it; null where nothing is left out. `refused`: the refusal's code. */
export const withoutParts = (decision: Decision, refused: string): Decision | null => {
  const { args, labels, local_verdict: verdict, result, signals, ...bare } = decision
  const isClaim = refused === "capture_not_mediated" && decision.capture === "mediated"
  if (!isClaim && [args, labels, verdict, result, signals].every((member) => member === undefined)) return null
  return { ...bare, ...(isClaim ? { capture: "self_reported" } : {}), labels: { refused } }
}

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

/** A gap to report. `agentId` is empty where it is not known whose decisions were lost. */
export interface UnreportedGap extends Gap {
  readonly agentId: string
}

/** The gaps after one more loss. A gap never ends before it begins, though the clock may step back. */
export const withLoss = (gaps: ReadonlyArray<UnreportedGap>, loss: UnreportedGap): ReadonlyArray<UnreportedGap> => {
  const before = gaps.find((one) => isSame(one, loss))
  return before === undefined
    ? [...gaps, loss]
    : gaps.map((one) =>
        one === before ? { ...one, to: loss.to > one.to ? loss.to : one.to, count: one.count + loss.count } : one
      )
}

const isSame = (one: UnreportedGap, other: UnreportedGap): boolean =>
  one.agentId === other.agentId && one.reason === other.reason

/** The gaps after one of them was reported: losses during the report stay to be reported. */
export const withoutReported = (gaps: ReadonlyArray<UnreportedGap>, gap: UnreportedGap): ReadonlyArray<UnreportedGap> =>
  gaps.flatMap((one) =>
    !isSame(one, gap) ? [one] : one.count > gap.count ? [{ ...one, from: gap.to, count: one.count - gap.count }] : []
  )
