/** For tests only. */
export type { PostgresClock } from "./postgres/test-clock.ts"
export { replacePostgresClock } from "./postgres/test-clock.ts"
