/** Public API of `@flyball/statistics`. Everything not listed may change tomorrow. */
export { conformalRank, conformalThreshold, fewestScores } from "./conformal.ts"
export { jensenShannon, stabilityIndex } from "./distances.ts"
export { choose, decimalOf, fisherTest, isAtMost, MAX_TRIALS, type Probability, signTest } from "./exact.ts"
export { type Gap, gapsAsLarge, type GroupColumn, largestGap, meanGapsAsLarge } from "./gaps.ts"
export { generator, type Generator32, SEED_BYTES } from "./generator.ts"
export { hypergeometric, logFactorials, type LogFactorials } from "./hypergeometric.ts"
export {
  clopperPearson,
  type Cluster,
  clusteredShare,
  type ClusteredShare,
  type Interval,
  isBelowFourFifths,
  passPower,
  ratioScore,
  type Share,
  shareDifference,
  shareRatio,
  wilson,
  Z95
} from "./intervals.ts"
export { logShareWager, Wager } from "./martingale.ts"
export { type Component, type FamilyTest, type MaxT, maxT, type RunTest, smallestP } from "./permutation.ts"
export { MAX_EXACT_PLAYERS, shapley, type ShapleyValue } from "./shapley.ts"
