/** Public API of `@flyball/statistics`. Everything not listed may change tomorrow. */
export { choose, decimalOf, fisherTest, isAtMost, MAX_TRIALS, type Probability, signTest } from "./exact.ts"
export {
  type Cluster,
  clusteredShare,
  type ClusteredShare,
  type Interval,
  passPower,
  wilson,
  Z95
} from "./intervals.ts"
