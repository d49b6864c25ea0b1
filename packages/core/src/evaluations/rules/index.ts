/** Recomputation of recorded evaluations: rules that import evidence and each other, so that the verifier can run them. */
export { LATE_MS, Recomputation, type RecomputeOptions } from "./recompute.ts"
export type { RecomputedPublication } from "./recompute-publication.ts"
export { type Recomputed, type RecomputeVerdict, recomputeVerdicts } from "./recompute-verdict.ts"
export { EnvelopeNumbers, type WrongNumber } from "../../envelopes/life/rules/numbers.ts"
export { isRecomputed, recomputedParts } from "./recomputed-records.ts"
export { longestWindowMs } from "./longest-window.ts"
export type { PartContent, ReplayRecord } from "../../replay/rules/types.ts"
