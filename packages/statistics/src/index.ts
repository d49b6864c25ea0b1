/** Public API of `@flyball/statistics`. Everything not listed may change tomorrow. */
export { jensenShannon, stabilityIndex } from "./distances.ts"
export { choose, decimalOf, fisherTest, isAtMost, MAX_TRIALS, type Probability, signTest } from "./exact.ts"
export { generator, type Generator32, SEED_BYTES } from "./generator.ts"
export {
  type Cluster,
  clusteredShare,
  type ClusteredShare,
  type Interval,
  passPower,
  wilson,
  Z95
} from "./intervals.ts"
export { Wager } from "./martingale.ts"
export { type Component, type FamilyTest, type MaxT, maxT, type RunTest, smallestP } from "./permutation.ts"
