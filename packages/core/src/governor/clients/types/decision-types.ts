/**
 * Decisions in the embedding API, derived from the contract. Names are the interface's, so that what is documented for
 * HTTP holds here.
 */
import type {
  CaptureGapIn,
  CaptureGapOut,
  DecisionIn,
  DecisionListQuery,
  DecisionOut,
  Receipt,
  ReceiptsOut,
  SettleIn,
  SettleOut,
  Usage,
  UsageOut
} from "@flyball/contract"
import type { Filter, Info, Input } from "@flyball/contract"

/** Tokens and cost of a call. */
export interface UsageInput extends Input<typeof Usage> {}

/** Tokens and cost of a call in an answer: every member, null if it was not given. */
export interface UsageInfo extends Info<typeof UsageOut> {}

/**
 * A decision to be witnessed. `args`, `result`, `labels` and `signals` are any JSON, up to 1 MiB each; they can be
 * withheld and erased later. Spec: format 1 section 8, `decision.witnessed`; decisions 0002 and 0009.
 */
export interface DecisionInput extends Input<typeof DecisionIn> {}

/** Receipt of a decision. `duplicate`: it was already recorded. */
export interface DecisionReceipt extends Info<typeof Receipt> {}

/** One receipt per decision, in order, and the head of the chain after them. */
export interface Receipts extends Info<typeof ReceiptsOut> {}

/** The outcome of a decision. Spec: format 1 section 8, `decision.settled`. */
export interface SettleInput extends Input<typeof SettleIn> {}

/** Receipt of an outcome. */
export interface SettleReceipt extends Info<typeof SettleOut> {}

/** A period in which decisions were made and not witnessed. Spec: format 1 section 8, `capture.gap`. */
export interface GapInput extends Input<typeof CaptureGapIn> {}

/** Receipt of a reported capture gap. */
export interface GapReceipt extends Info<typeof CaptureGapOut> {}

/** Which decisions to list, newest first. */
export interface DecisionFilter extends Filter<typeof DecisionListQuery> {}

/**
 * A witnessed decision, with its outcome where it was settled. Spec: format 1 section 8, `decision.witnessed` and
 * `decision.settled`.
 */
export interface DecisionInfo extends Info<typeof DecisionOut> {}
