/** Replay rules: a pure fold of records into documents. They import evidence and each other, so a verifier can run them. */
export { catalogueDifference } from "./catalogue.ts"
export { compareDocument } from "./compare.ts"
export { type AgentCounts, emptyReplay, foldRecord, governedCollections, kindsWithParts, type ReplayState } from "./fold.ts"
export type { Difference, ExpectedDocument, PartContent, ReplayRecord } from "./types.ts"
